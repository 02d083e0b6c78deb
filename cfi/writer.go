// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/internal/leb128"
)

// writer appends the parts of an entry to a section, as cursor reads them. Its error is sticky:
// the caller checks err once, at the end.
type writer struct {
	*Encoder
	width int // bytes of an address
	big   bool
	err   error
}

// fail records an error at the current end of the section.
func (w *writer) fail(kind error, format string, args ...any) {
	if w.err == nil {
		w.err = &Error{w.name(), uint64(len(w.Data)), fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))}
	}
}

func (w *writer) uint8(v uint8) { w.Data = append(w.Data, v) }

// uint appends an unsigned number of 1, 2, 4 or 8 bytes.
func (w *writer) uint(v uint64, size int) {
	if size < 8 && v>>(8*uint(size)) != 0 {
		w.fail(ErrRange, "%#x does not fit %d bytes", v, size)
	}
	w.Data = appendUint(w.Data, v, size, w.big)
}

// int appends a signed number of 1, 2 or 4 bytes.
func (w *writer) int(v int64, size int) {
	shift := 64 - 8*uint(size)
	if v<<shift>>shift != v {
		w.fail(ErrRange, "%d does not fit %d bytes", v, size)
	}
	w.Data = appendUint(w.Data, uint64(v), size, w.big)
}

func appendUint(dst []byte, v uint64, size int, big bool) []byte {
	var b [8]byte
	if big {
		binary.BigEndian.PutUint64(b[:], v)
		return append(dst, b[8-size:]...)
	}
	binary.LittleEndian.PutUint64(b[:], v)
	return append(dst, b[:size]...)
}

func (w *writer) string(s string) {
	w.Data = append(append(w.Data, s...), 0)
}

func (w *writer) uleb128(v uint64) { w.Data = leb128.AppendUint(w.Data, v) }
func (w *writer) sleb128(v int64)  { w.Data = leb128.AppendInt(w.Data, v) }

// address returns the address of the next byte of the section.
func (w *writer) address() uint64 { return w.Address + uint64(len(w.Data)) }

// pointer appends a pointer, as cursor.pointer reads it.
func (w *writer) pointer(e Encoding, p Pointer, function uint64, nullable bool) {
	if p.Indirect != (e&EncIndirect != 0) && !(nullable && p.Address == 0) {
		w.fail(ErrEncoding, "%v for a pointer that is, or is not, the address of a slot", e)
		return
	}
	if e&^EncIndirect == EncAligned {
		for w.address()&uint64(w.width-1) != 0 {
			w.uint8(0)
		}
		w.uint(p.Address, w.width)
		return
	}
	if nullable && p.Address == 0 {
		w.encoded(e, 0)
		return
	}
	var base uint64
	switch e & encApplication {
	case 0:
	case EncPCRel:
		base = w.address()
	case EncTextRel:
		base = w.TextBase
	case EncDataRel:
		base = w.DataBase
	case EncFuncRel:
		base = function
	default:
		w.fail(ErrEncoding, "%#02x has an unknown application", uint8(e))
		return
	}
	v := p.Address - base
	if nullable && w.Machine.Truncate(v) == 0 {
		w.fail(ErrRange, "a pointer to %#x relative to itself would read as a null pointer", p.Address)
		return
	}
	if got := w.encoded(e, v); w.err == nil && w.Machine.Truncate(got+base) != p.Address {
		w.fail(ErrRange, "%#x, which is %+#x from its base, does not fit %v", p.Address, int64(v), e)
	}
}

// encoded appends v in the form of a pointer and returns the number that a reader gets.
func (w *writer) encoded(e Encoding, v uint64) uint64 {
	size := e.size(w.width)
	switch e & encForm {
	case EncULEB128:
		v = w.Machine.Truncate(v)
		w.uleb128(v)
		return v
	case EncSLEB128:
		w.sleb128(int64(v))
		return v
	case EncAbsptr, EncUdata2, EncUdata4, EncUdata8:
		v &= ^uint64(0) >> (64 - 8*size)
		w.Data = appendUint(w.Data, v, int(size), w.big)
		return v
	case EncSigned, EncSdata2, EncSdata4, EncSdata8:
		w.Data = appendUint(w.Data, v, int(size), w.big)
		shift := 64 - 8*size
		return uint64(int64(v<<shift) >> shift)
	}
	w.fail(ErrEncoding, "%#02x has an unknown form", uint8(e))
	return 0
}

// length appends a number of bytes, as cursor.length reads it.
func (w *writer) length(e Encoding, v uint64) {
	switch size := e.size(w.width); {
	case e&^EncIndirect == EncAligned:
		w.uint(v, w.width)
	case size > 0:
		w.uint(v, int(size))
	case e&encForm == EncULEB128, e&encForm == EncSLEB128:
		w.uleb128(v)
	default:
		w.fail(ErrEncoding, "%#02x has an unknown form", uint8(e))
	}
}

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
		for range width - 1 {
			w.uint8(0x80)
		}
		w.uint8(0)
		data()
		size := uint64(len(w.Data) - start - width)
		if leb128.Size(size) <= width {
			leb128.PutUint(w.Data[start:], size)
			return
		}
		w.Data = w.Data[:start]
	}
}
