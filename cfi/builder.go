// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/arch"
)

// NewCIE returns a CIE for writing, with the factors and the return address
// column of a machine and without a rule. Its fields may be set before its
// first use: where Augmentation is "", its letters follow from the others.
// Pointers to functions are stored pc-relative in four bytes.
func NewCIE(m *arch.Machine) *CIE {
	return &CIE{
		Section:   &Section{Name: "CIE", Machine: m},
		CodeAlign: m.CodeAlign, DataAlign: m.DataAlign, ReturnAddress: uint64(m.ReturnAddress),
		PointerEncoding: EncPCRel | EncSdata4, LSDAEncoding: EncOmit, PersonalityEnc: EncOmit,
	}
}

// EntryCIE returns a CIE for writing with the rules that hold at the first
// instruction of a function (the psABIs' state at a call): on amd64 the CFA is
// rsp+8 and the return address saved at CFA-8, on arm64 the CFA is sp. It panics
// for a machine whose stack pointer Clew does not know.
func EntryCIE(m *arch.Machine) *CIE {
	b := NewBuilder(NewCIE(m))
	if pushes(m) {
		b.DefCFA(uint64(m.StackPointer), int64(m.RegisterSize))
		b.Offset(uint64(m.ReturnAddress), -int64(m.RegisterSize))
	} else {
		b.DefCFA(uint64(m.StackPointer), m.CFAOffset)
	}
	cie, err := b.CIE()
	if m.StackPointer < 0 || err != nil {
		panic(fmt.Sprintf("cfi: EntryCIE(%s): the state at a call is not known", m.Name))
	}
	return cie
}

// pushes reports whether the machine's call instruction pushes the return address.
func pushes(m *arch.Machine) bool {
	switch m.ELF {
	case elf.EM_386, elf.EM_486 /* EM_IAMCU */, elf.EM_X86_64, elf.EM_L10M, elf.EM_K10M, elf.EM_68K:
		return true
	}
	return false
}

// Builder builds the unwind table of a function in the terms of the assembler's
// .cfi directives: At names an instruction, and what follows holds from it on.
// Offsets are in bytes, not factored, and relative to the CFA. Each method
// returns the Builder, and the first error is kept until Program or CIE returns
// it. A Builder is not safe for concurrent use.
type Builder struct {
	cie      *CIE
	w        writer
	encoder  Encoder
	at       uint64 // of the instructions that follow, bytes of code
	location uint64 // that the advances written so far lead to
	cfa      builtCFA
	states   []builtCFA // remembered
}

// builtCFA is what the builder knows of the CFA's rule.
type builtCFA struct {
	kind     RuleKind // Unspecified, Register or ValExpression
	register uint64
	offset   int64
}

// NewBuilder returns a Builder of functions whose FDEs point to a CIE, or, with
// CIE, of another that has rules on top.
func NewBuilder(cie *CIE) *Builder {
	m := cie.Section.Machine
	b := &Builder{cie: cie, encoder: Encoder{Machine: m, called: "unwind table"}}
	b.w = writer{Encoder: &b.encoder, width: m.AddressSize, big: m.Order == binary.BigEndian}
	var ins Instruction
	d := cie.Decode()
	for d.Next(&ins) {
		b.track(&ins)
	}
	return b
}

// At says that what follows holds from the instruction at an offset on, in bytes
// from the function's start. Offsets only grow.
func (b *Builder) At(offset uint64) *Builder {
	switch {
	case offset < b.at:
		b.fail("At(%#x) after At(%#x)", offset, b.at)
	case b.cie.CodeAlign == 0 || offset%b.cie.CodeAlign != 0:
		b.fail("At(%#x) is no multiple of the code alignment factor %d", offset, b.cie.CodeAlign)
	default:
		b.at = offset
	}
	return b
}

// DefCFA says that the CFA is a register's value plus an offset.
func (b *Builder) DefCFA(register uint64, offset int64) *Builder {
	if offset >= 0 {
		return b.emit(Instruction{Op: CFADefCFA, Register: register, Operand: offset})
	}
	return b.emit(Instruction{Op: CFADefCFASF, Register: register, Operand: b.factored("DefCFA", offset)})
}

// DefCFARegister says that the CFA is the same offset from another register.
func (b *Builder) DefCFARegister(register uint64) *Builder {
	b.needCFA("DefCFARegister")
	return b.emit(Instruction{Op: CFADefCFARegister, Register: register})
}

