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
	timer := time.NewTimer(g.patience)
	defer timer.Stop()
	select {
	case <-g.done:
		return true
	case <-timer.C:
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
	guard  *guard
	pid    int32
	memory cfi.Memory
	close  func() error
	remote []snapshot.Mapping // which it does not read
	buffer []byte             // nil after such a read
	stuck  bool
}

// maxPart bounds the bytes that one call reads. It is a small part of those that it reads in time.
const maxPart = 1 << 16

// ReadMemory implements cfi.Memory.
func (m *guardedMemory) ReadMemory(p []byte, address uint64) error {
	for i := range m.remote {
		if r := &m.remote[i]; address < r.End && r.Start-min(r.Start, address) < uint64(len(p)) {
			return errRemote
		}
	}
	for {
		n := min(len(p), maxPart)
		if err := m.read(p[:n], address); err != nil || n == len(p) {
			return err
		}
		p, address = p[n:], address+uint64(n)
	}
}

func (m *guardedMemory) read(p []byte, address uint64) error {
	if m.stuck {
		return errStuck
	}
	if len(m.buffer) < len(p) {
		m.buffer = make([]byte, len(p))
	}
	buffer := m.buffer[:len(p)] // a late read must not write to p
	var result error
	if !m.guard.do(m.pid, func() { result = m.memory.ReadMemory(buffer, address) }) {
		m.stuck, m.buffer = true, nil
		return errStuck
	}
	copy(p, buffer)
	return result
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
