// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// Source writes the instructions of the function with its rows next to them. The first row has
// all its rules, the others have the changed ones. The instruction at the explained address is
// marked. text reads lines of source code and may be nil.
func (e *Explanation) Source(w io.Writer, p style.Palette, lines []CodeLine, text *style.SourceFiles) error {
	rows := e.rowChanges()
	width := 0
	for i := range lines {
		width = max(width, utf8.RuneCountInString(lines[i].Text))
	}
	width = min(width, 48)
	addressWidth := len(style.Hex(e.Function.FDE.End))
	offsetWidth := len(style.Hex(e.Function.FDE.End-e.Function.FDE.Start)) + 1
	b := bufio.NewWriter(w)
	file, number := "", 0
	next := 0 // the row that starts next
	for i := range lines {
		l := &lines[i]
		if l.Line > 0 && (l.File != file || l.Line != number) {
			file, number = l.File, l.Line
			where := fmt.Sprintf("%s:%d", printable.Text(filepath.Base(file)), number)
			b.WriteString(p.Source.Text(strings.TrimRight(where+"  "+text.Line(file, number), " ")) + "\n")
		}
		mark, ink := "  ", style.Ink{}
		if l.Address <= e.Address && e.Address-l.Address < uint64(l.Size) {
			mark, ink = "> ", p.Mark
		}
		edge, rules := "│", ""
		if next < len(rows) && rows[next].start <= l.Address {
			edge, rules = "├", "  "+p.Rule.Text(rows[next].text)
			next++
		}
		pad := max(width-utf8.RuneCountInString(l.Text), 0)
		fmt.Fprintf(b, "%s%s  %s  %s  %s%s\n",
			ink.On+mark, fmt.Sprintf("%-*s", addressWidth, style.Hex(l.Address))+ink.Off,
			p.Dim.Text(fmt.Sprintf("%-*s", offsetWidth, "+"+style.Hex(l.Address-e.Function.FDE.Start))),
			l.Text+spaces[:pad], p.Dim.Text(edge), rules)
		// A row that starts inside of an instruction is probably an error.
		for next < len(rows) && rows[next].start < l.Address+uint64(l.Size) {
			r := rows[next]
			next++
			fmt.Fprintf(b, "  %*s  %s\n", addressWidth+offsetWidth+width+4, "", p.Error.Text(
				fmt.Sprintf("├  %s (from %#x, inside of this instruction)", r.text, r.start)))
		}
	}
	return b.Flush()
}

// rowChange is the changed rules of a row.
type rowChange struct {
	start uint64
	text  string
}

// rowChanges returns the rules of each row that differ from the previous row.
func (e *Explanation) rowChanges() (list []rowChange) {
	fde := e.Function.FDE
	s := fde.CIE.Section
	n := notation{section: s}
	var x cfi.Interpreter
	var previous cfi.Row
	for row := range x.Rows(fde) {
		var parts []string
		if row.CFA != previous.CFA || list == nil {
			parts = append(parts, "CFA="+string(n.appendCFA(nil, row.CFA)))
		}
		for _, r := range row.Registers {
			if previous.Register(uint64(r.Column)) != r.Rule {
				parts = append(parts, e.columnName(r.Column)+"="+string(n.appendRule(nil, r.Rule)))
			}
		}
		for _, r := range previous.Registers {
			if row.Register(uint64(r.Column)).Kind == cfi.Unspecified {
				parts = append(parts, e.columnName(r.Column)+": no rule")
			}
		}
		previous = cfi.Row{CFA: row.CFA, Registers: append(previous.Registers[:0], row.Registers...)}
		list = append(list, rowChange{row.Start, strings.Join(parts, " ")})
		if len(list) == maxCode {
			break
		}
	}
	return list
}

// columnName returns the name of a column in the heading of tables.
func (e *Explanation) columnName(column uint32) string {
	cie := e.Function.FDE.CIE
	if uint64(column) == cie.ReturnAddress {
		return "ra"
	}
	return cie.Section.Machine.RegisterName(uint64(column))
}
