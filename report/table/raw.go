// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"io"
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// RawText prints the entries of sections as they are stored, for people: a
// line or two for the entry, and a line for each instruction with what it
// does. It is reused from one entry to the next, and not safe for concurrent use.
type RawText struct {
	Palette style.Palette

	interpreter cfi.Interpreter
	rules       notation
	buf         []byte
}

// CIE prints a CIE. See [Printer] for the errors.
func (t *RawText) CIE(w io.Writer, cie *cfi.CIE) (fault, err error) {
	m := cie.Section.Machine
	b := t.entry(cie.Section, cie.Offset, "CIE")
	b = append(b, "  version "...)
	b = strconv.AppendUint(b, uint64(cie.Version), 10)
	b = append(b, "  augmentation "...)
	b = strconv.AppendQuoteToASCII(b, cie.Augmentation)
	b = append(b, "  code align "...)
	b = strconv.AppendUint(b, cie.CodeAlign, 10)
	b = append(b, "  data align "...)
	b = strconv.AppendInt(b, cie.DataAlign, 10)
	b = append(b, "  return address "...)
	b = m.AppendRegisterName(b, cie.ReturnAddress)
	if cie.DWARF64 {
		b = append(b, "  DWARF64"...)
	}
	if int(cie.AddressSize) != m.AddressSize {
		b = append(b, "  address size "...)
		b = strconv.AppendUint(b, uint64(cie.AddressSize), 10)
	}
	if cie.SegmentSize != 0 {
		b = append(b, "  segment size "...)
		b = strconv.AppendUint(b, uint64(cie.SegmentSize), 10)
	}
	if cie.PointerEncoding != cfi.EncAbsptr {
		b = append(append(b, "  pointers "...), cie.PointerEncoding.String()...)
	}
	if cie.LSDAEncoding != cfi.EncOmit {
		b = append(append(b, "  LSDA "...), cie.LSDAEncoding.String()...)
	}
	if cie.Personality.Address != 0 {
		b = appendPointer(append(b, "  personality "...), cie.Personality)
	}
	if cie.SignalFrame {
		b = append(b, "  signal frame"...)
	}
	if cie.BKey {
		b = append(b, "  B key"...)
	}
	if cie.MTETagged {
		b = append(b, "  MTE tagged"...)
	}
	t.buf = append(b, '\n')
	// Without instructions of its own, the CIE starts with no rule.
	bare := *cie
	bare.Instructions = nil
	return t.instructions(w, &cfi.FDE{CIE: &bare}, cie.Decode(), cie.Offset+cie.Size)
}

// Function prints an FDE. See [Printer] for the errors.
func (t *RawText) Function(w io.Writer, f *Function) (fault, err error) {
	fde := f.FDE
	b := t.entry(fde.CIE.Section, fde.Offset, "FDE")
	b = style.AppendHex(append(b, "  CIE "...), fde.CIE.Offset)
	b = append(b, "  "...)
	b = t.Palette.Name.Append(b, f.Name())
	b = append(b, "  "...)
	b = appendRange(b, fde.Start, fde.End)
	if fde.DWARF64 {
		b = append(b, "  DWARF64"...)
	}
	if fde.CIE.SegmentSize != 0 {
		b = style.AppendHex(append(b, "  segment "...), fde.Segment)
	}
	if fde.LSDA.Address != 0 {
		b = appendPointer(append(b, "  LSDA "...), fde.LSDA)
	}
	t.buf = append(b, '\n')
	return t.instructions(w, fde, fde.Decode(), fde.Offset+fde.Size)
}

// entry starts the line of an entry.
func (t *RawText) entry(s *cfi.Section, offset uint64, kind string) []byte {
	t.rules.section = s
	t.buf = t.place(t.buf[:0], s, offset)
	return append(append(t.buf, "  "...), kind...)
}

func (t *RawText) place(b []byte, s *cfi.Section, offset uint64) []byte {
	b = append(b, printable.Text(s.Name)...)
	return style.AppendHex(append(b, '+'), offset)
}

// effectColumn is where the effect of an instruction is put beside it.
const effectColumn = 36

// instructions prints what d decodes, executing it after what fde starts with.
// The entry ends at an offset of the section.
func (t *RawText) instructions(w io.Writer, fde *cfi.FDE, d cfi.Decoder, end uint64) (fault, err error) {
	s := fde.CIE.Section
	x := &t.interpreter
	x.Start(fde)
	runs := x.Err() == nil
	fault = x.Err()
	var ins cfi.Instruction
	width := len(style.Hex(end - 1)) // of an offset
	for d.Next(&ins) {
		t.buf = append(t.buf, t.Palette.Dim.On...)
		at := len(t.buf)
		t.buf = style.AppendHex(append(t.buf, "  +"...), ins.Offset)
		pad := max(width-(len(t.buf)-at-len("  +")), 0) + 2
		t.buf = append(t.buf, t.Palette.Dim.Off...)
		t.buf = append(t.buf, spaces[:pad]...)
		start := len(t.buf)
		t.buf = AppendInstruction(t.buf, s, &ins)
		if runs {
			if runs = x.Execute(fde.CIE, &ins); runs {
				t.effect(start, &ins)
			} else {
				fault = x.Err()
				t.fault(fault)
			}
		}
		t.buf = append(t.buf, '\n')
		if len(t.buf) > maxWaiting {
			if _, err := w.Write(t.buf); err != nil {
				return nil, err
			}
			t.buf = t.buf[:0]
		}
	}
	if d.Err() != nil {
		fault = d.Err()
		t.fault(fault)
		t.buf = append(t.buf, '\n')
	}
	_, err = w.Write(append(t.buf, '\n'))
	t.buf = t.buf[:0]
	return fault, err
}

func (t *RawText) effect(start int, ins *cfi.Instruction) {
	end := len(t.buf)
	pad := effectColumn - (end - start)
	if pad < 2 {
		pad = 2
	}
	t.buf = append(t.buf, spaces[:pad]...)
	t.buf = append(t.buf, t.Palette.Rule.On...)
	padded := len(t.buf)
	t.buf = t.rules.appendEffect(t.buf, &t.interpreter, ins)
	if len(t.buf) == padded {
		t.buf = t.buf[:end]
		return
	}
	t.buf = append(t.buf, t.Palette.Rule.Off...)
}

func (t *RawText) fault(err error) {
	t.buf = t.Palette.Error.Append(append(t.buf, "  "...), printable.Text(err.Error()))
}

// Terminator prints a zero length.
func (t *RawText) Terminator(w io.Writer, s *cfi.Section, offset uint64) error {
	_, err := w.Write(append(t.entry(s, offset, "terminator"), "\n\n"...))
	return err
}

// Fault prints what is wrong with an entry.
func (t *RawText) Fault(w io.Writer, s *cfi.Section, offset uint64, fault error) error {
	return printFault(w, t.Palette, s, offset, fault)
}
