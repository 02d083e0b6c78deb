// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"encoding/binary"

	"github.com/clewdev/clew/internal/leb128"
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
// do, and fills in its length; after an error it takes the entry back. What was
// decoded and is as long again stays so: its padding is among its instructions,
// and gas pads entries of eight-byte machines to four bytes.
func (w *writer) end(start int, dwarf64 bool, decoded uint64) error {
	if uint64(len(w.Data)-start) != decoded {
		for (len(w.Data)-start)%w.width != 0 {
			w.uint8(uint8(CFANop))
		}
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

// cieOffset appends the pointer of an FDE at start to its CIE.
func (w *writer) cieOffset(dwarf64 bool, cie *writtenCIE) {
	switch {
	case w.Kind == EHFrame:
		// Backwards from the pointer itself, of four bytes always; see Section.id.
		back := uint64(len(w.Data)) - cie.offset
		if back > 1<<31-1 {
			w.fail(ErrRange, "the CIE is %#x bytes back", back)
		}
		w.uint(uint64(uint32(back)), 4)
	case dwarf64:
		w.uint(cie.offset, 8)
	case cie.offset == 0xffffffff:
		w.fail(ErrRange, "a CIE at %#x cannot be distinguished from a CIE's id", cie.offset)
	default:
		w.uint(cie.offset, 4)
	}
}

// sized appends what data appends after its size. What data appends may depend
// on where it stands, so it is appended again where the size took more bytes
// than were left for it.
func (w *writer) sized(data func()) {
	start := len(w.Data)
	for width := 1; ; width++ {
		for range width {
			w.uint8(0)
		}
		data()
		size := uint64(len(w.Data) - start - width)
		if leb128.Size(size) <= width {
			at := w.Data[start:start]
			for range width - 1 {
				at = append(at, byte(size)|0x80)
				size >>= 7
			}
			_ = append(at, byte(size))
			return
		}
		w.Data = w.Data[:start]
	}
}
