// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/clewdev/clew/arch"
)

// Encoder writes a section of call frame information by appending entries to Data. Its first
// five fields are as in a Section. They must be set before the first use and not changed later.
// An Encoder can be reused (Reset), and allocates only if Data must grow or for a new CIE. It
// must not be used concurrently.
//
// After an error Data is as before the call, so that only the failed entry is missing. The error
// is an *Error with the offset of the failed value in the section. It wraps ErrRange if the
// value does not fit.
type Encoder struct {
	Kind    Kind
	Machine *arch.Machine
	Address uint64 // of Data[0], without load bias

	TextBase, DataBase uint64

	// Data is the section as written so far. Before the first entry it may be set to an
	// empty slice, to write into its capacity. The caller may keep Data until Reset; later
	// entries overwrite it.
	Data []byte

	called    string        // name of the section for errors; "" means the name for Kind
	functions []HeaderEntry // of the FDEs
	last      *writtenCIE   // of the previous FDE, and mostly of the next one too
	cies      map[*CIE]*writtenCIE
	same      map[cieKey]*writtenCIE
}

// Reset empties the section for a new one, which may have another address. It keeps the
// capacity of Data.
func (e *Encoder) Reset() {
	e.Data, e.functions, e.last = e.Data[:0], e.functions[:0], nil
	clear(e.cies)
	clear(e.same)
}

// Terminator appends the zero length that ends a section for readers that do not know its size,
// such as libgcc's __register_frame.
func (e *Encoder) Terminator() { e.Data = append(e.Data, 0, 0, 0, 0) }

// CIE appends a CIE, even if the section has an equal one, and returns its offset. FDEs of c, or
// of an equal CIE, then refer to it. A CIE of the other kind of section is converted:
// .debug_frame has no personalities and no LSDAs, and its addresses are not encoded (DWARF 5
// §6.4.1).
func (e *Encoder) CIE(c *CIE) (offset uint64, err error) {
	written, err := e.appendCIE(c)
	if err != nil {
		return 0, err
	}
	return written.offset, nil
}

// FDE encodes a decoded FDE for this section and appends it. The FDE can come from a section of
// either kind, of either byte order and at any address. If the section has no equal CIE, it
// appends the CIE first. f can also be made by hand: then its CIE, Start, End, LSDA and
// Instructions are used, and the instructions must be encoded for its CIE's machine.
func (e *Encoder) FDE(f *FDE) error {
	start := len(e.Data)
	err := e.appendFDE(f)
	if err != nil {
		e.truncate(start)
	}
	return err
}

// Program appends an FDE with the unwind table p for size bytes of code at an address. If the
// section has no equal CIE, it appends the CIE first.
func (e *Encoder) Program(p *Program, address, size uint64) error {
	if p != nil && p.End <= size && size > 0 && e.last != nil && e.last.of == p.CIE && e.last.plain && p.LSDA.Address == 0 &&
		e.appendPlain(e.last, p.Instructions, 0, address, size) {
		return nil
	}
	start := len(e.Data)
	err := e.appendProgram(p, address, size)
	if err != nil {
		e.truncate(start)
	}
	return err
}

// truncate removes the bytes from an offset on: the CIE that was written for a failed entry.
func (e *Encoder) truncate(offset int) {
	e.Data = e.Data[:offset]
	if last := e.last; last != nil && last.offset >= uint64(offset) {
		delete(e.cies, last.of)
		delete(e.same, e.key(last.of))
		e.last = nil
	}
}

// appendPlain appends an FDE with the most common layout: pc-relative start in four bytes, no
// augmentation data, little-endian, an address of eight bytes. It returns false if a value does
// not fit. decoded is as in end.
func (e *Encoder) appendPlain(cie *writtenCIE, instructions []byte, decoded, address, size uint64) bool {
	start := uint64(len(e.Data))
	length := uint64(17+len(instructions)) - 4
	if length+4 != decoded {
		length = (length+4+7)&^7 - 4
	}
	relative := address - (e.Address + start + 8)
	if uint64(int64(int32(relative))) != relative || size > 0x7fffffff || address+size < address ||
		start+4-cie.offset > 0x7fffffff || length > 0x7fffffff {
		return false
	}
	e.Data = slices.Grow(e.Data, int(length+4))
	d := e.Data[start : start+length+4]
	binary.LittleEndian.PutUint32(d, uint32(length))
	binary.LittleEndian.PutUint32(d[4:], uint32(start+4-cie.offset))
	binary.LittleEndian.PutUint32(d[8:], uint32(relative))
	binary.LittleEndian.PutUint32(d[12:], uint32(size))
	d[16] = 0
	clear(d[17+copy(d[17:], instructions):])
	e.Data = e.Data[:start+uint64(len(d))]
	e.functions = append(e.functions, HeaderEntry{address, e.Address + start})
	return true
}

// cie returns the written CIE for c. It writes c unless the section has an equal CIE.
func (e *Encoder) cie(c *CIE) (*writtenCIE, error) {
	if e.last != nil && e.last.of == c {
		return e.last, nil
	}
	if known, ok := e.cies[c]; ok {
		e.last = known
		return known, nil
	}
	if err := e.usable(c); err != nil {
		return nil, err
	}
	if known, ok := e.same[e.key(c)]; ok {
		equal := *known
		equal.of = c
		return e.know(&equal), nil
	}
	return e.appendCIE(c)
}

func (e *Encoder) know(written *writtenCIE) *writtenCIE {
	if e.cies == nil {
		e.cies = make(map[*CIE]*writtenCIE)
		e.same = make(map[cieKey]*writtenCIE)
	}
	// A long-lived encoder must not keep all CIEs.
	if len(e.cies) >= maxCIEs {
		clear(e.cies)
		clear(e.same)
	}
	e.cies[written.of] = written
	e.last = written
	return written
}

// usable returns an error if a CIE cannot be written to this section.
func (e *Encoder) usable(c *CIE) error {
	err := c.usable()
	switch {
	case err != nil:
	case e.Machine == nil:
		err = fmt.Errorf("%w: the Encoder has no Machine", ErrCIE)
	case c.Section.Machine.ELF != e.Machine.ELF:
		err = fmt.Errorf("%w: for %s, expected %s", ErrCIE, c.Section.Machine.Name, e.Machine.Name)
	}
	if err != nil {
		return &Error{e.name(), uint64(len(e.Data)), err}
	}
	return nil
}
