// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"bytes"
	"io"
	"slices"
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// Text prints the tables of functions for people: a line with the function, a line with the
// columns, and a line for each row.
//
//	main  0x1139-0x1190  .eh_frame FDE 0x98 CIE 0x0
//	  address  offset  CFA     rbx     ra
//	  0x1139   +0x0    rsp+8   .       [c-8]
//
// The zero value is ready to use. It must not be used concurrently.
type Text struct {
	Palette style.Palette
	Mark    []uint64 // rows with these addresses, without load bias, are marked

	interpreter cfi.Interpreter
	rules       notation
	buf         []byte // output

	columns []uint32 // that have a rule in some row, and last the return address
	args    bool     // some row has a size of arguments
	signed  bool     // some row has a signed return address
	plain   bool     // nothing is coloured

	// Pending rows, until the widths are known.
	cells  []byte // the texts of all cells
	ends   []int  // by cell: the end of its text in cells
	marked []bool // by row
	titled bool   // the first row is the line of the columns
	widths []int

	places []cfi.Rule // expressions that a cell identifies only by their place
}

// maxPending is the number of bytes that are buffered before they are written.
const maxPending = 1 << 16

// Function prints the table of one function. err is the error of w. A malformed instruction
// is printed in its place and returned as fault.
func (t *Text) Function(w io.Writer, f *Function) (fault, err error) {
	fde := f.FDE
	t.rules.section = fde.CIE.Section
	t.plain = t.Palette == style.Palette{}
	t.survey(fde)
	t.header(f)
	t.columnNames(fde)
	for row := range t.interpreter.Rows(fde) {
		t.row(fde, row)
		if len(t.cells) > maxPending {
			t.rows()
			if _, err := w.Write(t.buf); err != nil {
				return nil, err
			}
			t.buf = t.buf[:0]
		}
	}
	t.rows()
	if fault = t.interpreter.Err(); fault != nil {
		t.buf = append(t.buf, "  "+t.Palette.Error.Text(printable.Text(fault.Error()))+"\n"...)
	}
	t.footnotes()
	t.buf = append(t.buf, '\n')
	_, err = w.Write(t.buf)
	t.buf = t.buf[:0]
	return fault, err
}

// survey finds the columns.
func (t *Text) survey(fde *cfi.FDE) {
	t.columns, t.args, t.signed = t.columns[:0], false, false
	for row := range t.interpreter.Rows(fde) {
		t.args = t.args || row.ArgumentsSize != 0
		t.signed = t.signed || row.Signed
		t.columns = mergeColumns(t.columns, row.Registers)
	}
	// The return address is always the last column, even if no row has a rule for it.
	ra := uint32(fde.CIE.ReturnAddress)
	if i := slices.Index(t.columns, ra); i >= 0 {
		t.columns = slices.Delete(t.columns, i, i+1)
	}
	t.columns = append(t.columns, ra)
}

// mergeColumns adds the columns of a row. Both lists are in ascending order.
func mergeColumns(columns []uint32, rules []cfi.RegisterRule) []uint32 {
	i := 0
	for k := range rules {
		c := rules[k].Column
		for i < len(columns) && columns[i] < c {
			i++
		}
		if i == len(columns) || columns[i] != c {
			columns = slices.Insert(columns, i, c)
		}
	}
	return columns
}

// header appends the line with the function.
func (t *Text) header(f *Function) {
	b := t.Palette.Name.Append(t.buf, f.Name())
	b = append(b, "  "...)
	b = appendRange(b, f.FDE.Start, f.FDE.End)
	b = append(b, t.Palette.Dim.On...)
	b = append(b, "  "...)
	b = appendEntry(b, f.FDE)
	b = append(b, t.Palette.Dim.Off...)
	b = appendTraits(b, f.FDE)
	t.buf = append(b, '\n')
}

func appendRange(b []byte, start, end uint64) []byte {
	b = style.AppendHex(b, start)
	b = append(b, '-')
	return style.AppendHex(b, end)
}

