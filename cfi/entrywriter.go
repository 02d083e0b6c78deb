// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"encoding/binary"

	"github.com/clewdev/clew/internal/leb128"
)

// name returns the name of the section for errors.
func (e *Encoder) name() string {
	switch {
	case e.called != "":
		return e.called
	case e.Kind == DebugFrame:
		return ".debug_frame"
	}
	return ".eh_frame"
}

// begin starts an entry with a length, which end sets.
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

// end pads an entry with DW_CFA_nop to a multiple of an address's size, as compilers do, and
// sets its length. After an error it removes the entry. It does not pad an entry with the size
// of the decoded one, which includes its padding: gas pads entries of eight-byte machines to
// four bytes.
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
			w.fail(ErrRange, "an entry of %#x bytes does not fit a 32-bit length", length)
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
		// Backwards from the pointer itself, always in four bytes; see Section.id.
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

// sized calls data, and writes the size of the appended bytes before them. The bytes can depend
// on their address, so data is called again if the size needs more bytes than were reserved.
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
