// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package gdb

import (
	"errors"
	"time"

	"github.com/clewdev/clew/jit"
)

// Publisher makes generated code known to debuggers through the GDB JIT
// interface. Its zero value is ready; its fields are set before its first use.
// There is one list in a program, which all its publishers share.
type Publisher struct {
	// Gather, where it is not 0, lets Publish return at once, and registers what
	// was published within so much time together: each stop of the program by a
	// debugger costs about half a millisecond. Until then no debugger knows the
	// functions, and none stops at a breakpoint on them. Some milliseconds are
	// enough for a program that publishes function after function. Withdraw
	// never waits.
	Gather time.Duration

	// MergeAt is how many symbol files of about the same size are merged; 0
	// means DefaultMergeAt, and less than 0 that none are.
	MergeAt int

	// AllowSecond lets Publish go on where another copy of the interface is in
	// the process: see ErrSecondDescriptor.
	AllowSecond bool

	store
}

// Default is the publisher that jit.Publish uses where this package is imported.
var Default = new(Publisher)

func init() { jit.Register(jit.StageGDB, "gdb", Default) }

// ErrSecondDescriptor says that the process holds another copy of the
// interface's descriptor: a library that has a JIT of its own, as LLVM's, or
// this package once more in a plugin. gdb 13 reads the lists of all objects; but
// of two in one object it reads one, and lldb 14 reads that of the first object
// that it finds, so that one of the two publishes to nobody. The error names the
// object. Publisher.AllowSecond goes on all the same.
var ErrSecondDescriptor = errors.New("another copy of the GDB JIT interface is in the process")

// DefaultMergeAt is how many symbol files of one level make one. To register one
// costs gdb 13 about half a millisecond, to unregister it nearly as much, and
// each hundred in the list a fifth of that more.
const DefaultMergeAt = 64

// ErrMemory says that the system gave no memory for symbol files.
var ErrMemory = errors.New("no memory for symbol files")

// Stats are what a publisher holds.
type Stats struct {
	Functions int // published and not withdrawn
	Files     int // symbol files, of which each has an entry in the list
	Bytes     int // of the symbol files
	Memory    int // bytes mapped for them
}

var _ jit.Publisher = (*Publisher)(nil)
