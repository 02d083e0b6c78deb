// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package tablecheck

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/clewdev/clew/arch/disasm"
	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/check/survey"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// Text prints results for people.
type Text struct {
	Palette style.Palette
	Paths   bool // print the path to each finding
	Brief   bool // omit parts of which nothing was checked
}

// Result prints the findings of a part, by function, and what was checked.
func (t *Text) Result(w io.Writer, r *survey.Result) error {
	if r.Failed || t.Brief && r.Functions == 0 && len(r.Findings) == 0 {
		return nil
	}
	var b strings.Builder
	t.heading(&b, r)
	for i := range r.Findings {
		f := r.Findings[i]
		f.Complete() // the details of a large report exist one at a time
		if i == 0 || f.Function != r.Findings[i-1].Function || f.Function == 0 {
			t.function(&b, r.Part, &f)
		}
		t.finding(&b, r.Part, &f)
		if b.Len() > maxText {
			if _, err := io.WriteString(w, b.String()); err != nil {
				return err
			}
			b.Reset()
		}
	}
	if len(r.Findings) > 0 {
		b.WriteByte('\n')
	}
	counters(&b, &r.Counters)
	_, err := io.WriteString(w, b.String())
	return err
}

// maxText is the text that is kept before it is written, in bytes.
const maxText = 1 << 16

// End prints the sum of several results.
func (t *Text) End(w io.Writer, total *Total) error {
	if total.Parts < 2 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nall: %s in %s%s\n", findings(total.Findings), style.Count(total.Functions, "function"), known(total.Known))
	counters(&b, &total.Counters)
	_, err := io.WriteString(w, b.String())
	return err
}

func findings(n int) string {
	if n == 0 {
		return "no findings"
	}
	return style.Count(n, "finding")
}

func known(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s of the baseline", style.Count(n, "finding"))
}

// heading prints a line for the part and one for each kind of finding.
func (t *Text) heading(b *strings.Builder, r *survey.Result) {
	name := r.Name
	if r.Listed() {
		name = fmt.Sprintf("%v, %s", r.Generated, r.Name)
	}
	fmt.Fprintf(b, "%s: %s in ", t.Palette.Header.Text(printable.Text(name)), findings(len(r.Findings)))
	if r.Defective > 0 {
		fmt.Fprintf(b, "%s of ", style.Grouped(uint64(r.Defective)))
	}
	fmt.Fprintf(b, "%s%s\n", style.Count(r.Functions, "function"), known(len(r.Known)))
	type kind struct {
		findings  int
		functions map[uint64]bool
	}
	kinds := map[check.Kind]*kind{}
	for i := range r.Findings {
		f := &r.Findings[i]
		k := kinds[f.Kind]
		if k == nil {
			k = &kind{functions: map[uint64]bool{}}
			kinds[f.Kind] = k
		}
		k.findings++
		if f.Function != 0 {
			k.functions[f.Function] = true
		}
	}
	for n := check.Kind(0); len(kinds) > 0; n++ {
		k := kinds[n]
		if k == nil {
			continue
		}
		delete(kinds, n)
		in := ""
		if len(k.functions) > 0 {
			in = " in " + style.Count(len(k.functions), "function")
		}
		fmt.Fprintf(b, "  %s: %s%s\n", n, style.Grouped(uint64(k.findings)), in)
	}
	if !t.Brief {
		for i := range r.Notes {
			note(b, r.Part, &r.Notes[i])
		}
	}
}

// note prints a line for a note.
func note(b *strings.Builder, p *survey.Part, n *check.Note) {
	fmt.Fprintf(b, "  note: %s", n.Kind)
	switch n.Kind {
	case check.NoTerminator:
		b.WriteByte('\n')
		return
	case check.NoEntry:
		fmt.Fprintf(b, ": %s in %s", style.Count(int(n.Bytes), "byte"), style.Count(n.Count, "place"))
	default:
		fmt.Fprintf(b, ": %s", style.Grouped(uint64(n.Count)))
	}
	separator := ", "
	if len(n.Places) > 1 {
		separator = ":\n    "
	}
	for _, place := range n.Places {
		fmt.Fprintf(b, "%sat %s", separator, style.Hex(p.Shown(place.Address)))
		if place.Name != "" {
			fmt.Fprintf(b, " %s", shownName(place.Name))
		}
		separator = ", "
	}
	if n.Count > len(n.Places) {
		b.WriteString(", …")
	}
	b.WriteByte('\n')
}

// function prints the function of the next findings.
func (t *Text) function(b *strings.Builder, p *survey.Part, f *check.Finding) {
	b.WriteByte('\n')
	if f.Function == 0 {
		return
	}
	fmt.Fprintf(b, "  %s  %s%s\n", t.Palette.Name.Text(functionName(f)), style.Hex(p.Shown(f.Function)), t.place(p, f.Function))
}

