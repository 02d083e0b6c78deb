// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/snapshot"
)

// guard makes calls that another program can block for ever: to read memory that is mapped from a file
// system of its own (FUSE) waits for that program.
type guard struct {
	mu    sync.Mutex
	calls chan<- func() // of the goroutine that makes the calls, nil if there is none
	done  <-chan struct{}
	stuck map[int32]bool // the processes whose calls have not returned in time

	patience time.Duration
	timer    *time.Timer // reused by all calls
}

const (
	patience = 500 * time.Millisecond
	// maxStuck bounds the stuck goroutines, of different processes. Each keeps a thread.
	maxStuck = 32
)

var errStuck = errors.New("no answer within 500 ms (is it mapped from a file system that does not answer?)")

var errRemote = errors.New("mapped from a file system of another program or machine, which may not answer")

// do makes a call for a process, and reports whether it has returned in time. If not, it may return later,
// or never. Until it has, do makes no other calls for the process.
func (g *guard) do(pid int32, call func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stuck[pid] || len(g.stuck) >= maxStuck {
		return false
	}
	if g.calls == nil {
		calls, done := make(chan func()), make(chan struct{}, 1)
		g.calls, g.done = calls, done
		go func() {
			for call := range calls {
				call()
				done <- struct{}{}
			}
		}()
	}
	g.calls <- call
	if g.timer == nil {
		g.timer = time.NewTimer(g.patience)
	} else {
		g.timer.Reset(g.patience)
	}
	defer g.timer.Stop()
	select {
	case <-g.done:
		return true
	case <-g.timer.C:
	}
	select {
	case <-g.done: // it has returned while this program did not run
		return true
	default:
	}
	if g.stuck == nil {
		g.stuck = make(map[int32]bool)
	}
	g.stuck[pid] = true
	go func(calls chan<- func(), done <-chan struct{}) {
		<-done
		close(calls)
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.stuck, pid)
	}(g.calls, g.done)
	g.calls, g.done = nil, nil
	return false
}

// close ends the goroutine that makes the calls.
func (g *guard) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls != nil {
		close(g.calls)
		g.calls = nil
	}
}

// guardedMemory is the memory of a process, read by a guard. After a read that did not return in time
// all reads are errors.
type guardedMemory struct {
	guard   *guard
	pid     int32
	memory  cfi.Memory
	close   func() error
	remote  []snapshot.Mapping // which it does not read
	request *request           // nil after such a read
	stuck   bool
}

// request is what a guard reads. A late read writes to a request that is not used any more.
type request struct {
	memory  cfi.Memory
	buffer  []byte
	address uint64
	err     error
	batch   []snapshot.Copy // instead of buffer, if it is not empty
	run     func()
}

func (r *request) read() {
	if len(r.batch) > 0 {
		snapshot.ReadBatch(r.memory, r.batch)
		return
	}
	r.err = r.memory.ReadMemory(r.buffer, r.address)
}

// maxPart bounds the bytes that one call reads. It is a small part of those that it reads in time.
const maxPart = 1 << 16

// ReadMemory implements cfi.Memory.
func (m *guardedMemory) ReadMemory(p []byte, address uint64) error {
	if m.isRemote(address, len(p)) {
		return errRemote
	}
	for {
		n := min(len(p), maxPart)
		if err := m.read(p[:n], address); err != nil || n == len(p) {
			return err
		}
		p, address = p[n:], address+uint64(n)
	}
}

func (m *guardedMemory) isRemote(address uint64, size int) bool {
	for i := range m.remote {
		if r := &m.remote[i]; address < r.End && r.Start-min(r.Start, address) < uint64(size) {
			return true
		}
	}
	return false
}

func (m *guardedMemory) read(p []byte, address uint64) error {
	r := m.prepare(len(p))
	r.address, r.batch = address, r.batch[:0]
	if !m.do(r) {
		return errStuck
	}
	copy(p, r.buffer)
	return r.err
}

// prepare returns a request with a buffer of a size.
func (m *guardedMemory) prepare(size int) *request {
	if m.request == nil {
		m.request = &request{memory: m.memory}
		m.request.run = m.request.read
	}
	r := m.request
	if cap(r.buffer) < size {
		r.buffer = make([]byte, size)
	}
	r.buffer = r.buffer[:size]
	return r
}

// do makes a request, and reports whether it has returned in time.
func (m *guardedMemory) do(r *request) bool {
	if m.stuck || !m.guard.do(m.pid, r.run) {
		m.stuck, m.request = true, nil
		return false
	}
	return true
}

// ReadBatch implements snapshot.BatchMemory.
func (m *guardedMemory) ReadBatch(batch []snapshot.Copy) {
	size := 0
	for i := range batch {
		if m.isRemote(batch[i].Address, len(batch[i].Bytes)) {
			batch[i].Bytes = nil
		}
		size += len(batch[i].Bytes)
	}
	if size == 0 || size > maxPart {
		for i := range batch {
			if m.ReadMemory(batch[i].Bytes, batch[i].Address) != nil {
				batch[i].Bytes = nil
			}
		}
		return
	}
	r := m.prepare(size)
	r.batch = r.batch[:0]
	rest := r.buffer
	for i := range batch {
		n := len(batch[i].Bytes)
		r.batch = append(r.batch, snapshot.Copy{Address: batch[i].Address, Bytes: rest[:n:n]})
		rest = rest[n:]
	}
	done := m.do(r)
	for i := range batch {
		if !done || r.batch[i].Bytes == nil {
			batch[i].Bytes = nil
		} else {
			copy(batch[i].Bytes, r.batch[i].Bytes)
		}
	}
}

// Close implements io.Closer. If a read is stuck, the memory is closed once it has returned.
func (m *guardedMemory) Close() error {
	m.stuck = true
	return m.close()
}

// remoteMappings returns the mappings of a process from file systems of other programs (FUSE) and machines.
// A process that reads from one that does not answer cannot even be killed.
func remoteMappings(pid int, all []snapshot.Mapping) (remote []snapshot.Mapping) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, maxMountInfo))
	devices := remoteDevices(string(data))
	for _, m := range all {
		if m.Device != 0 && devices[m.Device] {
			remote = append(remote, m)
		}
	}
	return remote
}

const maxMountInfo = 4 << 20

// remoteTypes are the beginnings of their names.
var remoteTypes = []string{"fuse", "nfs", "9p", "cifs", "smb", "ceph", "afs"}

// remoteDevices returns the devices of such file systems in a list of mounts (proc_pid_mountinfo(5)).
func remoteDevices(mounts string) map[uint64]bool {
	devices := make(map[uint64]bool)
	for line := range strings.Lines(mounts) {
		mount, system, _ := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if len(fields) < 3 || system == "" || !slices.ContainsFunc(remoteTypes, func(t string) bool { return strings.HasPrefix(system, t) }) {
			continue
		}
		major, minor, _ := strings.Cut(fields[2], ":")
		a, errA := strconv.ParseUint(major, 10, 32)
		b, errB := strconv.ParseUint(minor, 10, 32)
		if errA == nil && errB == nil {
			devices[unix.Mkdev(uint32(a), uint32(b))] = true
		}
	}
	return devices
}
