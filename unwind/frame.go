// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import "fmt"

// Method is how a frame was found.
type Method uint8

const (
	// FromRegisters: the innermost frame, described by the thread's registers.
	FromRegisters Method = iota
	// FromCFI: by the rules of call frame information, or of another table of its
	// compiler: Go's function table, Arm's exception table.
	FromCFI
	// FromFramePointer: by the chain of frame pointers, because no call frame
	// information covers its callee's frame.
	FromFramePointer
	// FromSignal: by the context that the kernel saved, because no call frame
	// information covers the signal trampoline.
	FromSignal
	// FromCall: by the return address of a call to an address without code.
	FromCall
	// FromReturnAddress: by the word at the stack pointer or in the link register,
	// because the interrupted frame has no unwind information. The word is the address
	// after a call.
	FromReturnAddress
	// FromBackChain: by the back chain, because no call frame information covers the frame.
	// The ABI of PowerPC puts it at the stack pointer. In the ABI of s390 it is optional.
	FromBackChain
	// FromCode: by the instructions of its callee, because no call frame information
	// covers the callee's frame. They determine where the return address is, which is the
	// address after a call. See Module.Analyze.
	FromCode
)

var methodNames = [...]string{
	FromRegisters: "registers", FromCFI: "CFI", FromFramePointer: "frame pointer", FromSignal: "signal context", FromCall: "bad call",
	FromReturnAddress: "return address", FromBackChain: "back chain", FromCode: "code",
}

// String names the method in one or two words.
func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// Frame is one frame of a stack.
type Frame struct {
	// Registers are the known registers of this frame. For a caller's frame they are
	// the values after its call returns.
	Registers *Registers

	// PC is the address at which the frame continues. LookupPC is the address to look
	// the frame up by. It is PC itself in an interrupted frame. In a frame that waits
	// for a call to return it is the byte before PC, because the call can be the last
	// instruction of its function. Both are run-time addresses.
	PC, LookupPC uint64

	Module *Module // that contains LookupPC; nil for none
	Method Method  // how the frame was found

	// Gap reports that frames may be missing between this one and the previous, inner one.
	// Either this frame's call instruction calls another function than the inner frame's, or
	// the inner frame's function keeps no frame pointer although this frame was found by
	// one.
	Gap bool

	// Interrupted reports that the frame did not call the previous, inner one: it is
	// the innermost, or a signal interrupted it.
	Interrupted bool
	// Trampoline reports that the frame is a signal trampoline: the frame after it was
	// interrupted.
	Trampoline bool
}

// Reason is why a walk ended, or why a recorded stack ends.
type Reason uint8

const (
	// EndOfStack: the outermost frame was reached.
	EndOfStack Reason = iota
	// NoRule: no unwind information for the last frame.
	NoRule
	// UnreadableMemory: memory that the rules refer to cannot be read.
	UnreadableMemory
	// NoProgress: the rules lead back to an earlier frame.
	NoProgress
	// TooManyFrames: the walk was cut at Walker.MaxFrames, or because the frames' rules took
	// more work than the rules of any real stack.
	TooManyFrames

	// The other reasons are of recorded stacks. No Walker gives them.

	// CallChain: the recorded call chain ends, which may not be the whole stack.
	CallChain
	// StackCut: the recorded copy of the stack is too short.
	StackCut
	// NoStack: no copy of the stack was recorded, or only an address.
	NoStack
	// CallersMissing: the outermost frame was reached, but a frame has a Gap.
	CallersMissing
)

var reasonNames = [...]string{
	EndOfStack: "end of stack", NoRule: "no rule", UnreadableMemory: "unreadable memory", NoProgress: "no progress",
	TooManyFrames: "too many frames", CallChain: "call chain", StackCut: "stack copy cut", NoStack: "no stack",
	CallersMissing: "callers may be missing",
}

// String returns the reason in words.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("Reason(%d)", uint8(r))
}
