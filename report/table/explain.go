// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/clewdev/clew/cfi"
)

// Explanation is the row at an address, with the instruction that set each rule.
type Explanation struct {
	Function Function
	Address  uint64 // requested address, without load bias

	Start, End  uint64 // of the row
	Index, Rows int    // number of the row, from 1, and number of rows

	CFA       Explained
	Registers []Explained // registers with a rule, by ascending column

	ArgumentsSize uint64
	Signed        bool // the return address is signed

	// Also are other FDEs that cover the address. Unwinders differ in which FDE they use.
	Also []Function
}

// Explained is a rule and its origin.
type Explained struct {
	Column uint64 // of a register; 0 for the CFA
	Rule   cfi.Rule
	From   Origin
}

// Origin is the instruction that set a rule.
type Origin struct {
	Op     cfi.Opcode
	Offset uint64 // in the section
	InCIE  bool
	Set    bool // false if no instruction set the rule
}

// origins are the origins of the rules of a row.
type origins struct {
	cfa       Origin
	registers map[uint64]Origin // by column
}

// Explain returns the rules at an address, which the function must cover, and their origins.
// The error describes a malformed instruction before the end of the row.
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
	t := tracker{now: origins{registers: make(map[uint64]Origin)}}
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
	row := x.Row()
	e.CFA = Explained{Rule: row.CFA, From: t.now.cfa}
	e.ArgumentsSize, e.Signed = row.ArgumentsSize, row.Signed
	for _, r := range row.Registers {
		e.Registers = append(e.Registers, Explained{uint64(r.Column), r.Rule, t.now.registers[uint64(r.Column)]})
	}
	return e, nil
}

// Register returns the rule of a column. ok is false if it has none.
func (e *Explanation) Register(column uint64) (r Explained, ok bool) {
	i, ok := slices.BinarySearchFunc(e.Registers, column, func(r Explained, column uint64) int { return cmp.Compare(r.Column, column) })
	if !ok {
		return Explained{Column: column}, false
	}
	return e.Registers[i], true
}

// tracker follows the origin of each rule. An Interpreter must have accepted the same
// instructions.
type tracker struct {
	now        origins
	remembered []origins
}

func (t *tracker) note(ins *cfi.Instruction, inCIE bool) {
	from := Origin{Op: ins.Op, Offset: ins.Offset, InCIE: inCIE, Set: true}
	switch ins.Op.Effect() {
	case cfi.EffectCFA:
		t.now.cfa = from
	case cfi.EffectRegister:
		t.now.registers[ins.Register] = from
	case cfi.EffectRemember:
		t.remembered = append(t.remembered, origins{t.now.cfa, maps.Clone(t.now.registers)})
	case cfi.EffectRestore:
		if n := len(t.remembered); n > 0 {
			t.now, t.remembered = t.remembered[n-1], t.remembered[:n-1]
		}
	case cfi.EffectWindow:
		// SPARC: the locals and ins of the register window. AArch64's instruction of that
		// number sets no rule, so the origins are unused.
		for column := range uint64(16) {
			t.now.registers[16+column] = from
		}
	}
}

// ExplainSchema describes what [Explanation.JSON] and [Uncovered.JSON] write.
const ExplainSchema = `One object:
  address         the requested address
  covered         whether an FDE covers it; if not, only "before" and "after"
                  follow, the nearest functions: {"function", "start", "end"}
  function, symbol, function_start, function_end, section, fde, cie,
  return_address, signal_frame, personality, lsda   as for 'clew table --json'
  place           "main+0x27"
  row             {"start", "end", "index", "count"}; index starts at 1
  cfa             {"rule", "register", "offset", "expression", "text", "from"}
  registers       by name, in the same form
  args_size, signed   only if they are set
  also            other FDEs that cover the address: [{"section", "fde"}]
  code            with --source: [{"address", "size", "text", "file", "line"}]
"from" is {"op", "offset", "entry", "entry_offset"}: the instruction that set the
rule, and the CIE or FDE that holds it, by their offsets in the section.`

