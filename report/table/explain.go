// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"fmt"
	"slices"

	"github.com/clewdev/clew/cfi"
)

// Explanation is the row that holds at an address, with the instruction that
// set each of its rules.
type Explanation struct {
	Function Function
	Address  uint64 // that was asked for, without load bias

	Start, End  uint64 // of the row
	Index, Rows int    // which row it is, from 1, and how many there are

	CFA       Explained
	Registers []Explained // that have a rule, by ascending column

	ArgumentsSize uint64
	Signed        bool // the return address is

	// Also are other FDEs that cover the address. Unwinders differ in which
	// they take.
	Also []Function
}

// Explained is a rule and where it comes from.
type Explained struct {
	Column uint64 // of a register; of the CFA 0
	Rule   cfi.Rule
	From   Origin
}

// Origin is the instruction that set a rule.
type Origin struct {
	Op     cfi.Opcode
	Offset uint64 // in the section
	InCIE  bool
	Set    bool // there is one
}

// origins are the instructions that set the rules of a row, or of one that is remembered.
type origins struct {
	cfa       Origin
	registers []registerOrigin
}

type registerOrigin struct {
	column uint64
	from   Origin
}

// Explain finds the rules that hold at an address which the function covers,
// and their origins. The error says where the entry is malformed before the
// row of the address is complete.
func Explain(f Function, pc uint64) (*Explanation, error) {
	fde := f.FDE
	if pc < fde.Start || pc >= fde.End {
		return nil, fmt.Errorf("%w: the one at %s+%#x covers [%#x, %#x), not %#x",
			cfi.ErrNoFDE, fde.CIE.Section.Name, fde.Offset, fde.Start, fde.End, pc)
	}
	var x cfi.Interpreter
	e := &Explanation{Function: f, Address: pc, End: fde.End}
	for row := range x.Rows(fde) {
		e.Rows++
		if row.Start <= pc {
			e.Index, e.Start = e.Rows, row.Start
		}
	}
	t := tracker{section: fde.CIE.Section}
	var ins cfi.Instruction
	for d := fde.CIE.Decode(); d.Next(&ins); {
		t.note(&ins, true)
	}
	x.Start(fde)
	if err := x.Err(); err != nil {
		return nil, err
	}
	d := fde.Decode()
	for d.Next(&ins) {
		if !x.Execute(fde.CIE, &ins) {
			return nil, x.Err()
		}
		if x.Location() > pc {
			e.End = min(x.Location(), fde.End)
			break
		}
		t.note(&ins, false)
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	e.take(x.Row(), &t.now)
	return e, nil
}

// take copies the row together with the origins of its rules.
func (e *Explanation) take(row *cfi.Row, from *origins) {
	e.CFA = Explained{Rule: row.CFA, From: from.cfa}
	e.ArgumentsSize, e.Signed = row.ArgumentsSize, row.Signed
	for i := range row.Registers {
		r := &row.Registers[i]
		e.Registers = append(e.Registers, Explained{uint64(r.Column), r.Rule, from.of(uint64(r.Column))})
	}
}

// Register returns the rule of a column, and false if there is none.
func (e *Explanation) Register(column uint64) (Explained, bool) {
	for i := range e.Registers {
		if e.Registers[i].Column == column {
			return e.Registers[i], true
		}
	}
	return Explained{Column: column}, false
}

// tracker follows which instruction set each rule. It relies on an Interpreter
// that has executed the same instructions before: what the interpreter refuses
// never comes here.
type tracker struct {
	section *cfi.Section
	now     origins
	saved   []origins
}

func (t *tracker) note(ins *cfi.Instruction, inCIE bool) {
	from := Origin{Op: ins.Op, Offset: ins.Offset, InCIE: inCIE, Set: true}
	switch ins.Op.Effect() {
	case cfi.EffectCFA:
		t.now.cfa = from
	case cfi.EffectRegister:
		t.now.set(ins.Register, from)
	case cfi.EffectRemember:
		t.saved = append(t.saved, origins{t.now.cfa, slices.Clone(t.now.registers)})
	case cfi.EffectRestore:
		if n := len(t.saved); n > 0 {
			t.now, t.saved = t.saved[n-1], t.saved[:n-1]
		}
	case cfi.EffectWindow:
		// SPARC: the locals and ins of the register window. AArch64's
		// instruction of that number sets no rule, and is asked for none.
		for column := range uint64(16) {
			t.now.set(16+column, from)
		}
	}
}

func (o *origins) set(column uint64, from Origin) {
	for i := range o.registers {
		if o.registers[i].column == column {
			o.registers[i].from = from
			return
		}
	}
	o.registers = append(o.registers, registerOrigin{column, from})
}

func (o *origins) of(column uint64) Origin {
	for i := range o.registers {
		if o.registers[i].column == column {
			return o.registers[i].from
		}
	}
	return Origin{}
}
