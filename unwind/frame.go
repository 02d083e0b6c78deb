// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import "fmt"

// Method is how a frame was found.
type Method uint8

const (
	// FromRegisters: the innermost frame, which the thread's registers are of.
	FromRegisters Method = iota
	// FromCFI: by the rules of call frame information, or of another table that its
	// compiler has written: Go's of functions, Arm's of exceptions.
	FromCFI
	// FromFramePointer: by the chain of frame pointers, as no call frame
	// information covers the frame that it called.
	FromFramePointer
	// FromSignal: by the context that the kernel saved, as no call frame
	// information covers the signal trampoline.
	FromSignal
	// FromCall: by the return address that a call to an address without code
	// has just left.
	FromCall
	// FromReturnAddress: by the word at the stack pointer or in the link register,
	// which follows a call, as nothing says how the interrupted frame is left.
	FromReturnAddress
	// FromBackChain: by the back chain that the ABI of PowerPC and, as an option, of
	// s390 has at the stack pointer, as no call frame information covers the frame.
	FromBackChain
	// FromCode: by the instructions of the function, as no call frame information covers
	// the frame that it called: they say how far the stack pointer is below the return
	// address, which follows a call.
	FromCode
)

// String names the method in one or two words.
func (m Method) String() string {
	switch m {
	case FromRegisters:
		return "registers"
	case FromCFI:
		return "CFI"
	case FromFramePointer:
		return "frame pointer"
	case FromSignal:
		return "signal context"
	case FromCall:
		return "bad call"
	case FromReturnAddress:
		return "return address"
	case FromBackChain:
		return "back chain"
	case FromCode:
		return "code"
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// Frame is one frame of a stack.
type Frame struct {
	// Registers are those of this frame as far as they are known, for the
	// caller's frames those that it will have when the call returns.
	Registers *Registers

	// PC is where the frame goes on. LookupPC is the address that tells where
	// it is: PC itself in a frame that was interrupted, and the byte before it
	// in one that waits for a call to return, as the call can be the last
	// instruction of its function. Both are run-time addresses.
	PC, LookupPC uint64

	Module *Module // that LookupPC lies in, nil where it lies in none
	Method Method  // how the frame was found

	// Gap says that frames may be missing between this one and the one before it: it
	// calls another function than that of the frame before, or that function keeps no
	// frame pointer although the frame was found by one.
	Gap bool

	// Interrupted says that the frame did not call the one before it: it is
	// the innermost or a signal interrupted it.
	Interrupted bool
	// Trampoline says that the frame is a signal trampoline: the frame after
	// it was interrupted.
	Trampoline bool
}

// Reason is why a walk ended.
type Reason uint8

const (
	// EndOfStack: the outermost frame was reached.
	EndOfStack Reason = iota
	// NoRule: no unwind information for the last frame.
	NoRule
	// UnreadableMemory: what the rules ask for cannot be read.
	UnreadableMemory
	// NoProgress: the rules lead back to where the walk has been.
	NoProgress
	// TooManyFrames: the walk was cut at Walker.MaxFrames, or where the frames'
	// rules took more time than those of any real stack.
	TooManyFrames
)

// String says the reason in words.
func (r Reason) String() string {
	switch r {
	case EndOfStack:
		return "end of stack"
	case NoRule:
		return "no rule"
	case UnreadableMemory:
		return "unreadable memory"
	case NoProgress:
		return "no progress"
	case TooManyFrames:
		return "too many frames"
	}
	return fmt.Sprintf("Reason(%d)", uint8(r))
}
