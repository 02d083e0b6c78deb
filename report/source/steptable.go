// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source

import (
	"slices"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/table"
)

// method is how the languages write an operation. An operation without one is
// written as cfi.Builder.Instruction, or as an escape.
type method struct {
	name      string                        // of cfi.Builder's method
	directive string                        // of gas; "": none
	call      func(b *cfi.Builder, s *step) // where the operand is factored, or the encoding depends on it
}

var methods = [256]method{
	cfi.CFADefCFA:           {"DefCFA", ".cfi_def_cfa", func(b *cfi.Builder, s *step) { b.DefCFA(s.register, s.offset) }},
	cfi.CFADefCFARegister:   {"DefCFARegister", ".cfi_def_cfa_register", nil},
	cfi.CFADefCFAOffset:     {"DefCFAOffset", ".cfi_def_cfa_offset", func(b *cfi.Builder, s *step) { b.DefCFAOffset(s.offset) }},
	cfi.CFADefCFAExpression: {"DefCFAExpression", "", nil},
	cfi.CFAOffset:           {"Offset", ".cfi_offset", func(b *cfi.Builder, s *step) { b.Offset(s.register, s.offset) }},
	cfi.CFAValOffset:        {"ValOffset", ".cfi_val_offset", func(b *cfi.Builder, s *step) { b.ValOffset(s.register, s.offset) }},
	cfi.CFARegister:         {"Register", ".cfi_register", nil},
	cfi.CFAExpression:       {"Expression", "", nil},
	cfi.CFAValExpression:    {"ValExpression", "", nil},
	cfi.CFARestore:          {"Restore", ".cfi_restore", func(b *cfi.Builder, s *step) { b.Restore(s.register) }},
	cfi.CFAUndefined:        {"Undefined", ".cfi_undefined", nil},
	cfi.CFASameValue:        {"SameValue", ".cfi_same_value", nil},
	cfi.CFARememberState:    {"RememberState", ".cfi_remember_state", nil},
	cfi.CFARestoreState:     {"RestoreState", ".cfi_restore_state", nil},
	cfi.CFAGNUWindowSave:    {"WindowSave", ".cfi_window_save", nil},
	cfi.CFAGNUArgsSize:      {"ArgumentsSize", "", nil},
}

var negateRAState = method{"NegateRAState", ".cfi_negate_ra_state", nil}

// method returns how an operation is written, the zero method where nothing but
// its number says it.
func (t *stepTable) method(op cfi.Opcode) method {
	if op == cfi.CFAAArch64NegateRAState && t.machine.SignsReturns {
		return negateRAState
	}
	return methods[op]
}

// step is a call frame instruction in the terms of cfi.Builder: its offsets are
// bytes, and it means the same whatever stood before it.
type step struct {
	at         uint64     // from the function's start, bytes
	op         cfi.Opcode // its own base
	register   uint64
	register2  uint64
	offset     int64  // the other number of the operation
	expression []byte // aliases the section
	text       string // of an operation with an expression or without a method, as DWARF names it
	absolute   bool   // the expression holds an address
}

// stepTable is the unwind table of a function as steps.
type stepTable struct {
	machine *arch.Machine
	size    uint64 // of the function, bytes
	initial []step // what the CIE sets
	steps   []step // what the FDE adds

	// The factors to write it with: the machine's where they do.
	codeAlign uint64
	dataAlign int64

	entry bool // initial is what holds at the first instruction of a function by the ABI
}

// newStepTable decodes an FDE. The error is that of the first malformed
// instruction, of the CIE's or its own.
func newStepTable(x *cfi.Interpreter, f *cfi.FDE) (*stepTable, error) {
	m := f.CIE.Section.Machine
	t := &stepTable{machine: m, size: f.End - f.Start}
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
		s := step{at: at}
		if t.set(&s, f.CIE, &ins, before, x.Row()) {
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
		steps = append(steps, step{op: cfi.CFADefCFA, register: uint64(row.CFA.Register), offset: row.CFA.Offset})
	case cfi.ValExpression:
		steps = append(steps, expressionStep(s, cfi.CFADefCFAExpression, 0, row.CFA))
	}
	for _, r := range row.Registers {
		column := uint64(r.Column)
		switch r.Kind {
		case cfi.Undefined:
			steps = append(steps, step{op: cfi.CFAUndefined, register: column})
		case cfi.SameValue:
			steps = append(steps, step{op: cfi.CFASameValue, register: column})
		case cfi.Offset:
			steps = append(steps, step{op: cfi.CFAOffset, register: column, offset: r.Offset})
		case cfi.ValOffset:
			steps = append(steps, step{op: cfi.CFAValOffset, register: column, offset: r.Offset})
		case cfi.Register:
			steps = append(steps, step{op: cfi.CFARegister, register: column, register2: uint64(r.Register)})
		case cfi.Expression:
			steps = append(steps, expressionStep(s, cfi.CFAExpression, column, r.Rule))
		case cfi.ValExpression:
			steps = append(steps, expressionStep(s, cfi.CFAValExpression, column, r.Rule))
		}
	}
	if row.Signed {
		steps = append(steps, step{op: cfi.CFAAArch64NegateRAState})
	}
	return steps
}

