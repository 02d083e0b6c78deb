// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import "fmt"

func (e *Encoder) appendFDE(f *FDE) error {
	if f == nil {
		return &Error{e.name(), uint64(len(e.Data)), fmt.Errorf("%w: nil", ErrFDE)}
	}
	cie, err := e.cie(f.CIE)
	if err != nil {
		return err
	}
	if cie.plain && len(f.AugmentationData) == 0 && f.LSDA.Address == 0 && !f.DWARF64 && verbatim(f.Instructions) &&
		e.appendPlain(cie, f.Instructions, f.Size, f.Start, f.End-f.Start) {
		return nil
	}
	w, start := e.begin(f.DWARF64, cie.width)
	w.cieOffset(f.DWARF64, cie)
	if f.End < f.Start {
		w.fail(ErrFDE, "end %#x before start %#x", f.End, f.Start)
	}
	if cie.segment > 0 {
		w.uint(f.Segment, cie.segment)
	}
	w.function(cie, f.Start, f.StartSlot, f.End-f.Start)
	// The data of unknown letters is copied.
	data, rest := f.AugmentationData, f.AugmentationData
	if f.CIE.LSDAEncoding != EncOmit && len(data) > 0 {
		rest = f.rest()
	}
	w.lsda(cie, f.LSDA, f.CIE.LSDAEncoding, data != nil && len(data) == 0, f.Start, rest)
	w.program(cie, f.Decode(), f.Instructions, f.Start)
	return w.endFDE(start, f.DWARF64, f.Size, f.Start)
}

func (e *Encoder) appendProgram(p *Program, address, size uint64) error {
	if p == nil {
		return &Error{e.name(), uint64(len(e.Data)), fmt.Errorf("%w: no Program", ErrFDE)}
	}
	cie, err := e.cie(p.CIE)
	if err != nil {
		return err
	}
	if cie.plain && p.End <= size && size > 0 && p.LSDA.Address == 0 && e.appendPlain(cie, p.Instructions, 0, address, size) {
		return nil
	}
	w, start := e.begin(p.CIE.DWARF64, cie.width)
	m := p.CIE.Section.Machine
	signed := cie.encoding.size(cie.width)
	if cie.encoding&EncSigned == 0 || w.Kind == DebugFrame {
		signed = 0
	}
	switch {
	case p.End > size, size == 0:
		w.fail(ErrRange, "a row at +%#x of a function of %#x bytes", p.End, size)
	case m.Order != e.Machine.Order || m.AddressSize != e.Machine.AddressSize:
		w.fail(ErrUse, "a program for %s in a section for %s", m.Name, e.Machine.Name)
	case cie.encoding&EncIndirect != 0:
		w.fail(ErrEncoding, "%v, but a Program has no slot for the start of the function", cie.encoding)
	case signed > 0 && size>>(8*signed-1) != 0:
		// libgcc and gdb read the size as signed.
		w.fail(ErrRange, "a function of %#x bytes, but %v is signed", size, cie.encoding)
	}
	w.cieOffset(p.CIE.DWARF64, cie)
	if cie.segment > 0 {
		w.uint(0, cie.segment)
	}
	w.function(cie, address, 0, size)
	w.lsda(cie, p.LSDA, p.CIE.LSDAEncoding, false, address, nil)
	w.Data = append(w.Data, p.Instructions...)
	return w.endFDE(start, p.CIE.DWARF64, 0, address)
}

// endFDE ends the entry of an FDE and records it for the header.
func (w *writer) endFDE(start int, dwarf64 bool, decoded, function uint64) error {
	err := w.end(start, dwarf64, decoded)
	if err == nil {
		w.functions = append(w.functions, HeaderEntry{function, w.Address + uint64(start)})
	}
	return err
}

// function appends the range of an FDE's code.
func (w *writer) function(cie *writtenCIE, start, slot, size uint64) {
	if end := start + size; end < start || w.Machine.AddressSize == 4 && end > 1<<32 {
		w.fail(ErrRange, "%#x bytes of code from %#x exceed the address space", size, start)
	}
	switch {
	case w.Kind == DebugFrame && cie.encoding == EncAbsptr:
		w.uint(start, w.width)
		w.uint(size, w.width)
		return
	case cie.encoding&EncIndirect != 0:
		w.pointer(cie.encoding, Pointer{slot, true}, 0, false)
	default:
		w.pointer(cie.encoding, Pointer{Address: start}, 0, false)
	}
	w.length(cie.encoding, size)
}

// lsda appends the augmentation data of an FDE: its LSDA, if the CIE has an encoding for it, and
// rest. original is the encoding of the LSDA in the source. none says that the FDE has no LSDA.
func (w *writer) lsda(cie *writtenCIE, lsda Pointer, original Encoding, none bool, function uint64, rest []byte) {
	switch {
	case lsda.Address != 0 && original == EncOmit:
		w.fail(ErrUse, "an LSDA at %#x, but the CIE has no encoding for it", lsda.Address)
	case !cie.data:
	case cie.lsda == EncOmit:
		w.uleb128(uint64(len(rest)))
		w.Data = append(w.Data, rest...)
	case none:
		w.uint8(0)
	default:
		w.sized(func() {
			w.pointer(cie.lsda, lsda, function, true)
			w.Data = append(w.Data, rest...)
		})
	}
}

// rest returns the augmentation data of a decoded FDE after its LSDA.
func (f *FDE) rest() []byte {
	s, size := f.CIE.Section, uint64(len(f.AugmentationData))
	offset := f.InstructionsOffset - size
	if !s.contains(offset, f.AugmentationData) {
		return nil
	}
	c := s.cursor(offset, offset+size)
	c.width = int(f.CIE.AddressSize)
	c.pointer(f.CIE.LSDAEncoding, f.Start, true)
	return s.Data[c.Off:c.End]
}
