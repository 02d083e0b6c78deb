// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source

import (
	"debug/elf"
	"slices"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report"
)

// operation is what a step does, named like the method of cfi.Builder.
type operation uint8

const (
	defCFA operation = iota
	defCFARegister
	defCFAOffset
	defCFAExpression
	savedAt // Offset
	valOffset
	register
	expression
	valExpression
	restore
	undefined
	sameValue
	rememberState
	restoreState
	negateRAState
	windowSave
	argumentsSize
	raw // what has no method: Instruction
)

// step is a call frame instruction in the terms of cfi.Builder: its offsets are
// bytes, and it means the same whatever stood before it.
type step struct {
	at         uint64 // from the function's start, bytes
	op         operation
	register   uint64
	register2  uint64 // of register; the address space of raw
	offset     int64  // or the number of argumentsSize
	expression []byte // aliases the section
	opcode     cfi.Opcode
	text       string // an expression or raw, as DWARF names it
	absolute   bool   // the expression holds an address
}

// table is the unwind table of a function as steps.
type table struct {
	machine *arch.Machine
	size    uint64 // of the function, bytes
	initial []step // what the CIE sets
	steps   []step // what the FDE adds

	// The factors to write it with: the machine's where they do.
	codeAlign uint64
	dataAlign int64

	entry bool // initial is what holds at the first instruction of a function by the ABI
}

// newTable decodes an FDE. The error is that of the first malformed
// instruction, of the CIE's or its own.
func newTable(x *cfi.Interpreter, f *cfi.FDE) (*table, error) {
	m := f.CIE.Section.Machine
	t := &table{machine: m, size: f.End - f.Start}
	// Rows refuses what leads past the function's end.
	for range x.Rows(f) {
	}
	if x.Err() != nil {
		return nil, x.Err()
	}
	x.Start(f)
	t.initial = rules(f.CIE.Section, x.Row())
	t.entry = m.StackPointer >= 0 && equal(x.Row(), m)

	x.Start(f)
	d := f.Decode()
	var ins cfi.Instruction
	for d.Next(&ins) {
		before := x.Row().CFA
		x.Execute(f.CIE, &ins)
		at := x.Location() - f.Start
		if at >= t.size {
			break // it covers no code
		}
		s := step{at: at, register: ins.Register}
		if s.set(f.CIE, &ins, before, x.Row()) {
			t.steps = append(t.steps, s)
		}
	}
	t.factors(f.CIE)
	return t, nil
}

// equal reports whether a row is what EntryCIE says.
func equal(row *cfi.Row, m *arch.Machine) bool {
	var x cfi.Interpreter
	x.Start(&cfi.FDE{CIE: cfi.EntryCIE(m)})
	return row.CFA == x.Row().CFA && row.Signed == x.Row().Signed && slices.Equal(row.Registers, x.Row().Registers)
}

// rules returns the steps that lead from no rule to those of a row.
func rules(s *cfi.Section, row *cfi.Row) (steps []step) {
	switch row.CFA.Kind {
	case cfi.Register:
		steps = append(steps, step{op: defCFA, register: uint64(row.CFA.Register), offset: row.CFA.Offset})
	case cfi.ValExpression:
		steps = append(steps, expressionStep(s, defCFAExpression, cfi.CFADefCFAExpression, 0, row.CFA))
	}
	for _, r := range row.Registers {
		column := uint64(r.Column)
		switch r.Kind {
		case cfi.Undefined:
			steps = append(steps, step{op: undefined, register: column})
		case cfi.SameValue:
			steps = append(steps, step{op: sameValue, register: column})
		case cfi.Offset:
			steps = append(steps, step{op: savedAt, register: column, offset: r.Offset})
		case cfi.ValOffset:
			steps = append(steps, step{op: valOffset, register: column, offset: r.Offset})
		case cfi.Register:
			steps = append(steps, step{op: register, register: column, register2: uint64(r.Register)})
		case cfi.Expression:
			steps = append(steps, expressionStep(s, expression, cfi.CFAExpression, column, r.Rule))
		case cfi.ValExpression:
			steps = append(steps, expressionStep(s, valExpression, cfi.CFAValExpression, column, r.Rule))
		}
	}
	if row.Signed {
		steps = append(steps, step{op: negateRAState})
	}
	return steps
}

