// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"strings"

	"github.com/clewdev/clew/arch"
)

// writtenCIE is a CIE that an Encoder has written.
type writtenCIE struct {
	of     *CIE
	offset uint64

	// The properties of its FDEs:
	encoding Encoding // of the start of a function
	lsda     Encoding
	width    int  // bytes of an address
	segment  int  // bytes of a segment selector
	data     bool // they have augmentation data
	plain    bool // they can be written by appendPlain
}

// cieKey is the contents of a CIE, to find equal ones.
type cieKey struct {
	kind                       Kind
	dwarf64                    bool
	version                    uint8
	augmentation               string
	address, segment           uint8
	codeAlign                  uint64
	dataAlign                  int64
	returnAddress, ehData      uint64
	pointer, lsda, personality Encoding
	routine                    Pointer
	signal, b, mte             bool
	machine                    *arch.Machine
	rest, instructions         string
}

func (e *Encoder) key(c *CIE) cieKey {
	return cieKey{c.Section.Kind, c.DWARF64, c.Version, c.Augmentation, c.AddressSize, c.SegmentSize,
		c.CodeAlign, c.DataAlign, c.ReturnAddress, c.EHData, c.PointerEncoding, c.LSDAEncoding, c.PersonalityEnc,
		c.Personality, c.SignalFrame, c.BKey, c.MTETagged, c.Section.Machine, string(c.rest), string(c.Instructions)}
}

func (e *Encoder) appendCIE(c *CIE) (*writtenCIE, error) {
	if err := e.usable(c); err != nil {
		return nil, err
	}
	as := e.stored(c)
	w, start := e.begin(as.DWARF64, int(as.AddressSize))
	written := &writtenCIE{of: c, offset: uint64(start), encoding: as.PointerEncoding, lsda: as.LSDAEncoding,
		width: int(as.AddressSize), segment: int(as.SegmentSize),
		data: strings.HasPrefix(strings.TrimPrefix(as.Augmentation, "eh"), "z")}
	written.plain = e.Kind == EHFrame && !w.big && written.width == 8 && e.Machine.AddressSize == 8 && written.segment == 0 &&
		!c.DWARF64 && written.data && written.encoding == EncPCRel|EncSdata4 && written.lsda == EncOmit &&
		c.Section.Machine == e.Machine

	switch {
	case e.Kind == EHFrame:
		w.uint(0, 4)
	case as.DWARF64:
		w.uint(^uint64(0), 8)
	default:
		w.uint(0xffffffff, 4)
	}
	w.uint8(as.Version)
	w.string(as.Augmentation)
	if strings.HasPrefix(as.Augmentation, "eh") {
		w.uint(as.EHData, e.Machine.AddressSize)
	}
	if as.Version >= 4 {
		w.uint8(as.AddressSize)
		w.uint8(as.SegmentSize)
	}
	w.uleb128(as.CodeAlign)
	w.sleb128(as.DataAlign)
	if as.Version == 1 {
		w.uint(as.ReturnAddress, 1)
	} else {
		w.uleb128(as.ReturnAddress)
	}
	letters := strings.TrimPrefix(as.Augmentation, "eh")
	if written.data {
		w.sized(func() {
			w.letters(&as, letters[1:])
			w.Data = append(w.Data, as.rest...)
		})
	} else {
		w.letters(&as, letters)
	}
	w.program(written, c.Decode(), c.Instructions, 0)
	if err := w.end(start, as.DWARF64, c.Size); err != nil {
		return nil, err
	}
	if err := e.readBack(start, &as); err != nil {
		e.Data = e.Data[:start]
		return nil, err
	}
	e.know(written)
	e.same[e.key(c)] = written
	return written, nil
}

// stored returns a CIE as it will be stored in this section.
func (e *Encoder) stored(c *CIE) CIE {
	as := *c
	if as.Version == 0 {
		as.Version = 1
		if as.ReturnAddress > 0xff {
			as.Version = 3
		}
	}
	if as.Version < 4 || as.AddressSize == 0 {
		as.AddressSize = uint8(e.Machine.AddressSize)
	}
	if e.Kind == DebugFrame && (c.Section.Kind == EHFrame || c.Augmentation == "") {
		// DWARF 5 §6.4.1 defines no letters. gas writes these without a 'z', and gdb and
		// readelf use them.
		as.PointerEncoding, as.LSDAEncoding, as.PersonalityEnc, as.Personality = EncAbsptr, EncOmit, EncOmit, Pointer{}
		as.Augmentation, as.EHData, as.rest = as.marks(), 0, nil
		return as
	}
	if as.Augmentation != "" {
		return as
	}
	letters := ""
	if as.PersonalityEnc != EncOmit {
		letters += "P"
	}
	if as.LSDAEncoding != EncOmit {
		letters += "L"
	}
	if as.PointerEncoding != EncAbsptr {
		letters += "R"
	}
	if letters += as.marks(); letters != "" {
		as.Augmentation = "z" + letters
	}
	return as
}

// marks returns the letters without data.
func (cie *CIE) marks() string {
	letters := ""
	if cie.SignalFrame {
		letters += "S"
	}
	if cie.BKey {
		letters += "B"
	}
	if cie.MTETagged {
		letters += "G"
	}
	return letters
}

// letters appends the data of an augmentation's letters.
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
			return // its data is in c.rest
		}
	}
}

// readBack decodes the CIE that was just written. The fields of a CIE that was not decoded can
// contradict each other, and readers would then misunderstand its FDEs.
func (e *Encoder) readBack(start int, want *CIE) error {
	s := &Section{Name: e.name(), Kind: e.Kind, Data: e.Data, Address: e.Address, Machine: e.Machine,
		TextBase: e.TextBase, DataBase: e.DataBase}
	c, dwarf64 := s.entry(uint64(start))
	s.id(&c, dwarf64)
	at := c.Off
	got, err := s.newCIE(&c, uint64(start), dwarf64)
	if err != nil {
		return err
	}
	for _, field := range []struct {
		name string
		same bool
	}{
		{"Augmentation", got.Augmentation == want.Augmentation},
		{"SegmentSize", got.SegmentSize == want.SegmentSize},
		{"PointerEncoding", got.PointerEncoding == want.PointerEncoding},
		{"LSDAEncoding", got.LSDAEncoding == want.LSDAEncoding},
		{"PersonalityEnc", got.PersonalityEnc == want.PersonalityEnc},
		{"Personality", got.Personality == want.Personality},
		{"SignalFrame", got.SignalFrame == want.SignalFrame},
		{"BKey", got.BKey == want.BKey},
		{"MTETagged", got.MTETagged == want.MTETagged},
	} {
		if !field.same {
			c.Off, c.Err = at, nil
			c.fail(ErrCIE, "%s contradicts the field %s", got, field.name)
			return c.Err
		}
	}
	return nil
}
