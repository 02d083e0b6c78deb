// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"fmt"

	"github.com/clewdev/clew/arch"
)

// Kind is the kind of an instruction for a program that steps through code.
type Kind uint8

const (
	Plain           Kind = iota // continues after itself
	Jump                        // continues elsewhere
	Branch                      // continues after itself or at Target: a conditional branch, loop, xbegin
	Call                        // continues elsewhere; the return address is Next
	Return                      // continues at an address on the stack or in a register
	InterruptReturn             // iret, uiret: also pops the flags
	Syscall                     // syscall, svc; on amd64 r11 then has the flags, with TF after a step
	PushFlags                   // pushf: after a step the word at rsp has TF set
	PopFlags                    // popf: the program itself can set TF
	Repeat                      // a string instruction with rep: a step is one iteration, PC stays
	Trap                        // always traps or faults: int3, int n, ud2, hlt, brk, udf
	Exclusive                   // arm64 load exclusive: a step makes the store fail
	Inhibit                     // a step also executes the next instruction: mov to ss, and those that Linux emulates (UMIP: sgdt, sidt, sldt, smsw, str)
)

// An Instruction describes one instruction for a program that steps through code.
type Instruction struct {
	Size   int // bytes
	Kind   Kind
	Next   uint64 // address after it, and the return address of a Call
	Direct bool   // Target is known: a Jump, Branch or Call with an address in its code
	Target uint64 // with Direct
}

// Decode decodes the instruction at the start of code; pc is its address. Unlike Make it reads only one
// instruction: 15 bytes are enough, or 4 on arm64. The errors are ErrMachine, ErrInvalid, and
// ErrUnsupported for a branch that AMD's and Intel's processors execute differently.
func Decode(m *arch.Machine, code []byte, pc uint64) (Instruction, error) {
	var i Instruction
	var err error
	if d := decoderOf(m); d != nil {
		i, err = d.decode(code, pc)
	} else {
		err = ErrMachine
	}
	if err != nil {
		return Instruction{}, fmt.Errorf("instruction % x at %#x: %w", code[:min(len(code), 15)], pc, err)
	}
	return i, nil
}
