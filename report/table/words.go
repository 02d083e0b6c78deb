// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// sentence is the text on one rule.
type sentence struct {
	text string
	from string // the instruction that set the rule, or the reason for it; "" omits it
}

// Words writes the explanation for people: a sentence for each rule, with the instruction that
// set it. width is the width of the terminal, or 0 for no limit.
func (e *Explanation) Words(w io.Writer, p style.Palette, width int) error {
	var b strings.Builder
	fde := e.Function.FDE
	s := fde.CIE.Section
	fmt.Fprintf(&b, "%s is in %s, row %d of %d (%#x-%#x) of the FDE at %s\n",
		p.Mark.Text(style.Hex(e.Address)), p.Name.Text(e.Place()), e.Index, e.Rows, e.Start, e.End, place(s, fde.Offset))
	if fde.CIE.SignalFrame {
		b.WriteString("This is a signal frame: its return address is the address of the next instruction, not after a call.\n")
	}
	b.WriteByte('\n')
	for _, s := range e.sentences() {
		line := "  " + s.text
		if s.from == "" {
			for wrapped := range wrap(line, width) {
				b.WriteString(wrapped + "\n")
			}
			continue
		}
		separator := " "
		if width > 0 && len(line)+len(s.from)+3 > width {
			separator = "\n      "
		}
		b.WriteString(line + separator + p.Dim.Text("("+s.from+")") + "\n")
	}
	for i := range e.Also {
		f := &e.Also[i]
		also := fmt.Sprintf("the FDE at %s, for %s, covers this address too; unwinders differ in which FDE they use",
			place(f.FDE.CIE.Section, f.FDE.Offset), f.Name())
		for wrapped := range wrap("  "+also, width) {
			b.WriteString(p.Error.Text(wrapped) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Uncovered is an address that no FDE covers, with the nearest functions that have an FDE: nil
// if there is none on that side.
type Uncovered struct {
	Address       uint64
	Before, After *Function
}

// String returns a line about the address and a line for each of the nearest functions.
func (u *Uncovered) String() string {
	text := fmt.Sprintf("no FDE covers %#x", u.Address)
	near := func(where string, f *Function) {
		if f != nil {
			text += fmt.Sprintf("\n  %s: %s, %#x-%#x", where, f.Name(), f.FDE.Start, f.FDE.End)
		}
	}
	near("before", u.Before)
	near("after", u.After)
	return text
}

// Place returns the address relative to the function's name: "main+0x27".
func (e *Explanation) Place() string {
	f := e.Function
	delta := e.Address - f.FDE.Start
	switch {
	case f.Symbol != "":
		f.Offset += delta
		return f.Name()
	case f.Region != "":
		return fmt.Sprintf("%s+%#x", f.Name(), delta)
	}
	return fmt.Sprintf("the function at %#x-%#x", f.FDE.Start, f.FDE.End)
}

func place(s *cfi.Section, offset uint64) string {
	return printable.Text(s.Name) + "+" + style.Hex(offset)
}

// sentences returns the sentences on all rules, the most important ones first.
func (e *Explanation) sentences() []sentence {
	fde := e.Function.FDE
	m := fde.CIE.Section.Machine
	list := []sentence{{e.cfaWords(), e.origin(e.CFA.From)}, e.returnAddressWords()}
	for _, r := range e.Registers {
		if r.Column != fde.CIE.ReturnAddress {
			list = append(list, sentence{e.registerWords(m.RegisterName(r.Column), r), e.origin(r.From)})
		}
	}
	if sp := m.StackPointer; sp >= 0 {
		if _, ok := e.Register(uint64(sp)); !ok {
			list = append(list, sentence{fmt.Sprintf("%s in the caller is %s", m.RegisterName(uint64(sp)), cfaPlus(-m.CFAOffset)), "no rule: by the definition of the CFA"})
		}
	}
	if e.ArgumentsSize > 0 {
		list = append(list, sentence{fmt.Sprintf("%d bytes of arguments are pushed for a call", e.ArgumentsSize), ""})
	}
	if kept := e.unchanged(); kept != "" {
		list = append(list, sentence{kept, ""})
	}
	return list
}

// origin names the instruction that set a rule.
func (e *Explanation) origin(o Origin) string {
	if !o.Set {
		return ""
	}
	fde := e.Function.FDE
	s := fde.CIE.Section
	entry, at := "FDE", fde.Offset
	if o.InCIE {
		entry, at = "CIE", fde.CIE.Offset
	}
	return fmt.Sprintf("%s at %s of the %s at %s", o.Op.Name(s.Machine), place(s, o.Offset), entry, place(s, at))
}

func cfaPlus(offset int64) string {
	if offset == 0 {
		return "the CFA"
	}
	return fmt.Sprintf("CFA%+d", offset)
}

func (e *Explanation) cfaWords() string {
	s := e.Function.FDE.CIE.Section
	n := notation{section: s}
	switch r := e.CFA.Rule; r.Kind {
	case cfi.Register:
		return "the CFA is " + string(n.appendCFA(nil, r))
	case cfi.ValExpression:
		return "the CFA is " + e.formula(r, "")
	}
	return "the CFA is not defined: nothing can be recovered here"
}

// formula returns the formula of an expression, or its operations if the formula is not
// clearer. cfa is the name of the CFA, or "" in the expression of the CFA.
func (e *Explanation) formula(r cfi.Rule, cfa string) string {
	s := e.Function.FDE.CIE.Section
	var x infix
	if text, ok := x.append(nil, s, r, cfa); ok {
		return string(text)
	}
	return "the result of the operations " + string(appendOperations(nil, s, uint64(r.Offset), uint64(r.Register)))
}

func (e *Explanation) returnAddressWords() sentence {
	cie := e.Function.FDE.CIE
	name := cie.Section.Machine.RegisterName(cie.ReturnAddress)
	r, ok := e.Register(cie.ReturnAddress)
	signed := ""
	if e.Signed {
		signed = ", signed (pointer authentication)"
	}
	switch {
	case !ok:
		return sentence{"the return address is still in " + name + signed, "no rule"}
	case r.Rule.Kind == cfi.Undefined:
		return sentence{"the return address is undefined: this is the outermost frame", e.origin(r.From)}
	case r.Rule.Kind == cfi.SameValue:
		return sentence{"the return address is still in " + name + signed, e.origin(r.From)}
	}
	return sentence{e.registerWords("the return address", r) + signed, e.origin(r.From)}
}

func (e *Explanation) registerWords(name string, r Explained) string {
	m := e.Function.FDE.CIE.Section.Machine
	switch r.Rule.Kind {
	case cfi.Undefined:
		return name + " is undefined: its value is lost"
	case cfi.SameValue:
		return name + " is unchanged"
	case cfi.Offset:
		return name + " is saved at " + cfaPlus(r.Rule.Offset)
	case cfi.ValOffset:
		return name + " was " + cfaPlus(r.Rule.Offset)
	case cfi.Register:
		return name + " is in " + m.RegisterName(uint64(r.Rule.Register))
	case cfi.Expression:
		return name + " is saved at " + e.formula(r.Rule, "CFA")
	case cfi.ValExpression:
		return name + " was " + e.formula(r.Rule, "CFA")
	}
	return name + " has no rule"
}

// maxNamedColumn limits the search for registers that the ABI preserves.
const maxNamedColumn = 128

// unchanged returns a sentence on the registers that the ABI preserves and that have no rule.
func (e *Explanation) unchanged() string {
	cie := e.Function.FDE.CIE
	m := cie.Section.Machine
	var columns []uint64
	for c := range uint64(maxNamedColumn) {
		_, hasRule := e.Register(c)
		if !hasRule && int64(c) != int64(m.StackPointer) && c != cie.ReturnAddress && m.CalleeSaved(c) {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 {
		return ""
	}
	verb := "have"
	if len(columns) == 1 {
		verb = "has"
	}
	var names []string
	for len(columns) > 0 {
		n := 1 // consecutive columns
		for n < len(columns) && columns[n] == columns[n-1]+1 {
			n++
		}
		first, last := m.RegisterName(columns[0]), m.RegisterName(columns[n-1])
		switch n {
		case 1:
			names = append(names, first)
		case 2:
			names = append(names, first, last)
		default:
			names = append(names, first+" to "+last)
		}
		columns = columns[n:]
	}
	// The table does not say whether the function has another calling convention, as in Go.
	return enumerate(names) + " " + verb + " no rule: unchanged, if the function follows the ABI of " + m.Name
}

func enumerate(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}

// wrap yields the lines of a text, at most width columns wide if the words allow it. Lines
// after the first are indented.
func wrap(text string, width int) iter.Seq[string] {
	return func(yield func(string) bool) {
		const indent = "      "
		for width > len(indent) && len(text) > width {
			at := strings.LastIndexByte(text[:width+1], ' ')
			if at <= len(indent) {
				break
			}
			if !yield(text[:at]) {
				return
			}
			text = indent + text[at+1:]
		}
		yield(text)
	}
}
