// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region

import (
	"fmt"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// Program returns the call frame information of the regions, for amd64 and arm64. among
// contains the other procedures that an Alias may refer to; it may also refer to p itself. If
// the description contradicts itself, or cannot be expressed as call frame information,
// Program returns an error: an *Error, or one that wraps cfi.ErrRange or cfi.ErrUse.
//
// Program may be called concurrently. Procedures with equal lists, sizes and handlers
// can share the result.
func (p *Procedure) Program(m *arch.Machine, among ...*Procedure) (*cfi.Program, error) {
	if Unit(m) == 0 {
		name := "none"
		if m != nil {
			name = m.Name
		}
		return nil, &Error{p, -1, -1, fault(ErrMachine, "%s", name), Op{}}
	}
	if p.Flags != 0 {
		return nil, &Error{p, -1, -1, fault(ErrProcedure, "flags %#x, expected 0", p.Flags), Op{}}
	}
	c := newConversion(m, among)
	t, err := c.timeline(p)
	if err != nil {
		return nil, err
	}
	w := writer{effects: effects{m: m}, Builder: cfi.NewBuilder(c.cie(p.Handler))}
	before := &c.entry
	for i := range t.rows {
		r := &t.rows[i]
		if i+1 < len(t.rows) && t.rows[i+1].offset == r.offset || r.offset >= p.End-p.Start {
			continue
		}
		w.row(r.offset, before, &r.state)
		before = &r.state
	}
	program, err := w.Program()
	if err != nil {
		return nil, &Error{p, -1, -1, err, Op{}}
	}
	return program, nil
}

// entryCIEs contains the CIEs without a handler, which programs share.
var entryCIEs sync.Map // *arch.Machine to *cfi.CIE

func (c *conversion) cie(handler uint64) *cfi.CIE {
	known, ok := entryCIEs.Load(c.machine)
	if !ok {
		known, _ = entryCIEs.LoadOrStore(c.machine, cfi.EntryCIE(c.machine))
	}
	cie := known.(*cfi.CIE)
	if handler != 0 {
		with := *cie
		with.Personality, with.PersonalityEnc = cfi.Pointer{Address: handler}, cfi.EncAbsptr
		cie = &with
	}
	return cie
}

// writer writes each row as changes to the previous one.
type writer struct {
	effects
	*cfi.Builder
}

func (w *writer) cfa(s *state) (register uint64, offset int64) {
	if s.frame >= 0 {
		return uint64(s.frame), -s.fp
	}
	return uint64(w.m.StackPointer), -s.sp
}

// needsRule reports whether the table needs a rule for a place. It needs none for a lost
// register that calls do not preserve.
func (w *writer) needsRule(v save) bool { return v.kind != lost || w.preserved(v.column) }

func (w *writer) row(offset uint64, before, now *state) {
	w.At(offset)
	register, at := w.cfa(now)
	switch oldRegister, oldAt := w.cfa(before); {
	case register != oldRegister && at != oldAt:
		w.DefCFA(register, at)
	case register != oldRegister:
		w.DefCFARegister(register)
	case at != oldAt:
		w.DefCFAOffset(at)
	}
	for _, v := range before.saves {
		if _, _, saved := now.saves.find(v.column); !saved && w.needsRule(v) {
			w.Restore(uint64(v.column))
		}
	}
	for _, v := range now.saves {
		old, _, saved := before.saves.find(v.column)
		if saved && old == v {
			continue
		}
		column := uint64(v.column)
		switch {
		case !w.needsRule(v):
			if saved && w.needsRule(old) {
				w.Restore(column)
			}
		case v.kind == lost:
			w.Undefined(column)
		case v.kind == inMemory:
			w.Offset(column, v.offset)
		case v.offset == 0:
			w.Register(column, uint64(v.register))
		default:
			w.ValExpression(column, w.registerMinus(v.register, v.offset))
		}
	}
}

// registerMinus is the expression of a register's value minus an offset
// (DW_OP_bregx, DWARF 5 §2.5.1.2).
func (w *writer) registerMinus(register uint8, offset int64) []byte {
	o := cfi.Operation{Op: cfi.OpBregx, Operands: [2]int64{int64(register), -offset}}
	if register < 32 {
		o = cfi.Operation{Op: cfi.OpBreg0 + cfi.Op(register), Operands: [2]int64{-offset}}
	}
	expression, err := cfi.AppendOperation(nil, o, w.m)
	if err != nil {
		panic(err) // every operand fits a LEB128
	}
	return expression
}

// String returns a short description of the procedure.
func (p *Procedure) String() string {
	return fmt.Sprintf("%s [%#x, %#x)", p.Name, p.Start, p.End)
}
