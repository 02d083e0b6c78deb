// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// encodedSection returns an .eh_frame at 0x400000 with a CIE "zRL" of the given
// encodings and one FDE. Its pointers are at 0x1d, directly after the CIE pointer.
func encodedSection(tb testing.TB, m *arch.Machine, r, l cfi.Encoding, pointers string) *cfi.Section {
	tb.Helper()
	cie := entry(m, unhex(tb, "00000000 01 7a524c00 01 78 10 02"), []byte{byte(r), byte(l)}, unhex(tb, "0c0708 0000"))
	if len(cie) != 0x18 {
		tb.Fatalf("a CIE of %#x bytes", len(cie))
	}
	fde := entry(m, number(m, 4, uint64(len(cie)+4)), unhex(tb, pointers))
	return &cfi.Section{Name: ".eh_frame", Data: slices.Concat(cie, fde), Address: 0x400000, Machine: m,
		TextBase: 0x1000, DataBase: 0x2000}
}

// start is the offset of the first pointer of an FDE of encodedSection.
const start = 0x400020

func TestPointerEncodings(t *testing.T) {
	for _, test := range []struct {
		enc      cfi.Encoding
		machine  *arch.Machine
		pointers string // start and size, and the augmentation's length: 0
		start    uint64
		size     uint64
	}{
		{0x00, x86, "8877665544330000 1000000000000000 00", 0x334455667788, 0x10},
		{0x00, i386, "44332211 10000000 00", 0x11223344, 0x10},
		{0x00, s390x, "0000334455667788 0000000000000010 00", 0x334455667788, 0x10},
		{0x01, x86, "808004 9001 00", 0x10000, 0x90},
		{0x02, x86, "3412 feff 00", 0x1234, 0xfffe},
		{0x02, mips, "1234 fffe 00", 0x1234, 0xfffe},
		{0x03, x86, "78563412 ffffffff 00", 0x12345678, 0xffffffff},
		{0x04, x86, "8877665544330000 1000000000000000 00", 0x334455667788, 0x10},
		{0x08, x86, "00f0ffffffffffff 1000000000000000 00", 0xfffffffffffff000, 0x10},
		{0x08, i386, "00f0ffff 10000000 00", 0xfffff000, 0x10},
		{0x09, x86, "8060 8001 00", 0xfffffffffffff000, 0x80},
		{0x0a, x86, "00f0 0008 00", 0xfffffffffffff000, 0x800},
		{0x0a, x86, "0010 0080 00", 0x1000, 0x8000}, // a size is unsigned
		{0x0b, x86, "00f0ffff 10000000 00", 0xfffffffffffff000, 0x10},
		{0x0b, i386, "00f0ffff 00100000 00", 0xfffff000, 0x1000},
		{0x0c, x86, "00f0ffffffffffff 1000000000000000 00", 0xfffffffffffff000, 0x10},

		{0x10, x86, "0001000000000000 1000000000000000 00", start + 0x100, 0x10},
		{0x11, x86, "8002 10 00", start + 0x100, 0x10},
		{0x12, x86, "0001 1000 00", start + 0x100, 0x10},
		{0x13, x86, "00010000 10000000 00", start + 0x100, 0x10},
		{0x19, x86, "807e 10 00", start - 0x100, 0x10},
		{0x1a, x86, "00ff 1000 00", start - 0x100, 0x10},
		{0x1b, x86, "00ffffff 10000000 00", start - 0x100, 0x10},
		{0x1b, i386, "00ffffff 10000000 00", start - 0x100, 0x10},
		{0x1b, i386, "0000c0ff 10000000 00", start - 0x400000, 0x10},
		{0x1b, s390x, "ffffff00 00000010 00", start - 0x100, 0x10},
		{0x1c, x86, "00ffffffffffffff 1000000000000000 00", start - 0x100, 0x10},
		{0x1b, x86, "00000000 10000000 00", start, 0x10}, // here a stored zero is not a null pointer
		{0x23, x86, "34000000 10000000 00", 0x1034, 0x10},
		{0x2b, x86, "ccffffff 10000000 00", 0xfcc, 0x10},
		{0x33, x86, "34000000 10000000 00", 0x2034, 0x10},
		{0x3b, x86, "ccffffff 10000000 00", 0x1fcc, 0x10},
		{0x43, x86, "34000000 10000000 00", 0x34, 0x10}, // relative to itself is absolute

		// 0x400020 is aligned already; the size that follows is not padded.
		{0x50, x86, "8877665544330000 1000000000000000 00", 0x334455667788, 0x10},
		{0x50, i386, "44332211 10000000 00", 0x11223344, 0x10},

		// Slots at 0x500000 and at the pointer + 0x100.
		{0x80, x86, "0000500000000000 1000000000000000 00", 0x7f0000001234, 0x10},
		{0x83, x86, "00005000 10000000 00", 0x7f0000001234, 0x10},
		{0x9b, x86, "e0ff0f00 10000000 00", 0x7f0000001234, 0x10},
		{0xd0, x86, "0000500000000000 1000000000000000 00", 0x7f0000001234, 0x10},
	} {
		t.Run(fmt.Sprintf("%#02x/%s", uint8(test.enc), test.machine.Name), func(t *testing.T) {
			s := encodedSection(t, test.machine, test.enc, cfi.EncOmit, test.pointers)
			s.Memory = memory{0x500000, little(0x7f0000001234)}
			f := onlyFDE(t, s)
			if f.Start != test.start || f.End-f.Start != test.size {
				t.Errorf("[%#x, %#x), want [%#x, %#x)", f.Start, f.End, test.start, test.start+test.size)
			}
			if f.InstructionsOffset != uint64(len(s.Data)) || len(f.AugmentationData) != 0 {
				t.Errorf("%d bytes of augmentation data, instructions at %#x", len(f.AugmentationData), f.InstructionsOffset)
			}
			encodesAgain(t, s)

			// A Program of the same CIE has the same FDE except for its padding.
			e := cfi.Encoder{Machine: s.Machine, Address: s.Address, TextBase: s.TextBase, DataBase: s.DataBase}
			err := e.Program(&cfi.Program{CIE: f.CIE}, test.start, test.size)
			form := test.enc & 0x0f
			switch signed := form == 0x0a && test.size >= 1<<15; {
			case test.enc&cfi.EncIndirect != 0:
				if !errors.Is(err, cfi.ErrEncoding) {
					t.Errorf("a program with a start in a slot: %v", err)
				}
			case signed: // libgcc reads a negative size
				if !errors.Is(err, cfi.ErrRange) {
					t.Errorf("a size with the sign set: %v", err)
				}
			case err != nil:
				t.Error(err)
			case !bytes.Equal(e.Data[0x1c:len(s.Data)], s.Data[0x1c:]) || bytes.Trim(e.Data[len(s.Data):], "\x00") != nil:
				t.Errorf("a program is %x, want %x", e.Data[0x18:], s.Data[0x18:])
			}
		})
	}
}

