// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source

import (
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/leb128"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/table"
)

func (p *printer) arrayHeader() {
	order := "little-endian"
	if p.names.machine.Order == binary.BigEndian {
		order = "big-endian"
	}
	p.printf("/*\n")
	for _, line := range []string{
		"Unwind tables of " + withoutMarks.Replace(p.from()) + ", printed by",
		p.command + " --format=c: for each function an .eh_frame section, which holds for",
		"code laid out like the template's. Copy it to where it will stay, at most 2 GiB",
		"from the code, and fill in there, " + order + ":",
		"  at EH_FRAME_START_<name>, 4 bytes: the address of the code minus that of these bytes;",
		"  at EH_FRAME_SIZE_<name>, 4 bytes: the size of the code, where it is not the template's.",
		"A terminator of 4 zero bytes ends the section: __register_frame needs it. A",
		"reader that knows the section's size does not.",
	} {
		p.printf(" * %s\n", line)
	}
	p.printf(" */\n")
}

// array prints a section with the CIE and the FDE of a function. It decodes the section again
// to write comments.
func (p *printer) array(f *function) error {
	program, err := f.program(f.FDE.CIE)
	if err != nil {
		return err
	}
	e := cfi.Encoder{Machine: f.machine}
	if _, err := e.CIE(program.CIE); err != nil {
		return err
	}
	// The start is stored relative to its own place. This value makes it 0.
	start := uint64(len(e.Data)) + 8
	if err := e.Program(program, start, f.size); err != nil {
		return err
	}
	e.Terminator()
	s := &cfi.Section{Name: "array", Data: e.Data, Machine: f.machine}
	cie, err := s.CIEAt(0)
	if err != nil {
		return err
	}
	var fde cfi.FDE
	if err := s.FDEAt(cie.Size, &fde); err != nil {
		return err
	}

	p.comment("%s: %#x bytes of code, %s.", f.name, f.size, f.where())
	for _, left := range p.left(f) {
		p.comment("The template %s, which is left out here.", left.what)
	}
	p.printf("enum { EH_FRAME_START_%s = %#x, EH_FRAME_SIZE_%[1]s = %#[3]x };\n", f.identifier, start, start+4)
	p.printf("static const unsigned char eh_frame_%s[] = {\n", f.identifier)
	p.arrayCIE(cie)
	p.arrayFDE(f, &fde)
	p.bytes(e.Data[len(e.Data)-4:], "terminator")
	p.printf("};\n")
	return nil
}

// fields prints the bytes of an entry field by field.
type fields struct {
	p    *printer
	data []byte
}

func (f *fields) next(size int, format string, args ...any) {
	f.p.bytes(f.data[:size], fmt.Sprintf(format, args...))
	f.data = f.data[size:]
}

// leb128 returns the size of the next field, a LEB128 number.
func (f *fields) leb128() int { return leb128.Len(f.data) }

func (p *printer) arrayCIE(cie *cfi.CIE) {
	m := cie.Section.Machine
	f := &fields{p, cie.Section.Data[:cie.Size]}
	p.printf("\t/* CIE */\n")
	f.next(4, "length")
	f.next(4, "CIE id")
	f.next(1, "version")
	f.next(len(cie.Augmentation)+1, "augmentation \"%s\"", cie.Augmentation)
	f.next(f.leb128(), "code alignment factor %d", cie.CodeAlign)
	f.next(f.leb128(), "data alignment factor %d", cie.DataAlign)
	size := 1 // a byte in DWARF 2
	if cie.Version > 1 {
		size = f.leb128()
	}
	f.next(size, "return address: %s", m.RegisterName(cie.ReturnAddress))
	f.next(f.leb128(), "size of augmentation data")
	f.next(len(cie.AugmentationData), "pointers to code: %s", cie.PointerEncoding)
	p.instructions(cie.Decode(), cie, nil)
}

func (p *printer) arrayFDE(fn *function, fde *cfi.FDE) {
	f := &fields{p, fde.CIE.Section.Data[fde.Offset:][:fde.Size]}
	p.printf("\t/* FDE */\n")
	f.next(4, "length")
	f.next(4, "distance back to the CIE")
	f.next(4, "EH_FRAME_START_%s", fn.identifier)
	f.next(4, "EH_FRAME_SIZE_%s", fn.identifier)
	f.next(f.leb128(), "size of augmentation data")
	p.instructions(fde.Decode(), fde.CIE, fn)
}

// instructions prints call frame instructions of a CIE, or of the FDE of f.
func (p *printer) instructions(d cfi.Decoder, cie *cfi.CIE, f *function) {
	var ins cfi.Instruction
	at, padding := uint64(0), []byte(nil)
	for d.Next(&ins) {
		encoded := cie.Section.Data[ins.Offset:][:ins.Size]
		text := string(table.AppendInstruction(nil, cie.Section, &ins))
		switch ins.Op.Effect() {
		case cfi.EffectNone:
			padding = append(padding, encoded...)
			continue
		case cfi.EffectLocation:
			at += uint64(ins.Value(cie))
			text += fmt.Sprintf(": to +%#x", at)
			if code := f.codeBefore(at); len(code) > 0 {
				text += ", after " + printable.Text(code[len(code)-1].Text)
			}
		case cfi.EffectRegister:
			if ins.Op.Operands()&(cfi.OperandUnsigned|cfi.OperandSigned) != 0 {
				text += fmt.Sprintf(": CFA%+d", ins.Value(cie))
			}
		}
		p.bytes(encoded, text)
	}
	if len(padding) > 0 {
		p.bytes(padding, "DW_CFA_nop: padding")
	}
}

// bytesInLine is the number of bytes in a line of an array.
const bytesInLine = 8

// bytes prints bytes of an array, with a remark after the first line.
func (p *printer) bytes(b []byte, remark string) {
	for first := true; len(b) > 0; first = false {
		n := min(len(b), bytesInLine)
		text := hexList(b[:n]) + ","
		if first {
			p.printf("\t%-*s %s\n", bytesInLine*len("0x00, ")-1, text, p.remark(remark))
		} else {
			p.printf("\t%s\n", text)
		}
		b = b[n:]
	}
}
