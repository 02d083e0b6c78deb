// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/clewdev/clew/arch"
)

// Builder builds the unwind table of a function, with methods named after the assembler's
// .cfi directives. [Builder.At] selects an instruction. Rules that are set after it apply from
// that instruction on. Offsets are in bytes, not factored, and relative to the CFA. Registers
// are DWARF columns, which [arch.Machine.Column] finds by name.
//
// Each method returns the Builder. [Builder.Program] and [Builder.CIE] return the first
// error. Tables that readers would misunderstand or reject are errors too. A Builder must not
// be used concurrently.
type Builder struct {
	cie      *CIE
	w        writer
	encoder  Encoder
	at       uint64 // of the following instructions, in bytes of code
	location uint64 // after the written advances
	cfa      builtCFA
	states   []builtCFA // remembered
	restores bool       // there is a Restore
}

// builtCFA is the builder's copy of the CFA's rule.
type builtCFA struct {
	kind     RuleKind // Unspecified, Register or ValExpression
	register uint64
	offset   int64
}

// NewBuilder returns a Builder of a table that refers to a CIE. [Builder.CIE] makes another CIE,
// which adds rules to those of the given one. The given CIE is not changed.
func NewBuilder(cie *CIE) *Builder {
	err := cie.usable()
	if err != nil {
		cie = &CIE{Section: &Section{Machine: &arch.Machine{}}}
	}
	m := cie.Section.Machine
	b := &Builder{cie: cie, encoder: Encoder{Machine: m, called: "unwind table"}}
	b.w = writer{Encoder: &b.encoder, width: m.AddressSize, big: m.Order == binary.BigEndian}
	if err != nil {
		b.w.err = fmt.Errorf("unwind table: %w", err)
		return b
	}
	var ins Instruction
	d := cie.Decode()
	for d.Next(&ins) {
		b.track(&ins)
	}
	if err := d.Err(); err != nil {
		b.w.err = fmt.Errorf("unwind table: %w", err)
	}
	b.states, b.restores = b.states[:0], false // an FDE does not inherit them
	return b
}

// At sets the instruction from which on the following rules apply, by its offset in bytes from
// the function's start. Offsets must not decrease.
func (b *Builder) At(offset uint64) *Builder {
	switch {
	case offset < b.at:
		b.fail("At(%#x) after At(%#x)", offset, b.at)
	case b.cie.CodeAlign == 0 || offset%b.cie.CodeAlign != 0:
		b.fail("At(%#x) is not a multiple of the code alignment factor %d", offset, b.cie.CodeAlign)
	default:
		b.at = offset
	}
	return b
}

// DefCFA sets the CFA to a register's value plus an offset in bytes.
func (b *Builder) DefCFA(register uint64, offset int64) *Builder {
	if offset >= 0 {
		return b.emit(Instruction{Op: CFADefCFA, Register: register, Operand: offset})
	}
	return b.emit(Instruction{Op: CFADefCFASF, Register: register, Operand: b.factored("DefCFA", offset)})
}

// DefCFARegister sets the register of the CFA, and keeps the offset.
func (b *Builder) DefCFARegister(register uint64) *Builder {
	b.needCFA("DefCFARegister")
	return b.emit(Instruction{Op: CFADefCFARegister, Register: register})
}

// DefCFAOffset sets the offset of the CFA from its register, in bytes.
func (b *Builder) DefCFAOffset(offset int64) *Builder {
	b.needCFA("DefCFAOffset")
	if offset >= 0 {
		return b.emit(Instruction{Op: CFADefCFAOffset, Operand: offset})
	}
	return b.emit(Instruction{Op: CFADefCFAOffsetSF, Operand: b.factored("DefCFAOffset", offset)})
}

// AdjustCFAOffset adds delta bytes to the offset of the CFA from its register: positive
// after a push, negative after a pop.
func (b *Builder) AdjustCFAOffset(delta int64) *Builder {
	to := b.cfa.offset + delta
	if (to < b.cfa.offset) != (delta < 0) {
		b.fail("AdjustCFAOffset(%d) of an offset of %d", delta, b.cfa.offset)
	}
	return b.DefCFAOffset(to)
}

// DefCFAExpression sets the CFA to the result of a DWARF expression.
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