// expressionStep returns a step whose expression a rule refers to.
func expressionStep(s *cfi.Section, op operation, opcode cfi.Opcode, column uint64, rule cfi.Rule) step {
	e := s.Expression(rule)
	ins := cfi.Instruction{Op: opcode, Register: column, Expression: e, Offset: uint64(rule.Offset), Size: uint64(len(e))}
	st := step{op: op, register: column}
	st.express(s, &ins)
	return st
}

// express gives the step the expression of an instruction.
func (st *step) express(s *cfi.Section, ins *cfi.Instruction) {
	st.expression = ins.Expression
	st.text = string(report.AppendInstruction(nil, s, ins))
	for o, err := range s.Operations(ins.Offset+ins.Size-uint64(len(ins.Expression)), uint64(len(ins.Expression))) {
		if err != nil {
			break
		}
		st.absolute = st.absolute || o.Op == cfi.OpAddr || o.Op == cfi.OpEncodedAddr
	}
}

// set makes the step what an instruction did, which led from a CFA to a row. It
// returns false where that is nothing that a row shows.
func (st *step) set(cie *cfi.CIE, ins *cfi.Instruction, before cfi.Rule, row *cfi.Row) bool {
	switch ins.Op {
	case cfi.CFADefCFA, cfi.CFADefCFASF:
		st.op, st.offset = defCFA, row.CFA.Offset
	case cfi.CFALLVMDefAspaceCFA, cfi.CFALLVMDefAspaceCFASF:
		st.raw(cie, ins)
		st.register2, st.offset = ins.Register2, row.CFA.Offset
	case cfi.CFADefCFARegister:
		if st.op = defCFARegister; before.Kind != cfi.Register {
			// It brings back the offset from before an expression.
			st.op, st.offset = defCFA, row.CFA.Offset
		}
	case cfi.CFADefCFAOffset, cfi.CFADefCFAOffsetSF:
		if before.Kind != cfi.Register {
			return false // the next DW_CFA_def_cfa_register shows it
		}
		st.op, st.offset = defCFAOffset, row.CFA.Offset
	case cfi.CFADefCFAExpression:
		st.op = defCFAExpression
		st.express(cie.Section, ins)
	case cfi.CFAOffset, cfi.CFAOffsetExtended, cfi.CFAOffsetExtendedSF, cfi.CFAGNUNegativeOffsetExtended:
		st.op, st.offset = savedAt, row.Register(ins.Register).Offset
	case cfi.CFAValOffset, cfi.CFAValOffsetSF:
		st.op, st.offset = valOffset, row.Register(ins.Register).Offset
	case cfi.CFARegister:
		st.op, st.register2 = register, ins.Register2
	case cfi.CFAExpression:
		st.op = expression
		st.express(cie.Section, ins)
	case cfi.CFAValExpression:
		st.op = valExpression
		st.express(cie.Section, ins)
	case cfi.CFARestore, cfi.CFARestoreExtended:
		st.op = restore
	case cfi.CFAUndefined:
		st.op = undefined
	case cfi.CFASameValue:
		st.op = sameValue
	case cfi.CFARememberState:
		st.op = rememberState
	case cfi.CFARestoreState:
		st.op = restoreState
	case cfi.CFAGNUArgsSize:
		st.op, st.offset = argumentsSize, ins.Operand
	case cfi.CFAAArch64NegateRAState: // and SPARC's window_save
		if st.op = windowSave; cie.Section.Machine.ELF == elf.EM_AARCH64 {
			st.op = negateRAState
		}
	case cfi.CFAAArch64NegateRAStateWithPC:
		st.raw(cie, ins)
	default: // advances and padding
		return false
	}
	return true
}