// appendEntry appends the place of an FDE: ".eh_frame FDE 0x98 CIE 0x0".
func appendEntry(b []byte, fde *cfi.FDE) []byte {
	b = append(b, printable.Text(fde.CIE.Section.Name)...)
	b = style.AppendHex(append(b, " FDE "...), fde.Offset)
	return style.AppendHex(append(b, " CIE "...), fde.CIE.Offset)
}

// appendTraits appends the properties of an FDE other than rules.
func appendTraits(b []byte, fde *cfi.FDE) []byte {
	cie := fde.CIE
	if cie.SignalFrame {
		b = append(b, "  signal frame"...)
	}
	if cie.BKey {
		b = append(b, "  B key"...)
	}
	if cie.MTETagged {
		b = append(b, "  MTE tagged"...)
	}
	if cie.SegmentSize > 0 {
		b = style.AppendHex(append(b, "  segment "...), fde.Segment)
	}
	if cie.Personality.Address != 0 {
		b = appendPointer(append(b, "  personality "...), cie.Personality)
	}
	if fde.LSDA.Address != 0 {
		b = appendPointer(append(b, "  LSDA "...), fde.LSDA)
	}
	return b
}

// appendPointer appends an address. In brackets it is that of a slot that contains the
// address.
func appendPointer(b []byte, p cfi.Pointer) []byte {
	if !p.Indirect {
		return style.AppendHex(b, p.Address)
	}
	b = style.AppendHex(append(b, '['), p.Address)
	return append(b, ']')
}

// endCell ends a cell of a pending row.
func (t *Text) endCell() { t.ends = append(t.ends, len(t.cells)) }

// columnNames makes the first pending row, with the names of the columns.
func (t *Text) columnNames(fde *cfi.FDE) {
	m := fde.CIE.Section.Machine
	t.cells, t.ends, t.marked = t.cells[:0], t.ends[:0], append(t.marked[:0], false)
	t.titled, t.places = true, t.places[:0]
	for _, name := range []string{"address", "offset", "CFA"} {
		t.cells = append(t.cells, name...)
		t.endCell()
	}
	for _, c := range t.columns[:len(t.columns)-1] {
		t.cells = m.AppendRegisterName(t.cells, uint64(c))
		t.endCell()
	}
	t.cells = append(t.cells, "ra"...)
	t.endCell()
	if t.signed {
		t.cells = append(t.cells, "ra signed"...)
		t.endCell()
	}
	if t.args {
		t.cells = append(t.cells, "args"...)
		t.endCell()
	}
	t.widths = append(t.widths[:0], make([]int, len(t.ends))...)
}

// row adds a pending row.
func (t *Text) row(fde *cfi.FDE, row *cfi.Row) {
	t.cells = style.AppendHex(t.cells, row.Start)
	t.endCell()
	t.cells = style.AppendHex(append(t.cells, '+'), row.Start-fde.Start)
	t.endCell()
	start := len(t.cells)
	t.cells = t.rules.appendCFA(t.cells, row.CFA)
	t.place(start, row.CFA)
	t.endCell()
	next := 0 // index of the next of the row's registers, which ascend as the columns do
	for i, c := range t.columns {
		start := len(t.cells)
		var rule cfi.Rule
		if i == len(t.columns)-1 {
			rule = row.Register(uint64(c))
		} else {
			for next < len(row.Registers) && row.Registers[next].Column < c {
				next++
			}
			if next < len(row.Registers) && row.Registers[next].Column == c {
				rule = row.Registers[next].Rule
			}
		}
		t.cells = t.rules.appendRule(t.cells, rule)
		t.place(start, rule)
		t.endCell()
	}
	if t.signed {
		if row.Signed {
			t.cells = append(t.cells, "yes"...)
		} else {
			t.cells = append(t.cells, noRule...)
		}
		t.endCell()
	}
	if t.args {
		t.cells = strconv.AppendUint(t.cells, row.ArgumentsSize, 10)
		t.endCell()
	}
	mark := slices.ContainsFunc(t.Mark, func(a uint64) bool { return row.Start <= a && a < row.End })
	t.marked = append(t.marked, mark)
}

