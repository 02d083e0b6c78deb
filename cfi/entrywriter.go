// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// name is what errors call the section.
func (e *Encoder) name() string {
	switch {
	case e.called != "":
		return e.called
	case e.Kind == DebugFrame:
		return ".debug_frame"
	}
	return ".eh_frame"
}

// begin begins an entry: its length, which end fills in.
func (e *Encoder) begin(dwarf64 bool, width int) (w writer, start int) {
	w = writer{Encoder: e, width: width, big: e.Machine.Order == binary.BigEndian}
	start = len(e.Data)
	if dwarf64 {
		w.uint(0xffffffff, 4)
		w.uint(0, 8)
	} else {
		w.uint(0, 4)
	}
	return w, start
}

// end pads an entry with DW_CFA_nop to a multiple of an address, as compilers
// do, and fills in its length; after an error it takes the entry back.
func (w *writer) end(start int, dwarf64 bool) error {
	for (len(w.Data)-start)%w.width != 0 {
		w.uint8(uint8(CFANop))
	}
	length := uint64(len(w.Data) - start - 4)
	if dwarf64 {
		length -= 8
		appendUint(w.Data[:start+4], length, 8, w.big)
	} else {
		if length >= 0xfffffff0 {
			w.fail(ErrRange, "an entry of %#x bytes does not fit a length of 32 bits", length)
		}
		appendUint(w.Data[:start], length, 4, w.big)
	}
	if w.err != nil {
		w.Data = w.Data[:start]
		return w.err
	}
	return nil
}

// endFDE ends the entry of an FDE and notes it for the header.
func (w *writer) endFDE(start int, dwarf64 bool, function uint64) error {
	err := w.end(start, dwarf64)
	if err == nil {
		w.functions = append(w.functions, HeaderEntry{function, w.Address + uint64(start)})
	}
	return err
}

// cieOffset appends the pointer of an FDE at start to its CIE.
func (w *writer) cieOffset(start int, dwarf64 bool, cie *writtenCIE) {
	switch {
	case w.Kind == EHFrame:
		// Backwards from the pointer itself, of four bytes always; see Section.id.
		back := uint64(len(w.Data)) - cie.offset
		if int64(back) > 1<<31-1 {
			w.fail(ErrRange, "the CIE is %#x bytes back", back)
		}
		w.uint(uint64(uint32(back)), 4)
	case dwarf64:
		w.uint(cie.offset, 8)
	case cie.offset == 0xffffffff:
		w.fail(ErrRange, "a CIE at %#x cannot be told from a CIE's id", cie.offset)
	default:
		w.uint(cie.offset, 4)
	}
}

// function appends the range of an FDE's code.
func (w *writer) function(cie *writtenCIE, start Pointer, slot, size uint64) {
	if w.Kind == DebugFrame && cie.encoding == EncAbsptr {
		w.uint(start.Address, w.width)
		w.uint(size, w.width)
		return
	}
	if cie.encoding&EncIndirect != 0 {
		start = Pointer{slot, true}
	}
	w.pointer(cie.encoding, start, 0, false)
	w.length(cie.encoding, size)
}

// augmentation returns the letters of a CIE and how its FDEs store the start of
// a function. A CIE that was not decoded has the letters that its fields need.
func (w *writer) augmentation(c *CIE) (string, Encoding) {
	if c.Augmentation != "" || c.decoded {
		return c.Augmentation, c.PointerEncoding
	}
	encoding := c.PointerEncoding
	if w.Kind == DebugFrame {
		encoding = EncAbsptr // DWARF 5 §6.4.1 knows no other
	}
	var letters []byte
	if c.PersonalityEnc != EncOmit {
		letters = append(letters, 'P')
	}
	if c.LSDAEncoding != EncOmit {
		letters = append(letters, 'L')
	}
	if w.Kind == EHFrame {
		letters = append(letters, 'R')
	}
	if c.SignalFrame {
		letters = append(letters, 'S')
	}
	if c.BKey {
		letters = append(letters, 'B')
	}
	if c.MTETagged {
		letters = append(letters, 'G')
	}
	if letters == nil {
		return "", encoding
	}
	return "z" + string(letters), encoding
}

