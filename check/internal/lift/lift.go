// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package lift

import (
	"debug/elf"

	"github.com/clewdev/clew/arch"
)

// Machine decodes the instructions of a machine into operations. Its methods may be called
// concurrently.
type Machine interface {
	ABI() *ABI
	// Decode sets i to the instruction that code starts with, and appends its operations to
	// ops. The caller sets the fields of i to zero, except Right to NoRegister. Decode returns
	// false if code does not start with an instruction that it knows.
	Decode(code []byte, pc uint64, i *Instruction, ops []Operation) ([]Operation, bool)
	// Memory returns what the instruction that code starts with does with its operand in memory.
	Memory(code []byte, pc uint64) Memory
	// Calls calls fn for everything in code that may be a direct call.
	Calls(code []byte, pc uint64, fn func(pc, target uint64))
}

// machines has a row for each machine whose code can be analysed.
var machines = []struct {
	elf     elf.Machine
	class   elf.Class
	data    elf.Data
	machine Machine
}{
	{elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB, amd64{}},
	{elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB, arm64{}},
}

// Of returns the machine, or nil if its code cannot be analysed.
func Of(m *arch.Machine) Machine {
	for i := range machines {
		if r := &machines[i]; m != nil && m.ELF == r.elf && m.Class == r.class {
			return r.machine
		}
	}
	return nil
}

// Names returns the names of the machines whose code can be analysed.
func Names() []string {
	var names []string
	for i := range machines {
		r := &machines[i]
		names = append(names, arch.Lookup(r.elf, r.class, r.data).Name)
	}
	return names
}

const (
	// MaxRegisters bounds the registers of a machine. The last one is a scratch register
	// that instructions of several operations use.
	MaxRegisters = 44
	Scratch      = MaxRegisters - 1
	NoRegister   = 0xff
)

// ABI holds the calling convention of a machine. Registers have numbers below MaxRegisters,
// and sets of registers are sets of bits. A number is the DWARF column of the register, except
// for vector registers.
type ABI struct {
	Registers     int // count
	SP, FP        int
	ReturnAddress int   // column
	Link          uint8 // register with the return address at the entry; NoRegister if it is on the stack
	Preserved     []uint8
	PreservedSet  uint64
	Clobbered     uint64 // by a call: set of registers
	CFAOffset     int64  // of the CFA from the stack pointer at the entry
	RedZone       int64  // bytes below the stack pointer that signal handlers leave alone
	MinSize       int    // bytes of an instruction, which starts at a multiple of them
	MaxSize       int
	Names         []string // of registers, in directives of an assembler

	// Vectors is the DWARF column of the register with the number FirstVector. The other
	// vector registers follow. It is 0 if no register has a number other than its column.
	Vectors, FirstVector int
	SignState            int // column of the state of signed return addresses
}

// Number returns the number of the register with a DWARF column, NoRegister if it has none.
func (a *ABI) Number(column uint64) int {
	limit := a.Registers
	if a.Vectors != 0 {
		limit = a.FirstVector
		if n := column - uint64(a.Vectors); n < uint64(a.Registers-a.FirstVector) {
			return a.FirstVector + int(n)
		}
	}
	if column < uint64(limit) {
		return int(column)
	}
	return NoRegister
}

// Column returns the DWARF column of a register.
func (a *ABI) Column(number int) int {
	if a.Vectors != 0 && number >= a.FirstVector && number < a.Registers {
		return number - a.FirstVector + a.Vectors
	}
	return number
}

// Preserves reports whether called functions preserve a register.
func (a *ABI) Preserves(number int) bool { return a.PreservedSet>>number&1 != 0 }

// Kept reports whether the entry value of a register is that of a preserved register or the
// return address.
func (a *ABI) Kept(number int) bool {
	return a.Preserves(number) || number == a.ReturnAddress || number == int(a.Link)
}

// Flow is how an instruction continues.
type Flow uint8

