// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
)

// Memory reads the current memory of a live process. It implements cfi.Memory, and several
// goroutines may use it.
//
// It belongs to the program that ran when it was opened. After that program has
// exited or executed another one, every read is an error, even if another process reuses
// the ID. Reads that cross into unmapped memory are errors.
type Memory struct {
	pid int
	// mem is /proc/PID/mem: the kernel ties the open file to the address
	// space. It closes itself when the Memory is collected.
	mem *os.File
}

// OpenMemory opens the memory of process pid for reading.
func OpenMemory(pid int) (*Memory, error) {
	f, err := os.Open("/proc/" + strconv.Itoa(addressSpace(pid)) + "/mem")
	if err != nil {
		return nil, explainOpen(pid, err)
	}
	return &Memory{pid: pid, mem: f}, nil
}

// Close closes m; later reads are errors. The garbage collector closes an unreachable Memory.
func (m *Memory) Close() error { return m.mem.Close() }

// ReadMemory implements cfi.Memory.
func (m *Memory) ReadMemory(p []byte, addr uint64) error {
	n, err := m.mem.ReadAt(p, int64(addr))
	if n == len(p) {
		return nil
	}
	at := addr + uint64(n)
	switch {
	case err == io.EOF:
		// access_remote_vm gives nothing once the address space has no users.
		err = fmt.Errorf("process %d has exited or executed another program", m.pid)
	case errors.Is(err, unix.EIO):
		err = errNotReadable
	}
	return fmt.Errorf("memory %#x of process %d: %w", at, m.pid, err)
}

// ReadBatch implements snapshot.BatchMemory. One system call reads up to 1024 places, if the
// kernel permits process_vm_readv(2).
func (m *Memory) ReadBatch(batch []snapshot.Copy) {
	if len(batch) == 0 {
		return
	}
	buffers, _ := batchBuffers.Get().(*batchBuffer)
	if buffers == nil {
		buffers = new(batchBuffer)
		buffers.copier.prepareLists(iovMax)
	}
	defer batchBuffers.Put(buffers)
	buffers.wanted = append(buffers.wanted[:0], batch...)
	wanted := buffers.wanted
	defer clear(wanted)
	buffers.copier.readRound(m.pid, batch)
	// If the program is gone, another one can have the process ID.
	var b [1]byte
	_, err := m.mem.ReadAt(b[:], int64(batch[0].Address))
	gone := err == io.EOF
	for i := range batch {
		switch c := wanted[i]; {
		case gone:
			batch[i].Bytes = nil
		case batch[i].Bytes == nil && m.ReadMemory(c.Bytes, c.Address) == nil:
			batch[i] = c
		}
	}
}

type batchBuffer struct {
	copier stackCopier
	wanted []snapshot.Copy
}

var batchBuffers sync.Pool // of *batchBuffer

var errNotReadable = errors.New("not mapped or not readable")

// Mappings returns the mappings of process pid, by ascending address. The kernel
// returns the list in pieces, so the list is not exact if the process maps and
// unmaps at the same time. With an error it returns the mappings that were read.
func Mappings(pid int) ([]snapshot.Mapping, error) {
	f, err := openMaps(pid)
	if err != nil {
		return nil, explainOpen(pid, err)
	}
	defer f.Close()
	mappings, err := snapshot.ParseMappings(f)
	if err != nil {
		return mappings, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return mappings, nil
}

func openMaps(pid int) (*os.File, error) {
	return os.Open("/proc/" + strconv.Itoa(addressSpace(pid)) + "/maps")
}
