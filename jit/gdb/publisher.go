// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package gdb

import (
	"errors"
	"time"

	"github.com/clewdev/clew/jit"
)

// Publisher makes generated code known to debuggers through the GDB JIT interface. The zero
// value is ready; its fields must be set before its first use. All publishers of a program
// share its one list. Its methods may be called concurrently.
type Publisher struct {
	// Gather is a delay, 0 for none. Publish then returns at once, and registers all
	// batches of that time together, since each stop of the program by a debugger costs
	// about half a millisecond. Until then no debugger knows the functions, or stops at
	// breakpoints in them. Some milliseconds are enough for a program that publishes
	// function after function. Withdraw never waits.
	Gather time.Duration

	// OnDemand is an interval, 0 for none. While no debugger is attached, Publish then only
	// keeps the Code, and looks once in that time whether one is. If so, a goroutine of the
	// package describes and registers all batches; until then they cost less than 50 ns a
	// function. A debugger that attaches sees them after it has let the program run for that
	// time. Readers that do not attach (clew stack, a core dump) see none before: Flush
	// registers them.
	//
	// The functions and lines of the Code must not change until the batch is withdrawn, and
	// Code.NameOf and Code.LinesOf run until then, on that goroutine. They must neither publish
	// nor withdraw. Withdraw waits for them. A function whose description is invalid is
	// omitted.
	OnDemand time.Duration

	// MergeAt is the number of symbol files of about the same size that are merged into
	// one; 0 stands for DefaultMergeAt, a negative number for no merging.
	MergeAt int

	// AllowSecond lets Publish continue if the process holds another copy of the interface:
	// see [ErrSecondDescriptor].
	AllowSecond bool

	store
}

// Default is the publisher that jit.Publish calls if the program imports this package.
var Default = new(Publisher)

func init() { jit.Register(jit.StageGDB, "gdb", Default) }

// ErrSecondDescriptor means that the process holds another copy of the interface's
// descriptor: in a library with a JIT, such as LLVM's, or in a plugin that
// contains this package too. The error names the object.
//
// [Publisher].AllowSecond continues nevertheless. If the other copy is in an object of its
// own, gdb 13 then reads both lists, and lldb 14 reads only the program's list. If C code in
// the program itself has the copy, gdb reads only that one. lldb reads one of them; which one
// depends on the other symbols of the program. A copy that is loaded later is found within a
// second.
var ErrSecondDescriptor = errors.New("another copy of the GDB JIT interface is in the process")

// DefaultMergeAt is the default number of symbol files of one level that are merged into one.
// In gdb 13 registering a symbol file takes about 0.4 ms, and unregistering one nearly as
// much. Both take a fifth longer for each hundred files in the list. Merging makes the list
// shorter, but gdb reads the merged functions again. The total cost is the same for 32 to 64
// files. With 32, a debugger that attaches later finds fewer files.
const DefaultMergeAt = 32

// ErrMemory means that the system refused memory for symbol files.
var ErrMemory = errors.New("no memory for symbol files")

// Stats is the size of a publisher's symbol files.
type Stats struct {
	Functions int // published and not withdrawn
	Files     int // symbol files; each has one entry in the list
	Bytes     int // of the symbol files
	Memory    int // bytes mapped for them
}

var _ jit.Listener = (*Publisher)(nil)