const (
	FlowNext         Flow = iota
	FlowBranch            // to the next instruction or to the target
	FlowJump              // to the target
	FlowJumpIndirect      // to the address in a register
	FlowCall              // calls the target
	FlowCallIndirect      // calls an address that is not in the instruction
	FlowReturn            // to the address at the stack pointer, or in a register
	FlowStop              // traps
	FlowElsewhere         // to a place that the analysis does not know
)

// Instruction is a decoded instruction.
type Instruction struct {
	Target    uint64 // of FlowBranch, FlowJump and FlowCall
	Clobbered uint64 // set of registers that hold an unknown number after the operations
	Count     uint8  // of operations
	Size      uint8
	Flow      Flow
	Register  uint8 // with the target of FlowJumpIndirect, and of FlowReturn if the ABI has a link register

	// Compare says that the instruction compares a register with another one or, if Right is
	// NoRegister, with Limit.
	Compare     bool
	Left, Right uint8
	Limit       uint64
	KeepsFlags  bool
	Condition   Condition // of FlowBranch

	Padding bool // it may fill the space between functions
}

// Access is what an instruction does with a memory operand.
type Access uint8

const (
	AccessNone    Access = iota // no operand in memory
	AccessLoad                  // loads it into a register, extended to the size of that
	AccessCompare               // compares it with a constant
	AccessScale                 // none, but sets a register to an index times Scale
	AccessOther
)

// Memory is a memory operand: Size bytes at Base + Index*Scale + Offset.
type Memory struct {
	Access      Access
	Base, Index uint8 // registers or NoRegister
	Scale       uint8
	Size        uint8
	Signed      bool // AccessLoad extends by the sign
	Offset      int64
	Register    uint8  // that AccessLoad and AccessScale set
	Limit       uint64 // with which AccessCompare compares
}

// Same reports whether two operands are the same.
func (m *Memory) Same(o *Memory) bool {
	return m.Base == o.Base && m.Index == o.Index && m.Scale == o.Scale && m.Size == o.Size && m.Offset == o.Offset
}

// Condition says what a conditional branch learns from the compared values.
type Condition uint8

const (
	ConditionNone Condition = iota
	ConditionEqual
	ConditionNotEqual
	ConditionBelow        // unsigned
	ConditionBelowOrEqual // unsigned
	ConditionAbove        // unsigned
	ConditionAboveOrEqual // unsigned
)

// Operator is the kind of an operation. In the comments, to, from, index, size and offset are the
// fields of the Operation. A number is a value that is neither an address in the frame nor the entry
// value of a preserved register.
type Operator uint8

const (
	OpCopy         Operator = iota // to = from + offset
	OpConstant                     // to = offset
	OpInsert                       // to = from with 16 bits from bit size on replaced by offset
	OpLoad                         // to = 8 bytes at from + offset
	OpStore                        // size bytes at to + offset = from, or a number if from is NoRegister
	OpStoreUnsized                 // bytes at to, of unknown count = numbers
	OpSum                          // to = from + index<<size
	OpDifference                   // to = from - index
	OpIndexed                      // to = from + a number, the index
	OpAlign                        // to = from & offset, where offset clears low bits
	OpSelect                       // to = from or index
	OpBound                        // to = from, which is at most offset afterwards
	OpExtend                       // to = from cut to size bytes and extended
	OpTable                        // to = size bytes of the table at from + offset, indexed by index
	OpSign                         // to = from, the return address, signed with the key offset
	OpAuthenticate                 // to = from without the signature by the key offset
	OpStrip                        // to = from without a signature
	OpForget                       // to = anything, perhaps a saved register
	OpSpill                        // from is copied to a place outside of the frame: a global variable, a vector register
	OpReload                       // to = 8 bytes of such a place
)

// Keys of OpSign and OpAuthenticate.
const (
	KeyA = iota
	KeyB
)

// Operation is one effect of an instruction on registers and memory.
type Operation struct {
	Op              Operator
	To, From, Index uint8
	Size            uint8
	Signed          bool // of OpTable and OpExtend: by the sign
	Offset          int64
}

// Writes returns the register that the operation changes, if it changes one.
func (o *Operation) Writes() (register uint8, ok bool) {
	return o.To, o.Op != OpStore && o.Op != OpStoreUnsized && o.Op != OpSpill
}
