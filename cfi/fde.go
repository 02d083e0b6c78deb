// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"encoding/binary"
	"fmt"
)

// FDE is a frame description entry: the unwind table of one range of code,
// most often a function (DWARF 5 §6.4.1).
type FDE struct {
	CIE     *CIE
	Offset  uint64 // of the length field, in the section
	Size    uint64 // in bytes, including the length field
	DWARF64 bool   // the length field has its 12-byte form

	// The code is [Start, End), addresses without load bias.
	Start, End uint64
	Segment    uint64 // selector; 0 if the CIE's SegmentSize is 0
	StartSlot  uint64 // address of the slot with Start, if the CIE's encoding is indirect

	// AugmentationData is the data of the CIE's 'z', and aliases the section.
	AugmentationData []byte
	LSDA             Pointer // with an 'L' in the CIE's augmentation

	// Instructions follow the CIE's. They alias the section from InstructionsOffset on.
	Instructions       []byte
	InstructionsOffset uint64
}

// FDEAt decodes the FDE at an offset of the section into f. After an error f is undefined. The
// error wraps an *Error of the FDE or of its CIE. FDEAt allocates only for a new CIE.
func (s *Section) FDEAt(offset uint64, f *FDE) error {
	c, dwarf64 := s.entry(offset)
	if c.Err == nil && c.Off == c.End {
		c.fail(ErrFDE, "a terminator, expected an FDE")
	}
	at := c.Off
	id := s.id(&c, dwarf64)
	if c.Err == nil && s.isCIE(id, dwarf64) {
		c.fail(ErrFDE, "the entry at %#x is a CIE, expected an FDE", offset)
	}
	if c.Err != nil {
		return c.Err
	}
	return s.decodeFDE(&c, offset, at, id, dwarf64, nil, f)
}

// decodeFDE reads an FDE. The cursor must be after its CIE pointer id, which is at offset at.
// last is the CIE of the previous entry, which mostly has the same CIE.
func (s *Section) decodeFDE(c *cursor, offset, at, id uint64, dwarf64 bool, last *CIE, f *FDE) error {
	to := id
	if s.Kind == EHFrame {
		// Backwards from the pointer itself. It is signed, because a CIE can come after its
		// FDEs.
		to = at - uint64(int64(int32(id)))
	}
	cie := last
	if cie == nil || cie.Offset != to {
		if to == offset || to >= uint64(len(s.Data)) {
			c.Off = at
			c.fail(ErrFDE, "CIE pointer leads to %#x, expected a CIE in the section's %#x bytes", to, len(s.Data))
			return c.Err
		}
		var err error
		if cie, err = s.CIEAt(to); err != nil {
			return fmt.Errorf("FDE at %#x: %w", offset, err)
		}
	}
	*f = FDE{CIE: cie, Offset: offset, Size: c.End - offset, DWARF64: dwarf64}
	c.width = int(cie.AddressSize)
	if cie.SegmentSize > 0 {
		f.Segment = c.Uint(int(cie.SegmentSize))
	}
	var size uint64
	if s.Kind == DebugFrame && cie.PointerEncoding == EncAbsptr {
		f.Start = c.Uint(c.width)
		size = c.Uint(c.width)
	} else {
		start := c.pointer(cie.PointerEncoding, 0, false)
		size = c.length(cie.PointerEncoding)
		f.Start = start.Address
		if start.Indirect && c.Err == nil {
			f.Start, f.StartSlot = s.follow(c, start.Address), start.Address
		}
	}
	if cie.AugmentationData != nil {
		n := c.ULEB128()
		sub := *c
		f.AugmentationData = c.Bytes(n)
		if cie.LSDAEncoding != EncOmit && n > 0 && c.Err == nil {
			sub.End = c.Off
			f.LSDA = sub.pointer(cie.LSDAEncoding, f.Start, true)
			if sub.Err != nil {
				return sub.Err
			}
		}
	}
	if f.End = f.Start + size; f.End < f.Start {
		c.fail(ErrFDE, "%#x bytes of code from %#x exceed the address space", size, f.Start)
	}
	if c.Err != nil {
		return c.Err
	}
	f.InstructionsOffset = c.Off
	f.Instructions = s.Data[c.Off:c.End:c.End]
	return nil
}

// decodePlain decodes the FDE at an offset of the section if it has the usual layout on
// little-endian 64-bit machines and the expected CIE. Otherwise it returns false, and decodeFDE
// must decode the FDE.
func (f *FDE) decodePlain(cie *CIE, offset uint64) bool {
	s := cie.Section
	d := s.Data[offset:]
	if len(d) < 17 {
		return false
	}
	length := uint64(binary.LittleEndian.Uint32(d))
	end := length + 4
	instructions := 17 + uint64(d[16])
	if end > uint64(len(d)) || instructions > end || d[16] >= 0x80 {
		return false
	}
	if id := binary.LittleEndian.Uint32(d[4:]); id == 0 || offset+4-uint64(int64(int32(id))) != cie.Offset {
		return false
	}
	f.Start = s.Address + offset + 8 + uint64(int64(int32(binary.LittleEndian.Uint32(d[8:]))))
	f.End = f.Start + uint64(binary.LittleEndian.Uint32(d[12:]))
	if f.End < f.Start {
		return false
	}
	f.CIE, f.Offset, f.Size, f.DWARF64, f.Segment = cie, offset, end, false, 0
	f.AugmentationData = d[17:instructions:instructions]
	f.Instructions, f.InstructionsOffset = d[instructions:end:end], offset+instructions
	f.LSDA = Pointer{}
	if cie.LSDAEncoding != EncOmit && instructions > 17 {
		c := s.cursor(offset+17, offset+instructions)
		f.LSDA = c.pointer(cie.LSDAEncoding, f.Start, true)
		return c.Err == nil
	}
	return true
}

// follow reads the slot of an indirect pointer.
func (s *Section) follow(c *cursor, slot uint64) uint64 {
	if s.Memory == nil {
		c.fail(ErrEncoding, "an indirect pointer to %#x, but no memory to read it from", slot)
		return 0
	}
	b := make([]byte, c.width)
	if err := s.Memory.ReadMemory(b, slot); err != nil {
		c.fail(ErrEncoding, "an indirect pointer to %#x: %v", slot, err)
		return 0
	}
	return s.Machine.Uint(b)
}

// String returns a short description of the FDE.
func (f *FDE) String() string {
	return fmt.Sprintf("FDE at %#x for [%#x, %#x)", f.Offset, f.Start, f.End)
}