// JSON writes the explanation as one line, as ExplainSchema describes. code is the code of
// the function, or nil.
func (e *Explanation) JSON(w io.Writer, code []CodeLine) error {
	j := jsonText{[]byte{'{'}}
	j.hex("address", e.Address)
	j.isTrue("covered")
	j.text("place", e.Place())
	j.function(&e.Function)
	j.open("row", '{')
	j.hex("start", e.Start)
	j.hex("end", e.End)
	j.number("index", int64(e.Index))
	j.number("count", int64(e.Rows))
	j.buf = append(j.buf, '}')
	s := e.Function.FDE.CIE.Section
	n := notation{section: s}
	j.key("cfa")
	j.explained(e, &n, e.CFA, true)
	j.open("registers", '{')
	for _, r := range e.Registers {
		j.key(s.Machine.RegisterName(r.Column))
		j.explained(e, &n, r, false)
	}
	j.buf = append(j.buf, '}')
	if e.ArgumentsSize > 0 {
		j.number("args_size", int64(e.ArgumentsSize))
	}
	if e.Signed {
		j.isTrue("signed")
	}
	if len(e.Also) > 0 {
		j.open("also", '[')
		for i := range e.Also {
			if i > 0 {
				j.buf = append(j.buf, ',')
			}
			j.buf = append(j.buf, '{')
			j.text("section", e.Also[i].FDE.CIE.Section.Name)
			j.hex("fde", e.Also[i].FDE.Offset)
			j.buf = append(j.buf, '}')
		}
		j.buf = append(j.buf, ']')
	}
	if code != nil {
		j.open("code", '[')
		for i := range code {
			if i > 0 {
				j.buf = append(j.buf, ',')
			}
			j.code(&code[i])
		}
		j.buf = append(j.buf, ']')
	}
	_, err := w.Write(append(j.buf, '}', '\n'))
	return err
}

func (j *jsonText) code(l *CodeLine) {
	j.buf = append(j.buf, '{')
	j.hex("address", l.Address)
	j.number("size", int64(l.Size))
	j.text("text", l.Text)
	if l.Line > 0 {
		j.text("file", l.File)
		j.number("line", int64(l.Line))
	}
	j.buf = append(j.buf, '}')
}

// explained appends a rule with its origin.
func (j *jsonText) explained(e *Explanation, n *notation, r Explained, ofCFA bool) {
	j.rule(n, r.Rule, ofCFA)
	if !r.From.Set {
		return
	}
	fde := e.Function.FDE
	j.buf = j.buf[:len(j.buf)-1]
	j.open("from", '{')
	j.text("op", r.From.Op.Name(fde.CIE.Section.Machine))
	j.hex("offset", r.From.Offset)
	if r.From.InCIE {
		j.text("entry", "cie")
		j.hex("entry_offset", fde.CIE.Offset)
	} else {
		j.text("entry", "fde")
		j.hex("entry_offset", fde.Offset)
	}
	j.buf = append(j.buf, '}', '}')
}

// JSON writes the address and the nearest functions as one line, as ExplainSchema describes.
func (u *Uncovered) JSON(w io.Writer) error {
	j := jsonText{[]byte{'{'}}
	j.hex("address", u.Address)
	j.key("covered")
	j.buf = append(j.buf, "false"...)
	for _, near := range []struct {
		name string
		f    *Function
	}{{"before", u.Before}, {"after", u.After}} {
		if near.f == nil {
			continue
		}
		j.open(near.name, '{')
		j.text("function", near.f.Name())
		j.hex("start", near.f.FDE.Start)
		j.hex("end", near.f.FDE.End)
		j.buf = append(j.buf, '}')
	}
	_, err := w.Write(append(j.buf, '}', '\n'))
	return err
}