// expressionStep returns a step whose expression a rule refers to.
func expressionStep(s *cfi.Section, op cfi.Opcode, column uint64, rule cfi.Rule) step {
	e := s.Expression(rule)
	ins := cfi.Instruction{Op: op, Register: column, Expression: e, Offset: uint64(rule.Offset), Size: uint64(len(e))}
	st := step{op: op, register: column}
	st.express(s, &ins)
	return st
}

// express gives the step the expression of an instruction.
func (st *step) express(s *cfi.Section, ins *cfi.Instruction) {
	st.expression = ins.Expression
	st.text = string(table.AppendInstruction(nil, s, ins))
	for o, err := range s.Operations(ins.Offset+ins.Size-uint64(len(ins.Expression)), uint64(len(ins.Expression))) {
		if err != nil {
			break
		}
		st.absolute = st.absolute || o.Op == cfi.OpAddr || o.Op == cfi.OpEncodedAddr
	}
}

// set makes the step what an instruction did, which led from a CFA to a row. It
// returns false where that is nothing that a row shows.
func (t *stepTable) set(st *step, cie *cfi.CIE, ins *cfi.Instruction, before cfi.Rule, row *cfi.Row) bool {
	st.op, st.register, st.register2 = ins.Op.Base(), ins.Register, ins.Register2
	switch effect := ins.Op.Effect(); {
	case effect == cfi.EffectNone || effect == cfi.EffectLocation:
		return false
	case ins.Op.Operands()&cfi.OperandExpression != 0:
		st.express(cie.Section, ins)
		return true
	case effect == cfi.EffectCFA:
		st.offset = row.CFA.Offset
		switch {
		case before.Kind == cfi.Register:
		case st.op == cfi.CFADefCFAOffset:
			return false // the next DW_CFA_def_cfa_register shows it
		case st.op == cfi.CFADefCFARegister:
			st.op = cfi.CFADefCFA // it brings back the offset from before an expression
		}
	case effect == cfi.EffectRegister:
		st.offset = row.Register(ins.Register).Offset
	default:
		st.offset = ins.Operand
	}
	if t.method(st.op).name == "" {
		st.text = string(table.AppendInstruction(nil, cie.Section, ins))
	}
	return true
}

// factors chooses what offsets are divided by: what the machine's compilers and
// gas use where all are multiples of it, else what the template does.
func (t *stepTable) factors(cie *cfi.CIE) {
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
	if st.op.Operands()&cfi.OperandUnsigned == 0 {
		return false
	}
	switch st.op.Effect() {
	case cfi.EffectRegister:
		return true
	case cfi.EffectCFA:
		return st.offset < 0
	}
	return false
}

// instruction returns a step for cfi.Builder.Instruction.
func (t *stepTable) instruction(st *step) cfi.Instruction {
	ins := cfi.Instruction{Op: st.op, Register: st.register, Register2: st.register2, Operand: st.offset, Expression: st.expression}
	if st.op == cfi.CFALLVMDefAspaceCFA && st.offset < 0 {
		ins.Op, ins.Operand = cfi.CFALLVMDefAspaceCFASF, st.offset/t.dataAlign
	}
	return ins
}

// cie returns the CIE that the steps follow, without what a form leaves to the
// author.
func (t *stepTable) cie(of *cfi.CIE) (*cfi.CIE, error) {
	cie := cfi.NewCIE(t.machine)
	cie.CodeAlign, cie.DataAlign, cie.ReturnAddress = t.codeAlign, t.dataAlign, of.ReturnAddress
	cie.SignalFrame, cie.BKey, cie.MTETagged = of.SignalFrame, of.BKey, of.MTETagged
	b := cfi.NewBuilder(cie)
	t.build(b, t.initial)
	return b.CIE()
}

// program returns the table as cfi.Builder makes it.
func (t *stepTable) program(of *cfi.CIE) (*cfi.Program, error) {
	cie, err := t.cie(of)
	if err != nil {
		return nil, err
	}
	b := cfi.NewBuilder(cie)
	t.build(b, t.steps)
	return b.Program()
}

// build appends steps to a table that is being built.
func (t *stepTable) build(b *cfi.Builder, steps []step) {
	at := uint64(0)
	for i := range steps {
		s := &steps[i]
		if s.at != at {
			at = s.at
			b.At(at)
		}
		if call := t.method(s.op).call; call != nil {
			call(b, s)
		} else {
			b.Instruction(t.instruction(s))
		}
	}
}
