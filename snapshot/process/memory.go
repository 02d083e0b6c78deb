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

// Memory reads the present memory of a live process. It implements cfi.Memory
// and may be used from several goroutines.
//
// It belongs to the program that ran when it was opened. After that program has
// exited or executed another one, every read is an error, even if its process
// ID is in use again. Reads that cross into unmapped memory are errors.
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
		if e := explainOpen(pid, err); e != nil {
			return nil, e
		}
		return nil, err
	}
	return &Memory{pid: pid, mem: f}, nil
}

// Close closes m; later reads are errors. The garbage collector closes a Memory that is not
// reachable.
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

// ReadBatch implements snapshot.BatchMemory: with one call of the kernel for up to
// 1024 places, where it lets this process read them so.
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
	// The process ID can be another program's, if this one is gone.
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

// batchBuffer is what a batch is read with.
type batchBuffer struct {
	copier stackCopier
	wanted []snapshot.Copy
}

var batchBuffers sync.Pool // of *batchBuffer, as batches are read often

var errNotReadable = errors.New("not mapped or not readable")