// shownName returns a symbol as a line shows it. A hostile file has names of megabytes.
func shownName(symbol string) string {
	return printable.Shortened(printable.Text(style.Demangle(symbol)), printable.MaxName)
}

func functionName(f *check.Finding) string {
	return cmp.Or(shownName(f.Name), "function without a name")
}

// place returns the source line of an address, after two spaces; "" if it is not known.
func (t *Text) place(p *survey.Part, address uint64) string {
	l := locate(p, address)
	if l == nil {
		return ""
	}
	return "  " + t.Palette.Source.Text(fmt.Sprintf("%s:%d", printable.Text(filepath.Base(l.File)), l.Line))
}

func (t *Text) finding(b *strings.Builder, p *survey.Part, f *check.Finding) {
	place := style.Hex(p.Shown(f.Address))
	if f.Function != 0 {
		place = fmt.Sprintf("+%s  %s%s", style.Hex(f.Address-f.Function), place, t.place(p, f.Address))
	}
	if f.Count > 1 {
		place += fmt.Sprintf(" (%s)", style.Count(f.Count, "instruction"))
	}
	fmt.Fprintf(b, "    %s\n      %s\n", place, printable.Text(defect(f)))
	t.code(b, p, f)
	if f.Fix != "" {
		fmt.Fprintf(b, "      fix: %s before %s\n", t.Palette.Rule.Text(f.Fix), style.Hex(p.Shown(f.Address)))
	}
	if t.Paths && len(f.Path) > 0 {
		b.WriteString("      path:\n")
		for _, s := range f.Path {
			fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("        %s  CFA %s  %s", style.Hex(p.Shown(s.Address)), cmp.Or(s.CFA, "unknown"), s.Saved), " "))
		}
	}
}

// maxInstruction is the most bytes that an instruction can have.
const maxInstruction = 16

// instruction returns the instruction at an address, disassembled; "" if that is not possible.
func instruction(p *survey.Part, address uint64) string {
	if p.Machine == nil || p.Code == nil || !disasm.Known(p.Machine) {
		return ""
	}
	var code [maxInstruction]byte
	for n := len(code); n > 0; n-- { // the code can end after it
		if p.Code.ReadMemory(code[:n], address) == nil {
			text, _ := disasm.Decode(p.Machine, code[:n], p.Shown(address), func(target uint64) (string, uint64) { return p.Symbol(address, target) })
			return text
		}
	}
	return ""
}

// code prints the instructions around a finding, with the rules of the table and of the code.
func (t *Text) code(b *strings.Builder, p *survey.Part, f *check.Finding) {
	if len(f.Around) == 0 {
		return
	}
	const (
		byTable, byCode = "table", "code"
		maxWidth        = 44
	)
	texts := make([]string, len(f.Around))
	textWidth, tableWidth := 0, len(byTable)
	for i, l := range f.Around {
		texts[i] = instruction(p, l.Address)
		textWidth = max(textWidth, utf8.RuneCountInString(texts[i]))
		tableWidth = max(tableWidth, len(l.Table))
	}
	textWidth = min(textWidth, maxWidth)
	addressWidth := len(style.Hex(p.Shown(f.Around[len(f.Around)-1].Address)))
	line := func(mark, address, text, table, code string) string {
		return strings.TrimRight(fmt.Sprintf("      %s %-*s  %-*s  %-*s  %s", mark, addressWidth, address, textWidth, text, tableWidth, table, code), " ")
	}
	fmt.Fprintln(b, t.Palette.Dim.Text(line(" ", "", "", byTable, byCode)))
	for i, l := range f.Around {
		mark, ink := " ", style.Ink{}
		if l.Address == f.Address {
			mark, ink = ">", t.Palette.Mark
		}
		fmt.Fprintln(b, ink.Text(line(mark, style.Hex(p.Shown(l.Address)), texts[i], l.Table, l.Code)))
	}
}

// counters prints what was decided.
func counters(b *strings.Builder, c *check.Counters) {
	if c.Instructions == 0 {
		return
	}
	fmt.Fprintf(b, "  %s: %s agree, %s disagree, %s undecided (%.2f%% decided)\n",
		style.Count(c.Instructions, "instruction"), style.Grouped(uint64(c.Agree)), style.Grouped(uint64(c.Disagree)),
		style.Grouped(uint64(c.Undecided)), 100*float64(c.Agree+c.Disagree)/float64(max(1, c.Instructions)))
	for reason, n := range c.Reasons {
		if n > 0 {
			fmt.Fprintf(b, "    %s: %s\n", style.Grouped(uint64(n)), check.Reason(reason))
		}
	}
}