// maxPlaces is the number of expressions that are printed below a table.
const maxPlaces = 64

// place records an expression if its cell, which starts at an offset, contains only its
// place.
func (t *Text) place(start int, r cfi.Rule) {
	if r.Kind != cfi.Expression && r.Kind != cfi.ValExpression || !bytes.Contains(t.cells[start:], []byte(expressionMark)) || len(t.places) == maxPlaces {
		return
	}
	if !slices.ContainsFunc(t.places, func(p cfi.Rule) bool { return p.Offset == r.Offset }) {
		t.places = append(t.places, r)
	}
}

// rows appends the pending rows to the output.
func (t *Text) rows() {
	columns := len(t.widths)
	start := 0
	for i, end := range t.ends {
		t.widths[i%columns] = max(t.widths[i%columns], end-start)
		start = end
	}
	start = 0
	for r := range t.marked {
		t.line(r, start)
		start = t.ends[(r+1)*columns-1]
	}
	t.cells, t.ends, t.marked, t.titled = t.cells[:0], t.ends[:0], t.marked[:0], false
}

const spaces = "                                                                "

// line appends pending row r. start is the offset of its cells.
func (t *Text) line(r, start int) {
	columns := len(t.widths)
	ends := t.ends[r*columns : (r+1)*columns]
	b := t.buf
	if t.marked[r] {
		b = t.Palette.Mark.Append(b, "> ")
	} else {
		b = append(b, "  "...)
	}
	for i, end := range ends {
		text := t.cells[start:end]
		ink := t.ink(r, i, text)
		b = append(b, ink.On...)
		b = append(b, text...)
		b = append(b, ink.Off...)
		if i < len(ends)-1 {
			pad := t.widths[i] - len(text) + 2
			for ; pad > len(spaces); pad -= len(spaces) {
				b = append(b, spaces...)
			}
			b = append(b, spaces[:pad]...)
		}
		start = end
	}
	t.buf = append(b, '\n')
}

// ink returns the colour of a cell. Cells that differ from the previous row stand out.
func (t *Text) ink(r, column int, text []byte) style.Ink {
	switch {
	case t.plain:
		return style.Ink{}
	case r == 0 && t.titled:
		return t.Palette.Header
	case column == 0 && t.marked[r]:
		return t.Palette.Mark
	case column == 1 || string(text) == noRule:
		return t.Palette.Dim
	case column == 0 || r == 0:
		return style.Ink{}
	}
	previous := (r-1)*len(t.widths) + column
	if string(t.cells[t.ends[previous-1]:t.ends[previous]]) == string(text) {
		return style.Ink{}
	}
	return t.Palette.Rule
}

// footnotes prints the operations of the expressions that cells identify by their place.
func (t *Text) footnotes() {
	for _, r := range t.places {
		t.buf = style.AppendHex(append(t.buf, "  "+expressionMark...), uint64(r.Offset))
		t.buf = append(t.buf, ": "...)
		t.buf = appendOperations(t.buf, t.rules.section, uint64(r.Offset), uint64(r.Register))
		t.buf = append(t.buf, '\n')
	}
}

// CIE prints nothing, because its rules are part of its functions' rows.
func (t *Text) CIE(io.Writer, *cfi.CIE) (fault, err error) { return nil, nil }

// Terminator prints nothing.
func (t *Text) Terminator(io.Writer, *cfi.Section, uint64) error { return nil }

// Fault prints the error of an entry in place of its table.
func (t *Text) Fault(w io.Writer, s *cfi.Section, offset uint64, fault error) error {
	return printFault(w, t.Palette, s, offset, fault)
}

func printFault(w io.Writer, p style.Palette, s *cfi.Section, offset uint64, fault error) error {
	line := "malformed entry at " + printable.Text(s.Name) + "+" + style.Hex(offset) + ": " + printable.Text(fault.Error())
	_, err := io.WriteString(w, p.Error.Text(line)+"\n\n")
	return err
}