// Expression says that a register is saved at the address that a DWARF expression yields.
// The evaluation starts with the CFA on the stack.
func (b *Builder) Expression(register uint64, expression []byte) *Builder {
	return b.emit(Instruction{Op: CFAExpression, Register: register, Expression: expression})
}

// ValExpression says that a register's value is the result of a DWARF expression. The
// evaluation starts with the CFA on the stack.
func (b *Builder) ValExpression(register uint64, expression []byte) *Builder {
	return b.emit(Instruction{Op: CFAValExpression, Register: register, Expression: expression})
}

// Restore sets the rule of a register back to the rule in the CIE.
func (b *Builder) Restore(register uint64) *Builder {
	if register > 0x3f {
		return b.emit(Instruction{Op: CFARestoreExtended, Register: register})
	}
	return b.emit(Instruction{Op: CFARestore, Register: register})
}

// Undefined says that a register's value is lost; for the return address, that the frame is
// the outermost.
func (b *Builder) Undefined(register uint64) *Builder {
	return b.emit(Instruction{Op: CFAUndefined, Register: register})
}

// SameValue says that a register still has the value that it has in the caller.
func (b *Builder) SameValue(register uint64) *Builder {
	return b.emit(Instruction{Op: CFASameValue, Register: register})
}

// RememberState saves all rules, including the rule of the CFA, for RestoreState.
func (b *Builder) RememberState() *Builder { return b.emit(Instruction{Op: CFARememberState}) }

// RestoreState restores the last saved rules.
func (b *Builder) RestoreState() *Builder { return b.emit(Instruction{Op: CFARestoreState}) }

// NegateRAState says that the return address becomes signed, or unsigned if it was signed
// (AArch64, PACIASP and AUTIASP).
func (b *Builder) NegateRAState() *Builder {
	if !b.w.Machine.SignsReturns {
		b.misuse("NegateRAState on %s", b.w.Machine.Name)
	}
	return b.emit(Instruction{Op: CFAAArch64NegateRAState})
}

// WindowSave says that the register window was saved (SPARC).
func (b *Builder) WindowSave() *Builder {
	if !b.w.Machine.RegisterWindows {
		b.misuse("WindowSave on %s", b.w.Machine.Name)
	}
	return b.emit(Instruction{Op: CFAGNUWindowSave})
}

// ArgumentsSize says that n bytes of arguments are pushed.
func (b *Builder) ArgumentsSize(n uint64) *Builder {
	return b.emit(Instruction{Op: CFAGNUArgsSize, Operand: int64(n)})
}

// Instruction appends an instruction with its stored, factored operands, to write the exact
// table of another program. An advance starts from the previous row, regardless of At, and sets
// At. DW_CFA_set_loc depends on the function's address and is an error.
func (b *Builder) Instruction(ins Instruction) *Builder {
	switch {
	case ins.Op == CFASetLoc:
		b.misuse("Instruction(%s), expected At", ins.Op.Name(b.w.Machine))
	case ins.Op.Effect() == EffectLocation:
		delta := uint64(ins.Operand) * b.cie.CodeAlign
		if b.location+delta < b.at || b.cie.CodeAlign != 0 && delta/b.cie.CodeAlign != uint64(ins.Operand) {
			b.fail("%s(%d) from +%#x", ins.Op.Name(b.w.Machine), ins.Operand, b.location)
			break
		}
		if b.w.err == nil {
			b.w.instruction(EncAbsptr, 0, &ins)
			b.location += delta
			b.at = b.location
		}
	default:
		b.emit(ins)
	}
	return b
}

// Program returns the table so far. The Builder may then be used for a longer table. The error
// is the error of the first failed call.
func (b *Builder) Program() (*Program, error) {
	if b.w.err != nil {
		return nil, b.w.err
	}
	instructions := b.w.Data[:len(b.w.Data):len(b.w.Data)]
	return &Program{CIE: b.cie, Instructions: instructions, End: b.location, valid: instructions}, nil
}

