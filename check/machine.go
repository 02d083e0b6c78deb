// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"debug/elf"

	"github.com/clewdev/clew/arch"
)

// machine decodes the instructions of a machine into operations that the analysis executes.
type machine interface {
	abi() *abi
	// decode sets i, except for its place, to the instruction that code starts with, and
	// appends its operations to ops. It returns false if code does not start with an
	// instruction that it knows.
	decode(code []byte, pc uint64, i *instruction, ops []operation) ([]operation, bool)
	// calls calls fn for everything in code that may be a direct call.
	calls(code []byte, pc uint64, fn func(pc, target uint64))
}

// machineOf returns the machine, or nil if the analysis does not know it.
func machineOf(m *arch.Machine) machine {
	if m != nil && m.ELF == elf.EM_X86_64 && m.Class == elf.ELFCLASS64 {
		return amd64{}
	}
	return nil
}

// abi holds the calling convention of a machine. Registers are numbered by DWARF columns.
type abi struct {
	registers     int // count; columns from here on are not followed
	sp, fp        int
	returnAddress int // column
	link          int // register with the return address at the entry; noRegister if it is on the stack
	preserved     []uint8
	preservedSet  uint64
	clobbered     uint64 // by a call: the set of columns
	cfaOffset     int64  // of the CFA from the stack pointer at the entry
	redZone       int64  // bytes below the stack pointer that signal handlers leave alone
	maxSize       int    // bytes of an instruction
	columns       []string
}

// preserves reports whether called functions preserve a register.
func (m *abi) preserves(column int) bool { return m.preservedSet>>column&1 != 0 }

// kept reports whether the entry value of a column is that of a preserved register or the
// return address.
func (m *abi) kept(column int) bool {
	return m.preserves(column) || column == m.returnAddress || column == int(m.link)
}

// flow is how an instruction continues.
type flow uint8

const (
	flowNext         flow = iota
	flowBranch            // to the next instruction or to the target
	flowJump              // to the target
	flowJumpIndirect      // to the address in a register
	flowCall              // calls the target
	flowCallIndirect      // calls an address that is not in the instruction
	flowReturn            // to the address at the stack pointer, or in the link register
	flowStop              // traps
	flowElsewhere         // to a place that the analysis does not know
)

// instruction is a decoded instruction.
type instruction struct {
	pc        uint64
	target    uint64 // of flowBranch, flowJump and flowCall
	clobbered uint64 // set of columns that get an unknown number after the operations
	writes    uint64 // set of columns that it may change
	first     int32  // of its operations, in unit.operations
	state     int32  // index of the state before it in unit.states, or -1
	row       int32  // index in the rows of its part
	count     uint8  // of operations
	size      uint8
	part      uint8
	flow      flow
	register  uint8 // with the target of flowJumpIndirect

	// compare says that the instruction compares a register with another one or, if second is
	// noRegister, with limit.
	compare     bool
	left, right uint8
	limit       uint64
	keepsFlags  bool
	condition   condition // of flowBranch

	padding bool // it may fill the space between functions
	reached bool
	verdict Verdict
	reason  Reason
}

// condition says what a conditional branch learns from the compared values.
type condition uint8

const (
	conditionNone condition = iota
	conditionEqual
	conditionNotEqual
	conditionBelow        // unsigned
	conditionBelowOrEqual // unsigned
	conditionAbove        // unsigned
	conditionAboveOrEqual // unsigned
)

// operator is the kind of an operation.
type operator uint8

const (
	opCopy       operator = iota // to = from + offset
	opConstant                   // to = offset
	opLoad                       // to = 8 bytes at from + offset
	opStore                      // size bytes at to + offset = from; noRegister stands for a number
	opSum                        // to = from + index
	opDifference                 // to = from - index
	opIndexed                    // to = an address with an index of from: from + unknown number
	opAlign                      // to = from & offset, where offset clears low bits
	opSelect                     // to = to or from
	opBound                      // to = from, which is at most offset afterwards
	opKeep                       // to = from cut to 32 bits and extended
	opTable4                     // to = 4 bytes, extended, of the table at from + offset, indexed by index
	opTable8                     // to = 8 bytes of the table at from + offset, indexed by index
	opSign                       // the return address is signed (offset 1) or no longer (offset 0)
)

// operation is one effect of an instruction. Registers are columns.
type operation struct {
	op              operator
	to, from, index uint8
	size            uint8
	offset          int64
}
