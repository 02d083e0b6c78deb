// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"fmt"

	"github.com/clewdev/clew/arch"
)

// Kind is what an instruction means to somebody who steps through code.
type Kind uint8

const (
	Plain           Kind = iota // goes on after itself
	Jump                        // goes elsewhere
	Branch                      // goes on after itself or to Target: a conditional branch, loop, xbegin
	Call                        // goes elsewhere; the return address is Next
	Return                      // goes where the stack or a register says
	InterruptReturn             // iret, uiret: pops the flags too
	Syscall                     // syscall, svc; on amd64 it leaves the flags in r11, with TF where it was stepped
	PushFlags                   // pushf: the word at rsp then has TF set where it was stepped
	PopFlags                    // popf: TF can be set afterwards by the program's own will
	Repeat                      // a string instruction with rep: a step is one iteration, PC stays
	Trap                        // traps or faults always: int3, int n, ud2, hlt, brk, udf
	Exclusive                   // arm64 load exclusive: stepping it makes the store fail
	Inhibit                     // no trap comes behind it, a step is two instructions: mov to ss, and those that Linux executes for a program (UMIP: sgdt, sidt, sldt, smsw, str)
)

// An Instruction is what a stepper needs to know of one instruction.
type Instruction struct {
	Size   int // bytes
	Kind   Kind
	Next   uint64 // the address behind it, and what a Call returns to
	Direct bool   // Target is known: a Jump, Branch or Call with an address in its code
	Target uint64 // where Direct says so
}

// Decode tells what the instruction at the start of code is; pc is its address.
// Unlike Make it looks at one instruction only: 15 bytes do, or 4 on arm64. The
// errors are ErrMachine, ErrInvalid and (for a branch that AMD's and Intel's
// processors take differently, so that its size is not known) ErrUnsupported.
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
