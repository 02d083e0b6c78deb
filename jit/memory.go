// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"errors"
	"fmt"
	"math"
	"os"
	"unsafe"
)

// ErrMemory means that the system provides no memory for generated code. The error that
// wraps it names the step that was refused, and what may have refused it.
var ErrMemory = errors.New("no executable memory")

// Memory is memory for generated code, between two inaccessible pages. It is either writable
// or executable, never both: it starts writable, Seal makes it executable, and Unseal makes it
// writable again. It is private memory without a file, and is not part of Go's heap. Tools
// that find generated code by its address (perf maps) expect that.
//
// Any number of threads may run the code. The methods must not be called concurrently.
type Memory struct {
	mapping []byte // with the guard pages
	bytes   []byte // without them
	sealed  bool
}

// NewMemory returns memory of at least size bytes, rounded up to pages. All of it is 0 and
// writable. Errors wrap ErrMemory.
func NewMemory(size int) (*Memory, error) {
	page := os.Getpagesize()
	if size <= 0 || size > math.MaxInt-3*page {
		return nil, fmt.Errorf("%w: a size of %d bytes", ErrMemory, size)
	}
	size = (size + page - 1) / page * page
	// The guard pages belong to the same mapping, so that no other mapping can lie between
	// them and the code.
	mapping, err := reserve(size + 2*page)
	if err != nil {
		return nil, err
	}
	m := &Memory{mapping: mapping, bytes: mapping[page : page+size : page+size]}
	if err := protect(m.bytes, false); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Bytes returns the memory. Writing to it while it is sealed, or reading it after Close, is a
// fault that ends the program.
func (m *Memory) Bytes() []byte { return m.bytes }

// Address returns the address of the first byte, or 0 after Close.
func (m *Memory) Address() uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.bytes)))) }

// Sealed reports whether the memory is executable, and not writable.
func (m *Memory) Sealed() bool { return m.sealed }

// Seal makes the memory executable and no longer writable, and makes its content visible to
// the instruction fetch of every processor. After an error, which wraps [ErrMemory], nothing
// has changed.
func (m *Memory) Seal() error {
	if m.sealed {
		return nil
	}
	if m.bytes == nil {
		return fmt.Errorf("%w: it was closed", ErrMemory)
	}
	if err := protect(m.bytes, true); err != nil {
		return err
	}
	synchronizeCode(m.bytes)
	m.sealed = true
	return nil
}

// Unseal makes the memory writable and no longer executable. No thread may be running its
// code, or return to it. After an error, which wraps [ErrMemory], nothing has changed.
func (m *Memory) Unseal() error {
	if !m.sealed {
		return nil
	}
	if err := protect(m.bytes, false); err != nil {
		return err
	}
	m.sealed = false
	return nil
}

// Close unmaps the memory. No thread may be running its code, or return to it, and the code
// must not be published. A second Close does nothing.
func (m *Memory) Close() error {
	if m.mapping == nil {
		return nil
	}
	if err := unmap(m.mapping); err != nil {
		return fmt.Errorf("munmap of memory for code: %w", err)
	}
	*m = Memory{}
	return nil
}

// Synchronize makes the content of memory that is executable, or will be, visible to the
// instruction fetch of every processor. It is for loaders, and for debuggers that patch
// code. [Memory.Seal] calls it.
func Synchronize(code []byte) {
	if len(code) > 0 {
		synchronizeCode(code)
	}
}
