// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/clewdev/clew/arch"
)

// Encoder writes a section of call frame information: it appends entries to
// Data. Its first five fields mean what they mean in a Section, are set before
// its first use, and not changed after. It is made to be reused (Reset), and
// allocates only where Data must grow or a CIE is new to it. It is not safe for
// concurrent use.
//
// After an error Data is as it was before, so that the entry is all that is
// missing. The errors are of type *Error, and say where in the section the
// value was to be written.
type Encoder struct {
	Kind    Kind
	Machine *arch.Machine
	Address uint64 // of Data[0], where the section will lie

	TextBase, DataBase uint64

	Data []byte // what was written, from the section's start

	called    string        // the section, by errors; "" is by Kind
	functions []HeaderEntry // of the FDEs
	last      *writtenCIE   // of the FDE before: most often the next one's too
	cies      map[*CIE]*writtenCIE
	same      map[string]*writtenCIE // by what a CIE says
}

// writtenCIE is a CIE that an Encoder has written.
type writtenCIE struct {
	of       *CIE
	offset   uint64
	encoding Encoding // of the start of a function
	width    int      // bytes of an address
	data     bool     // its FDEs have augmentation data
	plain    bool     // its FDEs can be written by appendPlain
}

// Reset empties the section for a next one, which may lie elsewhere. Data keeps
// its room.
func (e *Encoder) Reset() {
	e.Data, e.functions, e.last = e.Data[:0], e.functions[:0], nil
	clear(e.cies)
	clear(e.same)
}

// Terminator appends the zero length that ends a section for those who do not
// know its size: libgcc's __register_frame.
func (e *Encoder) Terminator() { e.Data = append(e.Data, 0, 0, 0, 0) }

// CIE appends a CIE, also where the section has an equal one, and returns its
// offset. FDEs that point to c will point to it. Instructions are encoded anew
// for the section's machine.
func (e *Encoder) CIE(c *CIE) (offset uint64, err error) {
	written, err := e.appendCIE(c)
	if err != nil {
		return 0, err
	}
	return written.offset, nil
}

// FDE appends an FDE that was decoded, from a section of any kind, encoded anew
// for this one. Its CIE is written before it where it was not yet.
func (e *Encoder) FDE(f *FDE) error {
	cie, err := e.cie(f.CIE)
	if err != nil {
		return err
	}
	w, start := e.begin(f.DWARF64, cie.width)
	w.cieOffset(start, f.DWARF64, cie)
	if f.CIE.SegmentSize > 0 {
		w.uint(f.Segment, int(f.CIE.SegmentSize))
	}
	w.function(cie, Pointer{f.Start, false}, f.StartSlot, f.End-f.Start)
	if cie.data {
		rest := f.rest()
		if f.AugmentationData != nil && len(f.AugmentationData) == 0 {
			w.uint8(0)
		} else {
			w.lsda(f.CIE, f.LSDA, f.Start, rest)
		}
	}
	w.program(cie, f.CIE, f.Decode(), f.Instructions, f.Start)
	return w.endFDE(start, f.DWARF64, f.Start)
}

// Program appends an FDE for the size bytes of code from an address on, whose
// unwind table is p. Its CIE is written before it where an equal one was not yet.
func (e *Encoder) Program(p *Program, address, size uint64) error {
	cie := e.last
	if cie == nil || cie.of != p.CIE {
		var err error
		if cie, err = e.cie(p.CIE); err != nil {
			return err
		}
	}
	if cie.plain && p.End < size && e.appendPlain(cie, p, address, size) {
		return nil
	}
	w, start := e.begin(p.CIE.DWARF64, cie.width)
	if p.End >= size {
		w.fail(ErrRange, "a row at +%#x of a function of %#x bytes", p.End, size)
	}
	if m := p.CIE.Section.Machine; m != e.Machine {
		w.fail(ErrRange, "a program for %s in a section for %s", m.Name, e.Machine.Name)
	}
	w.cieOffset(start, p.CIE.DWARF64, cie)
	w.function(cie, Pointer{Address: address}, 0, size)
	if cie.data {
		w.lsda(p.CIE, p.LSDA, address, nil)
	}
	w.Data = append(w.Data, p.Instructions...)
	return w.endFDE(start, p.CIE.DWARF64, address)
}