// augmentationData appends what the letters of a CIE announce, behind its size
// where they begin with 'z'.
func (w *writer) augmentationData(c *CIE, augmentation string, sized bool) {
	letters := strings.TrimPrefix(augmentation, "eh")
	if !sized {
		w.letters(c, letters)
		return
	}
	w.sized(func() {
		w.letters(c, letters[1:])
		w.Data = append(w.Data, c.rest...)
	})
}

// sized appends what data appends behind its size. What data appends may depend
// on where it stands, so it is appended again where the size took more bytes
// than were left for it.
func (w *writer) sized(data func()) {
	start := len(w.Data)
	for width := 1; ; {
		for range width {
			w.uint8(0)
		}
		data()
		size := uint64(len(w.Data) - start - width)
		need := sizeULEB128(size)
		if need == width {
			appendULEB128(w.Data[:start], size)
			return
		}
		w.Data = w.Data[:start]
		if need < width { // padding that shrank as the data moved on
			w.fail(ErrRange, "augmentation data of %d bytes", size)
			return
		}
		width = need
	}
}

func (w *writer) letters(c *CIE, letters string) {
	for i := range len(letters) {
		switch letters[i] {
		case 'L':
			w.uint8(uint8(c.LSDAEncoding))
		case 'R':
			w.uint8(uint8(c.PointerEncoding))
		case 'P':
			w.uint8(uint8(c.PersonalityEnc))
			if c.PersonalityEnc != EncOmit {
				w.pointer(c.PersonalityEnc, c.Personality, 0, true)
			}
		case 'S', 'B', 'G':
		default:
			return // what it announces is in c.rest
		}
	}
}

// lsda appends the augmentation data of an FDE.
func (w *writer) lsda(c *CIE, lsda Pointer, function uint64, rest []byte) {
	if c.LSDAEncoding == EncOmit {
		w.uleb128(uint64(len(rest)))
		w.Data = append(w.Data, rest...)
		return
	}
	w.sized(func() {
		w.pointer(c.LSDAEncoding, lsda, function, true)
		w.Data = append(w.Data, rest...)
	})
}

// rest returns the augmentation data of a decoded FDE behind its LSDA.
func (f *FDE) rest() []byte {
	data, e := f.AugmentationData, f.CIE.LSDAEncoding
	if e == EncOmit || len(data) == 0 {
		return data
	}
	size := e.size(int(f.CIE.AddressSize))
	switch {
	case e&^EncIndirect == EncAligned:
		return nil
	case size == 0:
		for size < uint64(len(data)) && data[size] >= 0x80 {
			size++
		}
		size++
	}
	return data[min(size, uint64(len(data))):]
}

// program appends the instructions of c, or of an FDE of it, which d decodes:
// as they are where they mean the same in this section, else one by one.
func (w *writer) program(cie *writtenCIE, c *CIE, d Decoder, instructions []byte, function uint64) {
	order := c.Section.Machine.Order
	same := order == w.Machine.Order && d.c.width == w.width
	var ins Instruction
	for scan := d; same; same = ins.Op != CFASetLoc {
		if !scan.Next(&ins) {
			w.decoded(c, &scan)
			w.Data = append(w.Data, instructions...)
			return
		}
	}
	for d.Next(&ins) {
		if len(ins.Expression) > 0 && order != w.Machine.Order {
			if ins.Expression, w.err = c.Section.reordered(&ins, w.Machine); w.err != nil {
				return
			}
		}
		w.instruction(cie.encoding, function, &ins)
		if w.err != nil {
			return
		}
	}
	w.decoded(c, &d)
}

// decoded notes the error of a program that is written again.
func (w *writer) decoded(c *CIE, d *Decoder) {
	if err := d.Err(); err != nil && w.err == nil {
		w.err = fmt.Errorf("in the %s that is written again: %w", c.Section.Name, err)
	}
}
