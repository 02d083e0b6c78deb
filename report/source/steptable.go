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

// method is the names of an operation in Go and assembly. Operations without a method are
// written with cfi.Builder.Instruction, or as an escape.
type method struct {
	name      string                        // of cfi.Builder's method
	directive string                        // of gas, or ""
	call      func(b *cfi.Builder, s *step) // if the operand is factored, or selects the encoding
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

// method returns the method of an operation, or the zero method.
func (t *stepTable) method(op cfi.Opcode) method {
	if op == cfi.CFAAArch64NegateRAState && t.machine.SignsReturns {
		return negateRAState
	}
	return methods[op]
}

// step is a call frame instruction for cfi.Builder. Its offsets are in bytes, and it does not
// depend on previous instructions.
type step struct {
	at         uint64     // offset from the function's start, in bytes
	op         cfi.Opcode // equals its Base
	register   uint64
	register2  uint64
	offset     int64  // the other operand
	expression []byte // aliases the section
	text       string // the DWARF text, if the operation has an expression or no method
	absolute   bool   // the expression contains an address
}

// stepTable is the unwind table of a function as steps.
type stepTable struct {
	machine *arch.Machine
	size    uint64 // of the function, in bytes
	initial []step // of the CIE
	steps   []step // of the FDE

	// Alignment factors for writing: those of the machine, if possible.
	codeAlign uint64
	dataAlign int64

	entry bool // initial is the state at the first instruction of a function in the ABI
}

// newStepTable decodes an FDE. The error is that of the first malformed instruction of the CIE
// or the FDE.
func newStepTable(x *cfi.Interpreter, f *cfi.FDE) (*stepTable, error) {
	m := f.CIE.Section.Machine
	t := &stepTable{machine: m, size: f.End - f.Start}
	// Rows rejects advances beyond the end of the function.
	for range x.Rows(f) {
	}
	if x.Err() != nil {
		return nil, x.Err()
	}
	x.Start(f)
	t.initial = rules(f.CIE.Section, x.Row())
	t.entry = m.StackPointer >= 0 && isEntry(x.Row(), m)

	x.Start(f)
	d := f.Decode()
	var ins cfi.Instruction
	for d.Next(&ins) {
		previousCFA := x.Row().CFA
		x.Execute(f.CIE, &ins)
		at := x.Location() - f.Start
		if at >= t.size {
			break // the remaining rows cover no code
		}
		s := step{at: at}
		if t.set(&s, f.CIE, &ins, previousCFA, x.Row()) {
			t.steps = append(t.steps, s)
		}
	}
	t.factors(f.CIE)
	return t, nil
}

// isEntry reports whether a row is that of EntryCIE.
func isEntry(row *cfi.Row, m *arch.Machine) bool {
	var x cfi.Interpreter
	x.Start(&cfi.FDE{CIE: cfi.EntryCIE(m)})
	return row.CFA == x.Row().CFA && row.Signed == x.Row().Signed && slices.Equal(row.Registers, x.Row().Registers)
}

// rules returns the steps that set the rules of a row.
func rules(s *cfi.Section, row *cfi.Row) (steps []step) {
	switch row.CFA.Kind {
	case cfi.Register:
		steps = append(steps, step{op: cfi.CFADefCFA, register: uint64(row.CFA.Register), offset: row.CFA.Offset})
	case cfi.ValExpression:
		steps = append(steps, expressionStep(s, cfi.CFADefCFAExpression, 0, row.CFA))
	}
	for _, r := range row.Registers {
		st := step{op: ruleOps[r.Kind], register: uint64(r.Column)}
		switch r.Kind {
		case cfi.Unspecified:
			continue
		case cfi.Offset, cfi.ValOffset:
			st.offset = r.Offset
		case cfi.Register:
			st.register2 = uint64(r.Register)
		case cfi.Expression, cfi.ValExpression:
			st = expressionStep(s, st.op, st.register, r.Rule)
		}
		steps = append(steps, st)
	}
	if row.Signed {
		steps = append(steps, step{op: cfi.CFAAArch64NegateRAState})
	}
	return steps
}

// ruleOps are the operations that set rules, by kind.
var ruleOps = [...]cfi.Opcode{
	cfi.Undefined: cfi.CFAUndefined, cfi.SameValue: cfi.CFASameValue, cfi.Offset: cfi.CFAOffset, cfi.ValOffset: cfi.CFAValOffset,
	cfi.Register: cfi.CFARegister, cfi.Expression: cfi.CFAExpression, cfi.ValExpression: cfi.CFAValExpression,
}

// expressionStep returns a step with the expression of a rule.
func expressionStep(s *cfi.Section, op cfi.Opcode, column uint64, rule cfi.Rule) step {
	e := s.Expression(rule)
	ins := cfi.Instruction{Op: op, Register: column, Expression: e, Offset: uint64(rule.Offset), Size: uint64(len(e))}
	st := step{op: op, register: column}
	st.setExpression(s, &ins)
	return st
}

// setExpression sets the expression to that of an instruction.
func (st *step) setExpression(s *cfi.Section, ins *cfi.Instruction) {
	st.expression = ins.Expression
	st.text = string(table.AppendInstruction(nil, s, ins))
	for o, err := range s.Operations(ins.Offset+ins.Size-uint64(len(ins.Expression)), uint64(len(ins.Expression))) {
		if err != nil {
			break
		}
		st.absolute = st.absolute || o.Op == cfi.OpAddr || o.Op == cfi.OpEncodedAddr
	}
}

// set fills a step for an instruction, which led from the previous CFA to a row. It returns
// false if the instruction does not change rules.
func (t *stepTable) set(st *step, cie *cfi.CIE, ins *cfi.Instruction, previousCFA cfi.Rule, row *cfi.Row) bool {
	st.op, st.register, st.register2 = ins.Op.Base(), ins.Register, ins.Register2
	switch effect := ins.Op.Effect(); {
	case effect == cfi.EffectNone || effect == cfi.EffectLocation:
		return false
	case ins.Op.Operands()&cfi.OperandExpression != 0:
		st.setExpression(cie.Section, ins)
		return true
	case effect == cfi.EffectCFA:
		st.offset = row.CFA.Offset
		switch {
		case previousCFA.Kind == cfi.Register:
		case st.op == cfi.CFADefCFAOffset:
			return false // has an effect only after the next DW_CFA_def_cfa_register
		case st.op == cfi.CFADefCFARegister:
			st.op = cfi.CFADefCFA // uses the offset from before an expression
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

// factors sets the alignment factors: those of the machine's compilers and gas if all offsets
// are multiples of them, else those of the template.
func (t *stepTable) factors(cie *cfi.CIE) {
	t.codeAlign, t.dataAlign = t.machine.CodeAlign, t.machine.DataAlign
	for _, steps := range [][]step{t.initial, t.steps} {
		for i := range steps {
			s := &steps[i]
			if s.at%max(t.codeAlign, 1) != 0 {
				t.codeAlign = 1 // DW_CFA_set_loc can set any location
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

// cie returns the CIE for the steps, without the properties that are left to the author.
func (t *stepTable) cie(of *cfi.CIE) (*cfi.CIE, error) {
	cie := cfi.NewCIE(t.machine)
	cie.CodeAlign, cie.DataAlign, cie.ReturnAddress = t.codeAlign, t.dataAlign, of.ReturnAddress
	cie.SignalFrame, cie.BKey, cie.MTETagged = of.SignalFrame, of.BKey, of.MTETagged
	b := cfi.NewBuilder(cie)
	t.build(b, t.initial)
	return b.CIE()
}

// program builds the table with cfi.Builder.
func (t *stepTable) program(of *cfi.CIE) (*cfi.Program, error) {
	cie, err := t.cie(of)
	if err != nil {
		return nil, err
	}
	b := cfi.NewBuilder(cie)
	t.build(b, t.steps)
	return b.Program()
}

// build adds steps to a builder.
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
