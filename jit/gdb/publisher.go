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
// interface's descriptor: of a library that has a JIT of its own, as LLVM's, or
// of this package once more in a plugin. The error names the object.
//
// Publisher.AllowSecond goes on all the same. Debuggers then see: where the
// other copy is in an object of its own, gdb 13 both lists, lldb 14 that of the
// program and not the library's; where C code in the program itself has it, gdb
// only that one, and lldb one of them: which, changes with any other symbol. A copy
// that comes later is found within a second.
var ErrSecondDescriptor = errors.New("another copy of the GDB JIT interface is in the process")

// DefaultMergeAt is how many symbol files of one level make one. To register one
// costs gdb 13 about 0.4 ms, to unregister it nearly as much, each hundred in the
// list a fifth of that more, and what is merged is read again: from 32 to 64 all
// that comes to the same, and a debugger that attaches later finds fewer with 32.
const DefaultMergeAt = 32

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
