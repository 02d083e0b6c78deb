// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"go/format"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
)

func (p *printer) goHeader() {
	p.comment("Unwind tables of %s, printed by %s --format=go.", p.from(), p.command)
	p.comment("At takes an offset in the code described here, in bytes: that of the end of the")
	p.comment("instruction above it. Change it where your code differs.")
	p.printf("\npackage main // change it to yours\n\nimport (\n\t\"debug/elf\"\n\n")
	p.printf("\t\"github.com/clewdev/clew/arch\"\n\t\"github.com/clewdev/clew/cfi\"\n)\n\n")
	p.comment("machine is what the tables are for.")
	p.printf("var machine = %s\n", goMachine(p.names.machine))
}

// goMachine returns the expression for a machine.
func goMachine(m *arch.Machine) string {
	name := "elf." + m.ELF.String()
	if !strings.HasPrefix(name, "elf.EM_") {
		name = fmt.Sprintf("elf.Machine(%d)", uint16(m.ELF))
	}
	class, data := "elf.ELFCLASS64", "elf.ELFDATA2LSB"
	if m.Class == elf.ELFCLASS32 {
		class = "elf.ELFCLASS32"
	}
	order := elf.ELFDATA2LSB
	if m.Order == binary.BigEndian {
		order, data = elf.ELFDATA2MSB, "elf.ELFDATA2MSB"
	}
	const n32 = 0x20 // EF_MIPS_ABI2
	if arch.Lookup(m.ELF, m.Class, order) != m && arch.LookupFlags(m.ELF, m.Class, order, n32) == m {
		return fmt.Sprintf("arch.LookupFlags(%s, %s, %s, %#x)", name, class, data, n32)
	}
	return fmt.Sprintf("arch.Lookup(%s, %s, %s)", name, class, data)
}

// golang prints a function that builds the table.
func (p *printer) golang(f *function) error {
	// The builder must accept the table, because the author's program uses it.
	if _, err := f.program(f.FDE.CIE); err != nil {
		return err
	}
	from := p.out.Len()
	p.comment("%sUnwind returns the unwind table of", f.identifier)
	p.comment("%s: %#x bytes of code, %s.", f.name, f.size, f.where())
	p.printf("func %sUnwind() (*cfi.Program, error) {\n", f.identifier)
	p.goCIE(f)
	at := uint64(0)
	for i := range f.steps {
		s := &f.steps[i]
		p.absolute(s)
		receiver := "b"
		if s.at != at {
			at = s.at
			if code := f.codeBefore(at); len(code) > 0 {
				p.comment("%s", printable.Text(code[len(code)-1].Text))
			}
			receiver = fmt.Sprintf("b.At(%#x)", at)
		}
		p.goCall(receiver, f.stepTable, s)
	}
	p.printf("return b.Program()\n}\n")
	text, err := format.Source(p.out.Bytes()[from:])
	if err != nil {
		return err
	}
	p.out.Truncate(from)
	p.out.Write(text)
	return nil
}

// goCIE prints the construction of the builder, from EntryCIE if this is sufficient.
func (p *printer) goCIE(f *function) {
	cie, m := f.FDE.CIE, f.machine
	var fields []string
	field := func(different bool, format string, value any) {
		if different {
			fields = append(fields, fmt.Sprintf(format, value))
		}
	}
	field(f.codeAlign != m.CodeAlign, "CodeAlign = %d", f.codeAlign)
	field(f.dataAlign != m.DataAlign, "DataAlign = %d", f.dataAlign)
	field(cie.ReturnAddress != uint64(m.ReturnAddress), "ReturnAddress = %d", cie.ReturnAddress)
	field(cie.SignalFrame, "SignalFrame = %t", true)
	field(cie.BKey, "BKey = %t", true)
	field(cie.MTETagged, "MTETagged = %t", true)
	left := p.left(f)
	if len(left)+len(fields) == 0 && f.entry {
		p.printf("b := cfi.NewBuilder(cfi.EntryCIE(machine))\n")
		return
	}
	p.printf("cie := cfi.NewCIE(machine)\n")
	for _, field := range fields {
		p.printf("cie.%s\n", field)
	}
	for _, left := range left {
		p.comment("The template %s:", left.what)
		p.comment("set %s to yours.", left.fields)
	}
	p.printf("b := cfi.NewBuilder(cie)\n")
	if len(f.initial) == 0 {
		return
	}
	for i := range f.initial {
		p.absolute(&f.initial[i])
		p.goCall("b", f.stepTable, &f.initial[i])
	}
	p.printf("cie, err := b.CIE()\nif err != nil {\nreturn nil, err\n}\nb = cfi.NewBuilder(cie)\n")
}

// absolute prints a warning about an address in an expression.
func (p *printer) absolute(s *step) {
	if s.absolute {
		p.comment("The address in this expression is one of the template's file.")
	}
}

// goCall prints the call of the builder's method for a step.
func (p *printer) goCall(receiver string, t *stepTable, s *step) {
	var arguments, remarks []string
	name, operands := t.method(s.op).name, s.op.Operands()
	register := func(column uint64) {
		arguments = append(arguments, strconv.FormatUint(column, 10))
		remarks = append(remarks, t.machine.RegisterName(column))
	}
	if operands&cfi.OperandRegister != 0 {
		register(s.register)
	}
	switch {
	case s.op.Effect() == cfi.EffectArguments:
		arguments = append(arguments, strconv.FormatUint(uint64(s.offset), 10))
	case operands&cfi.OperandUnsigned != 0:
		arguments = append(arguments, strconv.FormatInt(s.offset, 10))
	}
	if operands&cfi.OperandRegister2 != 0 {
		register(s.register2)
	}
	if operands&cfi.OperandExpression != 0 {
		arguments = append(arguments, "[]byte{"+hexList(s.expression)+"}")
		_, text, _ := strings.Cut(s.text, " ") // after the name of the instruction
		remarks = []string{text}
	}
	if name == "" {
		ins := t.instruction(s)
		name, remarks = "Instruction", []string{s.text}
		arguments = []string{fmt.Sprintf("cfi.Instruction{Op: %#x, Register: %d, Register2: %d, Operand: %d}",
			uint8(ins.Op), ins.Register, ins.Register2, ins.Operand)}
	}
	p.printf("%s.%s(%s)", receiver, name, strings.Join(arguments, ", "))
	if remark := strings.Join(remarks, ", "); remark != "" {
		p.printf(" %s", p.remark(printable.Text(remark)))
	}
	p.out.WriteByte('\n')
}

// hexList returns bytes in the syntax of C and Go: "0x0c, 0x07".
func hexList(b []byte) string {
	const digits = "0123456789abcdef"
	text := make([]byte, 0, len("0x00, ")*len(b))
	for i, c := range b {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = append(text, '0', 'x', digits[c>>4], digits[c&15])
	}
	return string(text)
}