// DefCFAOffset says that the CFA is another offset from the same register.
func (b *Builder) DefCFAOffset(offset int64) *Builder {
	b.needCFA("DefCFAOffset")
	if offset >= 0 {
		return b.emit(Instruction{Op: CFADefCFAOffset, Operand: offset})
	}
	return b.emit(Instruction{Op: CFADefCFAOffsetSF, Operand: b.factored("DefCFAOffset", offset)})
}

// AdjustCFAOffset says that the CFA is delta bytes further from the same
// register: what a push adds, a pop takes away.
func (b *Builder) AdjustCFAOffset(delta int64) *Builder {
	return b.DefCFAOffset(b.cfa.offset + delta)
}

// DefCFAExpression says that the CFA is what a DWARF expression yields.
func (b *Builder) DefCFAExpression(expression []byte) *Builder {
	return b.emit(Instruction{Op: CFADefCFAExpression, Expression: expression})
}

// Offset says that a register is saved at CFA+offset.
func (b *Builder) Offset(register uint64, offset int64) *Builder {
	n := b.factored("Offset", offset)
	switch {
	case n < 0:
		return b.emit(Instruction{Op: CFAOffsetExtendedSF, Register: register, Operand: n})
	case register > 0x3f:
		return b.emit(Instruction{Op: CFAOffsetExtended, Register: register, Operand: n})
	}
	return b.emit(Instruction{Op: CFAOffset, Register: register, Operand: n})
}

// ValOffset says that a register's value is CFA+offset.
func (b *Builder) ValOffset(register uint64, offset int64) *Builder {
	n := b.factored("ValOffset", offset)
	if n < 0 {
		return b.emit(Instruction{Op: CFAValOffsetSF, Register: register, Operand: n})
	}
	return b.emit(Instruction{Op: CFAValOffset, Register: register, Operand: n})
}

// Register says that a register's value is in another register.
func (b *Builder) Register(register, in uint64) *Builder {
	return b.emit(Instruction{Op: CFARegister, Register: register, Register2: in})
}

// Expression says that a register is saved at the address that a DWARF
// expression yields, which starts with the CFA on the stack.
func (b *Builder) Expression(register uint64, expression []byte) *Builder {
	return b.emit(Instruction{Op: CFAExpression, Register: register, Expression: expression})
}

// ValExpression says that a register's value is what a DWARF expression yields,
// which starts with the CFA on the stack.
func (b *Builder) ValExpression(register uint64, expression []byte) *Builder {
	return b.emit(Instruction{Op: CFAValExpression, Register: register, Expression: expression})
}

// Restore says that a register has again the rule that the CIE gives it.
func (b *Builder) Restore(register uint64) *Builder {
	if register > 0x3f {
		return b.emit(Instruction{Op: CFARestoreExtended, Register: register})
	}
	return b.emit(Instruction{Op: CFARestore, Register: register})
}

// Undefined says that a register's value is lost; of the return address: that
// no frame called this one.
func (b *Builder) Undefined(register uint64) *Builder {
	return b.emit(Instruction{Op: CFAUndefined, Register: register})
}

// SameValue says that a register has the value that it had in the caller.
func (b *Builder) SameValue(register uint64) *Builder {
	return b.emit(Instruction{Op: CFASameValue, Register: register})
}

// RememberState remembers all rules, the CFA's too, for RestoreState.
func (b *Builder) RememberState() *Builder { return b.emit(Instruction{Op: CFARememberState}) }

// RestoreState brings back the rules that were remembered last.
func (b *Builder) RestoreState() *Builder {
	if len(b.states) == 0 {
		b.fail("RestoreState without a RememberState")
	}
	return b.emit(Instruction{Op: CFARestoreState})
}

// NegateRAState says that the return address is signed from here on, or, where
// it was signed, that it no longer is (AArch64, PACIASP and AUTIASP).
func (b *Builder) NegateRAState() *Builder {
	if b.w.Machine.ELF != elf.EM_AARCH64 {
		b.fail("NegateRAState on %s", b.w.Machine.Name)
	}
	return b.emit(Instruction{Op: CFAAArch64NegateRAState})
}

// WindowSave says that the register window was saved (SPARC).
func (b *Builder) WindowSave() *Builder {
	if e := b.w.Machine.ELF; e != elf.EM_SPARC && e != elf.EM_SPARC32PLUS && e != elf.EM_SPARCV9 {
		b.fail("WindowSave on %s", b.w.Machine.Name)
	}
	return b.emit(Instruction{Op: CFAGNUWindowSave})
}

// ArgumentsSize says that n bytes of arguments are pushed.
func (b *Builder) ArgumentsSize(n uint64) *Builder {
	return b.emit(Instruction{Op: CFAGNUArgsSize, Operand: int64(n)})
}

