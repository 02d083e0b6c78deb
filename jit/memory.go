// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import "errors"

// ErrMemory says that the system gives no memory for generated code. The error
// that wraps it says which step was refused, and what may have refused it.
var ErrMemory = errors.New("no executable memory")

// Memory is memory for generated code, with an inaccessible page before it and
// another after it. It is either writable or executable, never both: it starts
// writable, Seal makes it executable, and Unseal makes it writable again. It is
// private memory without a file, as tools that know generated code by its address
// (perf maps) expect, and not part of Go's heap.
//
// The code may run on any number of threads. The methods are for one goroutine
// at a time.
type Memory struct {
	mapping []byte // with the guard pages
	bytes   []byte // what lies between them
	sealed  bool
}

// NewMemory returns memory of at least size bytes, rounded up to pages. All of
// it is 0 and can be written. Errors wrap ErrMemory.
func NewMemory(size int) (*Memory, error) { return newMemory(size) }

// Bytes returns the memory. To write to it while it is sealed, or to read it
// after Close, is a fault that ends the program.
func (m *Memory) Bytes() []byte { return m.bytes }

// Address returns the address of the first byte, 0 after Close.
func (m *Memory) Address() uint64 { return address(m.bytes) }

// Sealed reports whether the code can be run, and not written.
func (m *Memory) Sealed() bool { return m.sealed }

// Seal makes the memory executable and no longer writable, and makes every
// processor see what was written to it. Errors wrap ErrMemory; the memory is
// then as it was.
func (m *Memory) Seal() error { return m.seal() }

// Unseal makes the memory writable and no longer executable. None of its code
// may be running, or be returned to. Errors wrap ErrMemory; the memory is then
// as it was.
func (m *Memory) Unseal() error { return m.unseal() }

// Close unmaps the memory. None of its code may be running, be the target of a
// return, or be published. A second Close does nothing.
func (m *Memory) Close() error { return m.close() }

// Synchronize makes every processor run what was written to memory that already
// is executable, or is about to be: of a loader, or a debugger that patches code.
// [Memory.Seal] does it itself.
func Synchronize(code []byte) { synchronize(code) }