// The padding of an aligned pointer depends on its address, not on the section's start.
func TestAlignedPointer(t *testing.T) {
	for _, test := range []struct {
		machine  *arch.Machine
		address  uint64
		pointers string
	}{
		{x86, 0x400003, "aaaaaaaaaa 0010000000000000 1000000000000000 00"}, // at 0x400023
		{x86, 0x400007, "aa 0010000000000000 1000000000000000 00"},         // at 0x400027
		{i386, 0x400003, "aa 00100000 10000000 00"},
	} {
		s := encodedSection(t, test.machine, cfi.EncAligned, cfi.EncOmit, test.pointers)
		s.Address = test.address
		if f := onlyFDE(t, s); f.Start != 0x1000 || f.End != 0x1010 {
			t.Errorf("%s at %#x: [%#x, %#x), want [0x1000, 0x1010)", test.machine.Name, test.address, f.Start, f.End)
		}
		// Written padding consists of zeros.
		s.Data = []byte(strings.ReplaceAll(string(s.Data), "\xaa", "\x00"))
		encodesAgain(t, s)
	}
}

func TestLSDA(t *testing.T) {
	for _, test := range []struct {
		name     string
		enc      cfi.Encoding
		pointers string
		want     cfi.Pointer
	}{
		{"absolute", 0x03, "00100000 10000000 04 78563412", cfi.Pointer{Address: 0x12345678}},
		{"relative to itself", 0x1b, "00100000 10000000 04 00010000", cfi.Pointer{Address: start + 9 + 0x100}},
		{"relative to the function", 0x43, "00100000 10000000 04 00010000", cfi.Pointer{Address: 0x1100}},
		{"zero is none", 0x1b, "00100000 10000000 04 00000000", cfi.Pointer{}},
		{"indirect is not followed", 0x9b, "00100000 10000000 04 00010000", cfi.Pointer{Address: start + 9 + 0x100, Indirect: true}},
		{"no augmentation data", 0x1b, "00100000 10000000 00", cfi.Pointer{}},
		{"omitted", cfi.EncOmit, "00100000 10000000 04 00010000", cfi.Pointer{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := encodedSection(t, x86, 0x03, test.enc, test.pointers)
			f := onlyFDE(t, s)
			if f.LSDA != test.want {
				t.Errorf("%+v, want %+v", f.LSDA, test.want)
			}
			encodesAgain(t, s)
			// The usual encoding has its own decoding path.
			s = encodedSection(t, x86, 0x1b, test.enc, "e0ffbfff"+test.pointers[8:])
			encodesAgain(t, s)
			f = onlyFDE(t, s)
			if test.name == "relative to the function" {
				test.want.Address = 0x100
			}
			if f.Start != 0 || f.LSDA != test.want {
				t.Errorf("after pcrel sdata4: [%#x,%#x) %+v, want %+v", f.Start, f.End, f.LSDA, test.want)
			}
		})
	}
}

