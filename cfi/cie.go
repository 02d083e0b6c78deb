// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"fmt"
	"math"
	"strings"

	"github.com/clewdev/clew/arch"
)

// CIE is a common information entry, which FDEs share (DWARF 5 §6.4.1; LSB Core for
// .eh_frame). A CIE returned by this package is shared and must not be changed.
type CIE struct {
	Section *Section
	Offset  uint64 // of the length field, in the section
	Size    uint64 // in bytes, including the length field
	DWARF64 bool   // the length field has its 12-byte form

	Version       uint8
	Augmentation  string
	AddressSize   uint8 // in bytes; stored from version 4 on, else the machine's
	SegmentSize   uint8 // bytes of a segment selector; stored from version 4 on, else 0
	CodeAlign     uint64
	DataAlign     int64
	ReturnAddress uint64 // column

	// AugmentationData is the data of a 'z', and aliases the section.
	AugmentationData []byte
	EHData           uint64   // the word that the augmentation "eh" of gcc 2 adds
	PointerEncoding  Encoding // 'R': of the start of a function; EncAbsptr without an 'R'
	LSDAEncoding     Encoding // 'L'; EncOmit without an 'L'
	Personality      Pointer  // 'P'
	PersonalityEnc   Encoding // 'P'; EncOmit without a 'P'
	SignalFrame      bool     // 'S': return addresses into this frame point at the instruction itself
	BKey             bool     // 'B', AArch64: return addresses are signed with key B
	MTETagged        bool     // 'G', AArch64: the frame may contain tagged memory

	// Instructions set the initial rules of every FDE. They alias the section from
	// InstructionsOffset on.
	Instructions       []byte
	InstructionsOffset uint64

	plain bool   // its FDEs can be decoded by decodePlain
	rest  []byte // of AugmentationData, after the data of known letters
	err   error  // of EntryCIE: why it cannot be used
}

// Limits, because overlapping entries could all share one CIE.
const (
	maxCIEs         = 1 << 15 // that are cached
	maxAugmentation = 255     // bytes; real ones have at most ten
)

// knownCIE is a decoded CIE. Errors are cached too, so that a malformed CIE is not decoded for
// each of its FDEs.
type knownCIE struct {
	cie *CIE
	err error
}

func (s *Section) knownCIE(offset uint64) (known knownCIE, ok bool) {
	s.mu.RLock()
	known, ok = s.cies[offset]
	s.mu.RUnlock()
	return known, ok
}

// CIEAt decodes the CIE at an offset of the section. It is decoded once and shared.
func (s *Section) CIEAt(offset uint64) (*CIE, error) {
	if known, ok := s.knownCIE(offset); ok {
		return known.cie, known.err
	}
	c, dwarf64 := s.entry(offset)
	if c.Err == nil && c.Off == c.End {
		c.fail(ErrCIE, "a terminator, expected a CIE")
	}
	if id := s.id(&c, dwarf64); c.Err == nil && !s.isCIE(id, dwarf64) {
		c.fail(ErrCIE, "the entry at %#x is an FDE, expected a CIE", offset)
	}
	if c.Err != nil {
		return nil, c.Err
	}
	return s.decodeCIE(&c, offset, dwarf64)
}

// decodeCIE reads a CIE unless it is known. The cursor must be after its id.
func (s *Section) decodeCIE(c *cursor, offset uint64, dwarf64 bool) (*CIE, error) {
	if known, ok := s.knownCIE(offset); ok {
		return known.cie, known.err
	}
	cie, err := s.newCIE(c, offset, dwarf64)
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.cies[offset]; ok {
		return known.cie, known.err
	}
	if s.cies == nil || len(s.cies) >= maxCIEs {
		s.cies = make(map[uint64]knownCIE)
	}
	s.cies[offset] = knownCIE{cie, err}
	return cie, err
}

func (s *Section) newCIE(c *cursor, offset uint64, dwarf64 bool) (*CIE, error) {
	cie := &CIE{
		Section: s, Offset: offset, Size: c.End - offset, DWARF64: dwarf64,
		LSDAEncoding: EncOmit, PersonalityEnc: EncOmit,
		AddressSize: uint8(s.Machine.AddressSize),
	}
	cie.Version = c.Uint8()
	if v := cie.Version; c.Err == nil && v != 1 && (v < 3 || v > 5) {
		c.Off--
		c.fail(ErrVersion, "%d, expected 1, 3, 4 or 5", v)
	}
	cie.Augmentation = c.string(maxAugmentation)
	if strings.HasPrefix(cie.Augmentation, "eh") {
		cie.EHData = c.Uint(c.width)
	}
	if cie.Version >= 4 {
		cie.AddressSize, cie.SegmentSize = c.Uint8(), c.Uint8()
		switch cie.AddressSize {
		case 2, 4, 8:
			c.width = int(cie.AddressSize)
		default:
			c.fail(ErrCIE, "an address size of %d bytes, expected 2, 4 or 8", cie.AddressSize)
		}
		switch cie.SegmentSize {
		case 0, 1, 2, 4, 8:
		default:
			c.fail(ErrCIE, "a segment selector of %d bytes", cie.SegmentSize)
		}
	}
	cie.CodeAlign, cie.DataAlign = c.ULEB128(), c.SLEB128()
	if cie.Version == 1 {
		cie.ReturnAddress = uint64(c.Uint8())
	} else {
		cie.ReturnAddress = c.ULEB128()
	}
	cie.augmentation(c)
	if c.Err != nil {
		return nil, c.Err
	}
	cie.InstructionsOffset = c.Off
	cie.Instructions = c.Bytes(c.End - c.Off)
	cie.plain = s.Kind == EHFrame && len(s.Unrelocated) == 0 && !c.Big && c.width == 8 && s.Machine.AddressSize == 8 && cie.SegmentSize == 0 &&
		cie.PointerEncoding == EncPCRel|EncSdata4 && cie.Augmentation[0] == 'z'
	return cie, nil
}

