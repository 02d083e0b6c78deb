// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

// GoBoundary is what a function of Go's runtime means for a stack that leads to it.
type GoBoundary uint8

const (
	// NoGoBoundary: a function like any other.
	NoGoBoundary GoBoundary = iota
	// GoStackStart: the stack starts here. Where the call frame information
	// says that the return address is, there is whatever was on the stack.
	GoStackStart
	// GoStackSwitch: the function has changed stacks, which its call frame
	// information does not say: its caller is on the other one.
	GoStackSwitch
)

// GoBoundaryAt tells whether the function at addr is one where Go's runtime
// starts or changes stacks, NoGoBoundary where addr is in no Go function.
func (f *File) GoBoundaryAt(addr uint64) (b GoBoundary) {
	f.noteFault(func() {
		t, _ := f.goTable()
		if t == nil {
			return
		}
		fn, ok := t.find(addr)
		if !ok {
			return
		}
		switch string(prefix(cString(t.names, uint64(t.number(&fn, 0))), 32)) {
		// src/runtime/asm_*.s. A goroutine returns to goexit; rt0_go is the
		// program's first function; clone is what a new thread begins with;
		// what mcall calls on the scheduler's stack never returns.
		case "runtime.goexit", "runtime.rt0_go", "runtime.clone", "runtime.mcall":
			b = GoStackStart
		case "runtime.systemstack", "runtime.morestack", "runtime.asmcgocall":
			b = GoStackSwitch
		}
	})
	return b
}