// appendPlain appends the FDE that nearly all are: pc-relative start in four
// bytes, no LSDA, little-endian, an address of eight bytes. It returns false
// where Program has to look at it.
func (e *Encoder) appendPlain(cie *writtenCIE, p *Program, address, size uint64) bool {
	start := uint64(len(e.Data))
	length := uint64(17+len(p.Instructions)+7)&^7 - 4
	relative := address - (e.Address + start + 8)
	if uint64(int64(int32(relative))) != relative || size > 0xffffffff || start+4-cie.offset > 0x7fffffff || length > 0x7fffffff {
		return false
	}
	e.Data = slices.Grow(e.Data, int(length+4))
	d := e.Data[start : start+length+4]
	binary.LittleEndian.PutUint32(d, uint32(length))
	binary.LittleEndian.PutUint32(d[4:], uint32(start+4-cie.offset))
	binary.LittleEndian.PutUint32(d[8:], uint32(relative))
	binary.LittleEndian.PutUint32(d[12:], uint32(size))
	d[16] = 0
	clear(d[17+copy(d[17:], p.Instructions):])
	e.Data = e.Data[:start+uint64(len(d))]
	e.functions = append(e.functions, HeaderEntry{address, e.Address + start})
	return true
}

// cie returns the CIE c as it was written, and writes it where no equal one was.
func (e *Encoder) cie(c *CIE) (*writtenCIE, error) {
	if e.last != nil && e.last.of == c {
		return e.last, nil
	}
	if known, ok := e.cies[c]; ok {
		e.last = known
		return known, nil
	}
	if known, ok := e.same[c.key()]; ok {
		again := *known
		again.of = c
		return e.know(&again), nil
	}
	return e.appendCIE(c)
}

func (e *Encoder) know(written *writtenCIE) *writtenCIE {
	if e.cies == nil {
		e.cies = make(map[*CIE]*writtenCIE)
		e.same = make(map[string]*writtenCIE)
	}
	// An encoder that outlives what it writes must not keep all of it.
	if len(e.cies) >= maxCIEs {
		clear(e.cies)
		clear(e.same)
	}
	e.cies[written.of] = written
	e.last = written
	return written
}

func (e *Encoder) appendCIE(c *CIE) (*writtenCIE, error) {
	width := e.Machine.AddressSize
	if c.AddressSize != 0 {
		width = int(c.AddressSize)
	}
	w, start := e.begin(c.DWARF64, width)
	augmentation, encoding := w.augmentation(c)
	written := &writtenCIE{of: c, offset: uint64(start), encoding: encoding, width: width}
	written.data = strings.HasPrefix(strings.TrimPrefix(augmentation, "eh"), "z")
	written.plain = e.Kind == EHFrame && !w.big && width == 8 && e.Machine.AddressSize == 8 && c.SegmentSize == 0 &&
		!c.DWARF64 && written.data && encoding == EncPCRel|EncSdata4 && c.LSDAEncoding == EncOmit &&
		c.Section.Machine == e.Machine

	switch {
	case e.Kind == EHFrame:
		w.uint(0, 4)
	case c.DWARF64:
		w.uint(^uint64(0), 8)
	default:
		w.uint(0xffffffff, 4)
	}
	version := c.Version
	if version == 0 {
		version = 1
		if c.ReturnAddress > 0xff {
			version = 3
		}
	}
	w.uint8(version)
	w.string(augmentation)
	if strings.HasPrefix(augmentation, "eh") {
		w.uint(c.EHData, e.Machine.AddressSize)
	}
	if version >= 4 {
		w.uint8(uint8(width))
		w.uint8(c.SegmentSize)
	}
	w.uleb128(c.CodeAlign)
	w.sleb128(c.DataAlign)
	if version == 1 {
		w.uint(c.ReturnAddress, 1)
	} else {
		w.uleb128(c.ReturnAddress)
	}
	w.augmentationData(c, augmentation, written.data)
	w.program(written, c, c.Decode(), c.Instructions, 0)
	if err := w.end(start, c.DWARF64); err != nil {
		return nil, err
	}
	e.know(written)
	e.same[c.key()] = written
	return written, nil
}