// CIE returns a copy of the Builder's CIE with the Builder's rules added, for functions in which
// these rules hold from start to end. All rules must be at offset 0, and none may be Restore.
// The fields of the CIE may be set before its first use.
func (b *Builder) CIE() (*CIE, error) {
	switch {
	case b.at != 0:
		b.misuse("At(%#x) in a CIE", b.at)
	case b.restores:
		b.misuse("Restore in a CIE")
	case len(b.cie.Instructions)+len(b.w.Data) > maxInitial:
		b.fail("a CIE with %d bytes of instructions, at most %d", len(b.cie.Instructions)+len(b.w.Data), maxInitial)
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

// fail records an error for a value, and misuse one for a call.
func (b *Builder) fail(format string, args ...any)   { b.failed(ErrRange, format, args) }
func (b *Builder) misuse(format string, args ...any) { b.failed(ErrUse, format, args) }

func (b *Builder) failed(kind error, format string, args []any) {
	if b.w.err == nil {
		b.w.err = fmt.Errorf("unwind table: +%#x: %w: %s", b.at, kind, fmt.Sprintf(format, args...))
	}
}

// factored returns an offset divided by the data alignment factor.
func (b *Builder) factored(method string, offset int64) int64 {
	f := b.cie.DataAlign
	if f == 0 || offset%f != 0 {
		b.fail("%s(%d) is not a multiple of the data alignment factor %d", method, offset, f)
		return 0
	}
	return offset / f
}

func (b *Builder) needCFA(method string) {
	if b.cfa.kind != Register {
		b.misuse("%s, but the CFA is not a register's value plus an offset", method)
	}
}

// emit appends an instruction, and an advance before it if At changed.
func (b *Builder) emit(ins Instruction) *Builder {
	if b.check(&ins); b.w.err != nil {
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

// check rejects instructions that an Interpreter would reject, except for too many columns.
func (b *Builder) check(ins *Instruction) {
	name := func() string { return ins.Op.Name(b.w.Machine) }
	operands, effect := ins.Op.Operands(), ins.Op.Effect()
	switch {
	case effect == EffectCFA && operands&(OperandRegister|OperandExpression) == 0 && b.cfa.kind == Unspecified:
		b.needCFA(name()) // after an expression, an offset is valid: it has an effect with the next register
	case effect == EffectCFA && operands&OperandExpression != 0 && len(ins.Expression) == 0:
		b.misuse("an empty %s, which has no result", name())
	case effect == EffectWindow && !ins.Op.DefinedOn(b.w.Machine):
		b.misuse("%s on %s", name(), b.w.Machine.Name)
	}
	switch {
	case ins.Register > math.MaxUint32 || operands&OperandRegister2 != 0 && ins.Register2 > math.MaxUint32:
		b.fail("%s of column %d", name(), max(ins.Register, ins.Register2))
	case effect == EffectRemember && len(b.states) == maxRemembered:
		b.misuse("more than %d states are remembered", maxRemembered)
	case effect == EffectRestore && len(b.states) == 0:
		b.misuse("RestoreState without a RememberState")
	}
	if len(ins.Expression) == 0 || b.w.err != nil {
		return
	}
	s := Section{Name: name(), Machine: b.w.Machine, Data: ins.Expression}
	for _, err := range s.Operations(0, uint64(len(ins.Expression))) {
		if err != nil {
			b.w.err = fmt.Errorf("unwind table: +%#x: %w", b.at, err)
			return
		}
	}
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
	case !op.DefinedOn(b.w.Machine):
		b.fail("an advance of %#x bytes from +%#x", b.at-b.location, b.location)
		return
	}
	b.w.instruction(EncAbsptr, 0, &Instruction{Op: op, Operand: int64(delta)})
}

// track updates the builder's copy of the CFA's rule.
func (b *Builder) track(ins *Instruction) {
	operands := ins.Op.Operands()
	switch ins.Op.Effect() {
	case EffectCFA:
		switch {
		case operands&OperandExpression != 0:
			b.cfa.kind = ValExpression
		case operands&OperandRegister != 0:
			b.cfa.kind, b.cfa.register = Register, ins.Register
		}
		if operands&numbers != 0 {
			b.cfa.offset = ins.Value(b.cie)
		}
	case EffectRegister:
		b.restores = b.restores || ins.Op.Base() == CFARestore
	case EffectRemember:
		b.states = append(b.states, b.cfa)
	case EffectRestore:
		if n := len(b.states); n > 0 {
			b.cfa, b.states = b.states[n-1], b.states[:n-1]
		}
	}
}