// Instruction appends an instruction whose operands are as they are stored,
// factored. It takes all but DW_CFA_set_loc, which depends on where the function
// lies, and the advances, which At writes.
func (b *Builder) Instruction(ins Instruction) *Builder {
	switch ins.Op {
	case CFASetLoc, CFAAdvanceLoc, CFAAdvanceLoc1, CFAAdvanceLoc2, CFAAdvanceLoc4, CFAMIPSAdvanceLoc8:
		b.fail("Instruction(%s), expected At", ins.Op.Name(b.w.Machine))
		return b
	}
	return b.emit(ins)
}

// Program returns the table.
func (b *Builder) Program() (*Program, error) {
	if b.w.err != nil {
		return nil, b.w.err
	}
	return &Program{CIE: b.cie, Instructions: b.w.Data[:len(b.w.Data):len(b.w.Data)], End: b.location}, nil
}

// CIE returns a CIE like the builder's, with the rules on top of its own: the
// steady state of functions that have no others. At was not called.
func (b *Builder) CIE() (*CIE, error) {
	if b.at != 0 {
		b.fail("At(%#x) in a CIE", b.at)
	}
	if b.w.err != nil {
		return nil, b.w.err
	}
	from := b.cie.Section
	cie := *b.cie
	cie.Instructions = append(cie.Instructions[:len(cie.Instructions):len(cie.Instructions)], b.w.Data...)
	cie.InstructionsOffset = 0
	cie.Section = &Section{Name: from.Name, Kind: from.Kind, Machine: from.Machine, Data: cie.Instructions}
	return &cie, nil
}

func (b *Builder) fail(format string, args ...any) {
	if b.w.err == nil {
		b.w.err = fmt.Errorf("unwind table: +%#x: %w: %s", b.at, ErrRange, fmt.Sprintf(format, args...))
	}
}

// factored returns an offset divided by the data alignment factor.
func (b *Builder) factored(of string, offset int64) int64 {
	f := b.cie.DataAlign
	if f == 0 || offset%f != 0 {
		b.fail("%s(%d) is no multiple of the data alignment factor %d", of, offset, f)
		return 0
	}
	return offset / f
}

func (b *Builder) needCFA(of string) {
	if b.cfa.kind != Register {
		b.fail("%s where the CFA is not a register's value plus an offset", of)
	}
}

// emit appends an instruction, and an advance before it where the code went on.
func (b *Builder) emit(ins Instruction) *Builder {
	if b.w.err != nil {
		return b
	}
	if delta := (b.at - b.location) / max(b.cie.CodeAlign, 1); delta > 0 {
		b.advance(delta)
		b.location = b.at
	}
	b.w.instruction(EncAbsptr, 0, &ins)
	b.track(&ins)
	return b
}

// advance appends the shortest instruction that advances by a factored delta.
func (b *Builder) advance(delta uint64) {
	op := CFAMIPSAdvanceLoc8
	switch {
	case delta <= 0x3f:
		op = CFAAdvanceLoc
	case delta <= 0xff:
		op = CFAAdvanceLoc1
	case delta <= 0xffff:
		op = CFAAdvanceLoc2
	case delta <= 0xffffffff:
		op = CFAAdvanceLoc4
	case b.w.Machine.ELF != elf.EM_MIPS:
		b.fail("an advance of %#x bytes from +%#x", b.at-b.location, b.location)
		return
	}
	b.w.instruction(EncAbsptr, 0, &Instruction{Op: op, Operand: int64(delta)})
}

// track keeps the CFA's rule, for what is relative to it.
func (b *Builder) track(ins *Instruction) {
	switch ins.Op {
	case CFADefCFA:
		b.cfa = builtCFA{Register, ins.Register, ins.Operand}
	case CFADefCFASF:
		b.cfa = builtCFA{Register, ins.Register, ins.Operand * b.cie.DataAlign}
	case CFADefCFARegister:
		b.cfa.kind, b.cfa.register = Register, ins.Register
	case CFADefCFAOffset:
		b.cfa.offset = ins.Operand
	case CFADefCFAOffsetSF:
		b.cfa.offset = ins.Operand * b.cie.DataAlign
	case CFADefCFAExpression:
		b.cfa.kind = ValExpression
	case CFARememberState:
		b.states = append(b.states, b.cfa)
	case CFARestoreState:
		if n := len(b.states); n > 0 {
			b.cfa, b.states = b.states[n-1], b.states[:n-1]
		}
	}
}