func (st *step) raw(cie *cfi.CIE, ins *cfi.Instruction) {
	st.op, st.opcode = raw, ins.Op
	st.text = string(report.AppendInstruction(nil, cie.Section, ins))
}

// factors chooses what offsets are divided by: what the machine's compilers and
// gas use where all are multiples of it, else what the template does.
func (t *table) factors(cie *cfi.CIE) {
	t.codeAlign, t.dataAlign = t.machine.CodeAlign, t.machine.DataAlign
	for _, steps := range [][]step{t.initial, t.steps} {
		for i := range steps {
			s := &steps[i]
			if s.at%max(t.codeAlign, 1) != 0 {
				t.codeAlign = 1 // DW_CFA_set_loc can lead anywhere
			}
			if s.factored() && s.offset%t.machine.DataAlign != 0 {
				t.dataAlign = cie.DataAlign
			}
		}
	}
}

// factored reports whether the step's offset is stored divided by the data
// alignment factor.
func (st *step) factored() bool {
	switch st.op {
	case savedAt, valOffset:
		return true
	case defCFA, defCFAOffset, raw:
		return st.offset < 0
	}
	return false
}

// instruction returns a raw step for cfi.Builder.Instruction.
func (t *table) instruction(st *step) cfi.Instruction {
	ins := cfi.Instruction{Op: st.opcode, Register: st.register, Register2: st.register2, Operand: st.offset}
	switch {
	case st.opcode != cfi.CFALLVMDefAspaceCFA && st.opcode != cfi.CFALLVMDefAspaceCFASF:
	case st.offset < 0:
		ins.Op, ins.Operand = cfi.CFALLVMDefAspaceCFASF, st.offset/t.dataAlign
	default:
		ins.Op = cfi.CFALLVMDefAspaceCFA
	}
	return ins
}

// cie returns the CIE that the steps follow, without what a form leaves to the
// author.
func (t *table) cie(of *cfi.CIE) (*cfi.CIE, error) {
	cie := cfi.NewCIE(t.machine)
	cie.CodeAlign, cie.DataAlign, cie.ReturnAddress = t.codeAlign, t.dataAlign, of.ReturnAddress
	cie.SignalFrame, cie.BKey, cie.MTETagged = of.SignalFrame, of.BKey, of.MTETagged
	b := cfi.NewBuilder(cie)
	t.build(b, t.initial)
	return b.CIE()
}

// program returns the table as cfi.Builder makes it.
func (t *table) program(of *cfi.CIE) (*cfi.Program, error) {
	cie, err := t.cie(of)
	if err != nil {
		return nil, err
	}
	b := cfi.NewBuilder(cie)
	t.build(b, t.steps)
	return b.Program()
}

// build appends steps to a table that is being built.
func (t *table) build(b *cfi.Builder, steps []step) {
	at := uint64(0)
	for i := range steps {
		s := &steps[i]
		if s.at != at {
			at = s.at
			b.At(at)
		}
		switch s.op {
		case defCFA:
			b.DefCFA(s.register, s.offset)
		case defCFARegister:
			b.DefCFARegister(s.register)
		case defCFAOffset:
			b.DefCFAOffset(s.offset)
		case defCFAExpression:
			b.DefCFAExpression(s.expression)
		case savedAt:
			b.Offset(s.register, s.offset)
		case valOffset:
			b.ValOffset(s.register, s.offset)
		case register:
			b.Register(s.register, s.register2)
		case expression:
			b.Expression(s.register, s.expression)
		case valExpression:
			b.ValExpression(s.register, s.expression)
		case restore:
			b.Restore(s.register)
		case undefined:
			b.Undefined(s.register)
		case sameValue:
			b.SameValue(s.register)
		case rememberState:
			b.RememberState()
		case restoreState:
			b.RestoreState()
		case negateRAState:
			b.NegateRAState()
		case windowSave:
			b.WindowSave()
		case argumentsSize:
			b.ArgumentsSize(uint64(s.offset))
		case raw:
			b.Instruction(t.instruction(s))
		}
	}
}
