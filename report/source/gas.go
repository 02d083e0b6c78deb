// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
)

func (p *printer) gasHeader() {
	p.comment("Unwind tables of %s, printed by", p.from())
	p.comment("%s --format=asm. A .skip stands for code of the function described here: put", p.command)
	p.comment("yours in its place. A directive holds from the instruction after it on.")
	if p.unlinked() {
		p.comment("The code is not linked: where its branches lead to is not yet known.")
	}
	switch {
	case p.names.kinds[cfi.EHFrame] && p.names.kinds[cfi.DebugFrame]:
		p.printf("\t.cfi_sections .eh_frame, .debug_frame\n")
	case p.names.kinds[cfi.DebugFrame]:
		p.printf("\t.cfi_sections .debug_frame\n")
	}
	p.printf("\t.text\n")
}

// gas prints the directives of a function.
func (p *printer) gas(f *function) error {
	if f.codeAlign != f.machine.CodeAlign || f.dataAlign != f.machine.DataAlign {
		return fmt.Errorf("gas has the factors %d for code and %d for data, which do not divide its offsets",
			f.machine.CodeAlign, f.machine.DataAlign)
	}
	cie := f.FDE.CIE
	p.comment("%s: %#x bytes of code, %s.", f.name, f.size, f.where())
	p.printf("\t.type\t%s, %%function\n%[1]s:\n", f.identifier)
	if f.entry {
		p.printf("\t.cfi_startproc\n")
	} else {
		p.printf("\t.cfi_startproc simple\n")
	}
	if err := p.gasCIE(f, cie); err != nil {
		return err
	}
	at := uint64(0)
	for i := range f.steps {
		s := &f.steps[i]
		if s.at != at {
			p.gasCode(f, at, s.at)
			at = s.at
		}
		if err := p.directive(f.stepTable, s); err != nil {
			return err
		}
	}
	p.gasCode(f, at, f.size)
	p.printf("\t.cfi_endproc\n\t.size\t%s, .-%[1]s\n", f.identifier)
	return nil
}

// gasCIE prints the directives for the CIE.
func (p *printer) gasCIE(f *function, cie *cfi.CIE) error {
	if cie.ReturnAddress != uint64(f.machine.ReturnAddress) {
		p.printf("\t.cfi_return_column %s\n", p.gasRegister(cie.ReturnAddress))
	}
	if cie.SignalFrame {
		p.printf("\t.cfi_signal_frame\n")
	}
	if cie.BKey {
		p.printf("\t.cfi_b_key_frame\n")
	}
	if cie.MTETagged {
		p.indented("\t", "Where your assembler knows it: .cfi_mte_tagged_frame")
	}
	for _, left := range p.left(f) {
		p.indented("\t", "The template %s:", left.what)
		p.indented("\t", "%s", left.directive)
	}
	if !f.entry {
		for i := range f.initial {
			if err := p.directive(f.stepTable, &f.initial[i]); err != nil {
				return err
			}
		}
	}
	// gas puts all rules before the first advance into the CIE, and .cfi_restore would restore
	// them. An escape ends the CIE.
	restores := slices.ContainsFunc(f.steps, func(s step) bool { return s.op == cfi.CFARestore })
	if restores && f.steps[0].at == 0 {
		p.printf("\t.cfi_escape 0x00\t%s\n", p.remark("DW_CFA_nop: .cfi_restore means the rules above it"))
	}
	return nil
}

// gasCode prints a placeholder for the code between two offsets of the function, and the
// template's instructions there as comments.
func (p *printer) gasCode(f *function, from, to uint64) {
	lines := f.codeBefore(to)
	for i := range lines {
		p.indented("\t", "+%#-6x %s", lines[i].Address-f.FDE.Start, strings.TrimSpace(printable.Text(lines[i].Text)))
	}
	p.printf("\t.skip\t%d", to-from)
	if len(lines) == 0 {
		p.printf("\t%s", p.remark(fmt.Sprintf("+%#x", from)))
	}
	p.out.WriteByte('\n')
}

// directive prints a step as a directive, or as an escape if there is no directive for it.
func (p *printer) directive(t *stepTable, s *step) error {
	name := t.method(s.op).directive
	if name == "" {
		return p.escape(t, s)
	}
	var arguments []string
	var names []string // of registers that gas takes only as numbers
	register := func(column uint64) {
		arguments = append(arguments, p.gasRegister(column))
		if _, ok := gasName(t.machine, column); !ok {
			names = append(names, fmt.Sprintf("%d is %s", column, t.machine.RegisterName(column)))
		}
	}
	operands := s.op.Operands()
	if operands&cfi.OperandRegister != 0 {
		register(s.register)
	}
	if operands&cfi.OperandUnsigned != 0 {
		arguments = append(arguments, strconv.FormatInt(s.offset, 10))
	}
	if operands&cfi.OperandRegister2 != 0 {
		register(s.register2)
	}
	p.printf("\t%s", strings.TrimRight(name+" "+strings.Join(arguments, ", "), " "))
	if len(names) > 0 {
		p.printf("\t%s", p.remark(strings.Join(names, ", ")))
	}
	p.out.WriteByte('\n')
	return nil
}

// escape prints a step as bytes.
func (p *printer) escape(t *stepTable, s *step) error {
	b := cfi.NewBuilder(cfi.NewCIE(t.machine))
	first := *s
	first.at = 0 // needs no advance
	t.build(b, []step{first})
	program, err := b.Program()
	if err != nil {
		return err
	}
	text := s.text
	if text == "" {
		text = fmt.Sprintf("%s %d", s.op.Name(t.machine), uint64(s.offset))
	}
	p.indented("\t", "%s", printable.Text(text))
	if s.absolute {
		p.indented("\t", "The address in this expression is one of the template's file.")
	}
	for line := range slices.Chunk(program.Instructions, 2*bytesInLine) {
		p.printf("\t.cfi_escape %s\n", hexList(line))
	}
	return nil
}

// gasOf returns the syntax of GNU as for a machine. For machines without a description, it
// takes columns as numbers. The names of s390's floating-point registers are omitted, because
// gas 2.40 takes %f2 for column 18, where the psABI has f4.
func gasOf(m *arch.Machine) *arch.Assembler {
	if m.Assembler != nil {
		return m.Assembler
	}
	return &arch.Assembler{Comment: "#"}
}

// gasName returns the name of a column, and false if gas takes only its number.
func gasName(m *arch.Machine, column uint64) (string, bool) {
	g := gasOf(m)
	if column >= uint64(g.Named) || slices.Contains(g.Unnamed, column) {
		return "", false
	}
	name := m.RegisterName(column)
	if name == fmt.Sprintf("r%d", column) && column >= uint64(g.Numbered) {
		return "", false
	}
	return g.Prefix + name, true
}

// gasRegister returns the name or number of a column in directives.
func (p *printer) gasRegister(column uint64) string {
	if name, ok := gasName(p.names.machine, column); ok {
		return name
	}
	return strconv.FormatUint(column, 10)
}