// augmentation reads the data of the augmentation's letters. An unknown letter makes the data
// of the following letters unreadable, and, without a 'z', the rest of the entry too.
func (cie *CIE) augmentation(c *cursor) {
	letters := strings.TrimPrefix(cie.Augmentation, "eh")
	if letters == "" {
		return
	}
	data, sized := c, letters[0] == 'z'
	var sub cursor
	if sized {
		letters = letters[1:]
		n := c.ULEB128()
		sub = *c
		cie.AugmentationData = c.Bytes(n)
		if c.Err != nil {
			return
		}
		sub.End, data = c.Off, &sub
	}
	for i := 0; i < len(letters) && data.Err == nil; i++ {
		switch letters[i] {
		case 'L':
			cie.LSDAEncoding = Encoding(data.Uint8())
		case 'R':
			cie.PointerEncoding = Encoding(data.Uint8())
		case 'P':
			cie.PersonalityEnc = Encoding(data.Uint8())
			if cie.PersonalityEnc != EncOmit {
				cie.Personality = data.pointer(cie.PersonalityEnc, 0, true)
			}
		case 'S':
			cie.SignalFrame = true
		case 'B':
			cie.BKey = true
		case 'G':
			cie.MTETagged = true
		default:
			if !sized {
				data.fail(ErrAugmentation, "%q, without a 'z' for its size", cie.Augmentation)
				return
			}
			letters = letters[:i]
		}
	}
	if sized && data.Err == nil {
		cie.rest = c.s.Data[data.Off:data.End]
	}
	c.Err = data.Err
}

// String returns a short description of the CIE.
func (cie *CIE) String() string {
	return fmt.Sprintf("CIE at %#x, version %d, augmentation %q", cie.Offset, cie.Version, cie.Augmentation)
}

// NewCIE returns a CIE for writing, with the factors and the return address
// column of a machine and without rules. Its fields may be set before its
// first use, not after:
//
//   - Version 0 stands for 1, or for 3 if the column of the return address needs it.
//   - Augmentation "" stands for the letters that the other fields need.
//   - PointerEncoding is pc-relative in four bytes by default.
//   - Instructions are the initial rules, encoded for the machine and factors;
//     [Builder.CIE] makes them.
//   - Offset, Size, AugmentationData and InstructionsOffset are ignored.
func NewCIE(m *arch.Machine) *CIE {
	cie := &CIE{Section: &Section{Name: "CIE", Machine: m},
		PointerEncoding: EncPCRel | EncSdata4, LSDAEncoding: EncOmit, PersonalityEnc: EncOmit}
	if m != nil {
		cie.AddressSize = uint8(m.AddressSize)
		cie.CodeAlign, cie.DataAlign, cie.ReturnAddress = m.CodeAlign, m.DataAlign, uint64(m.ReturnAddress)
	}
	return cie
}

// EntryCIE returns a CIE for writing with the rules at the first instruction of a function
// (the psABIs' state at a call): on amd64 the CFA is rsp+8 and the return address is saved at
// CFA-8, on arm64 the CFA is sp. If this state is unknown for a machine, the CIE is unusable:
// every Builder and Encoder returns an error for it that wraps ErrCIE.
func EntryCIE(m *arch.Machine) *CIE {
	b := NewBuilder(NewCIE(m))
	switch {
	case b.w.err != nil:
	case m.StackPointer < 0:
		b.w.err = fmt.Errorf("%w: the state at a call is unknown for %s", ErrCIE, m.Name)
	case m.PushesReturns():
		b.DefCFA(uint64(m.StackPointer), int64(m.RegisterSize))
		b.Offset(uint64(m.ReturnAddress), -int64(m.RegisterSize))
	default:
		b.DefCFA(uint64(m.StackPointer), m.CFAOffset)
	}
	cie, err := b.CIE()
	if err != nil {
		cie = NewCIE(m)
		cie.err = err
	}
	return cie
}

// usable returns an error if a CIE cannot be written to any section.
func (cie *CIE) usable() error {
	switch {
	case cie == nil:
		return fmt.Errorf("%w: nil", ErrCIE)
	case cie.err != nil:
		return cie.err
	case cie.Section == nil || cie.Section.Machine == nil:
		return fmt.Errorf("%w: no machine", ErrCIE)
	case cie.ReturnAddress == math.MaxUint64:
		return fmt.Errorf("%w: no return address column, and that of %s is unknown", ErrCIE, cie.Section.Machine.Name)
	}
	return nil
}