func TestBadEncodings(t *testing.T) {
	for _, test := range []struct {
		name     string
		r, l     cfi.Encoding
		pointers string
		kind     error
	}{
		{"unknown form", 0x05, cfi.EncOmit, "00000000 00000000 00", cfi.ErrEncoding},
		{"unknown application", 0x63, cfi.EncOmit, "00000000 00000000 00", cfi.ErrEncoding},
		{"aligned in another form", 0x5b, cfi.EncOmit, "00000000 00000000 00", cfi.ErrEncoding},
		{"omitted", cfi.EncOmit, cfi.EncOmit, "00000000 00000000 00", cfi.ErrEncoding},
		{"indirect without the slot", 0x83, cfi.EncOmit, "00006000 10000000 00", cfi.ErrEncoding},
		{"LSDA of an unknown form", 0x03, 0x06, "00100000 10000000 04 00000000", cfi.ErrEncoding},
		{"LSDA past its data", 0x03, 0x03, "00100000 10000000 02 0000", cfi.ErrTruncated},
		{"LSDA past its data, usual start", 0x1b, 0x03, "00100000 10000000 02 0000", cfi.ErrTruncated},
		{"augmentation data past the entry", 0x03, 0x03, "00100000 10000000 7f 0000", cfi.ErrTruncated},
		{"augmentation data past the entry, usual start", 0x1b, 0x03, "00100000 10000000 7f 0000", cfi.ErrTruncated},
		{"aligned past the entry", 0x50, cfi.EncOmit, "", cfi.ErrTruncated},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := encodedSection(t, x86, test.r, test.l, test.pointers)
			s.Memory = memory{0x500000, little(0x1234)}
			var failure error
			for e, err := range s.Entries() {
				if e.FDE != nil {
					t.Errorf("an FDE for [%#x, %#x)", e.FDE.Start, e.FDE.End)
				}
				if err != nil {
					failure = err
				}
			}
			if !errors.Is(failure, test.kind) {
				t.Errorf("%v, want %v", failure, test.kind)
			}
		})
	}
	t.Run("indirect without memory", func(t *testing.T) {
		s := encodedSection(t, x86, 0x83, cfi.EncOmit, "00005000 10000000 00")
		if err := s.FDEAt(0x18, new(cfi.FDE)); !errors.Is(err, cfi.ErrEncoding) {
			t.Errorf("%v, want %v", err, cfi.ErrEncoding)
		}
	})
}

// The operand of DW_CFA_set_loc has the encoding of the FDE's start.
func TestSetLocEncoding(t *testing.T) {
	// At 0x40002a: opcode at 0x400029, the start + 0x20 = 0x401020.
	s := encodedSection(t, x86, 0x1b, cfi.EncOmit, "e00f0000 00010000 00 01 f60f0000 0e10")
	encodesAgain(t, s)
	got, err := rows(onlyFDE(t, s))
	want := []string{"401000-401020 cfa=r7+8", "401020-401100 cfa=r7+16"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestEncodingString(t *testing.T) {
	for e, want := range map[cfi.Encoding]string{
		0x00: "absptr", 0x1b: "pcrel sdata4", 0x9b: "indirect pcrel sdata4", 0x3b: "datarel sdata4", 0x50: "aligned absptr",
		0x08: "signed", 0xff: "omit", 0x05: "0x05", 0x60: "0x60",
	} {
		if got := e.String(); got != want {
			t.Errorf("%#02x is %q, want %q", uint8(e), got, want)
		}
	}
}
