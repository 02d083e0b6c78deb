// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"fmt"
	"io"
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// RawText prints the stored entries of sections for people: a line for the entry, and a line
// for each instruction with its effect. The zero value is ready to use. It must not be used
// concurrently.
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
	b = fmt.Appendf(b, "  version %d  augmentation %+q  code align %d  data align %d  return address %s",
		cie.Version, cie.Augmentation, cie.CodeAlign, cie.DataAlign, m.RegisterName(cie.ReturnAddress))
	if cie.DWARF64 {
		b = append(b, "  DWARF64"...)
	}
	if int(cie.AddressSize) != m.AddressSize {
		b = fmt.Appendf(b, "  address size %d", cie.AddressSize)
	}
	if cie.SegmentSize != 0 {
		b = fmt.Appendf(b, "  segment size %d", cie.SegmentSize)
	}
	if cie.PointerEncoding != cfi.EncAbsptr {
		b = append(b, "  pointers "+cie.PointerEncoding.String()...)
	}
	if cie.LSDAEncoding != cfi.EncOmit {
		b = append(b, "  LSDA "+cie.LSDAEncoding.String()...)
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
	// The interpreter must not execute the CIE's instructions before they are printed.
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
	t.buf = append(t.buf[:0], printable.Text(s.Name)...)
	t.buf = style.AppendHex(append(t.buf, '+'), offset)
	return append(append(t.buf, "  "...), kind...)
}

// effectColumn is the column of an instruction's effect.
const effectColumn = 36

// instructions prints and executes the instructions of d, in the state at the start of fde.
// end is the offset in the section of the end of the entry.
func (t *RawText) instructions(w io.Writer, fde *cfi.FDE, d cfi.Decoder, end uint64) (fault, err error) {
	s := fde.CIE.Section
	x := &t.interpreter
	x.Start(fde)
	fault = x.Err()
	running := fault == nil
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
		if running {
			if running = x.Execute(fde.CIE, &ins); running {
				t.effect(start, &ins)
			} else {
				fault = x.Err()
				t.fault(fault)
			}
		}
		t.buf = append(t.buf, '\n')
		if len(t.buf) > maxPending {
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

// effect appends the effect of an instruction, if it has one. start is the offset of the
// instruction's text.
func (t *RawText) effect(start int, ins *cfi.Instruction) {
	end := len(t.buf)
	t.buf = append(t.buf, spaces[:max(effectColumn-(end-start), 2)]...)
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

// Fault prints the error of an entry.
func (t *RawText) Fault(w io.Writer, s *cfi.Section, offset uint64, fault error) error {
	return printFault(w, t.Palette, s, offset, fault)
}

// RawJSON prints the stored entries of sections as JSON, a line for each entry, as RawSchema
// describes. The zero value is ready to use. It must not be used concurrently.
type RawJSON struct {
	interpreter cfi.Interpreter
	rules       notation
	json        jsonText
	text        []byte
}

// RawSchema describes the lines that RawJSON prints.
const RawSchema = `Each line is an object for one entry; "kind" is cie, fde or terminator:
  section, offset, size   its place, and its bytes including the length field
  version, augmentation, code_align, data_align, return_address,
  pointer_encoding, lsda_encoding, personality, signal_frame   for a CIE
  cie, function, symbol, function_start, function_end, lsda    for an FDE
  instructions            [{"offset", "op", "text", "effect"}]: the operation,
                          with its operands as stored, and its effect`

// CIE prints a CIE. See [Printer] for the errors.
func (t *RawJSON) CIE(w io.Writer, cie *cfi.CIE) (fault, err error) {
	j := t.entry(cie.Section, cie.Offset, cie.Size, "cie")
	j.number("version", int64(cie.Version))
	j.text("augmentation", cie.Augmentation)
	j.key("code_align")
	j.buf = strconv.AppendUint(j.buf, cie.CodeAlign, 10)
	j.number("data_align", cie.DataAlign)
	j.text("return_address", cie.Section.Machine.RegisterName(cie.ReturnAddress))
	j.text("pointer_encoding", cie.PointerEncoding.String())
	if cie.LSDAEncoding != cfi.EncOmit {
		j.text("lsda_encoding", cie.LSDAEncoding.String())
	}
	if cie.Personality.Address != 0 {
		j.pointer("personality", cie.Personality)
	}
	if cie.SignalFrame {
		j.isTrue("signal_frame")
	}
	bare := *cie
	bare.Instructions = nil
	return t.instructions(w, &cfi.FDE{CIE: &bare}, cie.Decode())
}

// Function prints an FDE. See [Printer] for the errors.
func (t *RawJSON) Function(w io.Writer, f *Function) (fault, err error) {
	fde := f.FDE
	j := t.entry(fde.CIE.Section, fde.Offset, fde.Size, "fde")
	j.hex("cie", fde.CIE.Offset)
	j.text("function", f.Name())
	if f.Symbol != "" {
		j.text("symbol", f.Symbol)
	}
	j.hex("function_start", fde.Start)
	j.hex("function_end", fde.End)
	if fde.LSDA.Address != 0 {
		j.pointer("lsda", fde.LSDA)
	}
	return t.instructions(w, fde, fde.Decode())
}

func (t *RawJSON) entry(s *cfi.Section, offset, size uint64, kind string) *jsonText {
	t.rules.section = s
	j := &t.json
	j.buf = append(j.buf[:0], '{')
	j.text("kind", kind)
	j.text("section", s.Name)
	j.hex("offset", offset)
	j.number("size", int64(size))
	return j
}

func (t *RawJSON) instructions(w io.Writer, fde *cfi.FDE, d cfi.Decoder) (fault, err error) {
	s, j, x := fde.CIE.Section, &t.json, &t.interpreter
	x.Start(fde)
	fault = x.Err()
	running := fault == nil
	j.open("instructions", '[')
	var ins cfi.Instruction
	for first := true; d.Next(&ins); first = false {
		if !first {
			j.buf = append(j.buf, ',')
		}
		j.buf = append(j.buf, '{')
		j.hex("offset", ins.Offset)
		j.text("op", ins.Op.Name(s.Machine))
		t.text = AppendInstruction(t.text[:0], s, &ins)
		j.text("text", string(t.text))
		if running {
			if running = x.Execute(fde.CIE, &ins); running {
				if t.text = t.rules.appendEffect(t.text[:0], x, &ins); len(t.text) > 0 {
					j.text("effect", string(t.text))
				}
			} else {
				fault = x.Err()
			}
		}
		j.buf = append(j.buf, '}')
		if len(j.buf) > maxPending {
			if _, err := w.Write(j.buf); err != nil {
				return nil, err
			}
			j.buf = j.buf[:0]
		}
	}
	if d.Err() != nil {
		fault = d.Err()
	}
	j.buf = append(j.buf, ']')
	if fault != nil {
		j.text("error", fault.Error())
	}
	_, err = w.Write(append(j.buf, '}', '\n'))
	return fault, err
}

// Terminator prints a zero length.
func (t *RawJSON) Terminator(w io.Writer, s *cfi.Section, offset uint64) error {
	_, err := w.Write(append(t.entry(s, offset, 4, "terminator").buf, '}', '\n'))
	return err
}

// Fault prints the error of an entry.
func (t *RawJSON) Fault(w io.Writer, s *cfi.Section, offset uint64, fault error) error {
	return printFaultJSON(w, s, offset, fault)
}
