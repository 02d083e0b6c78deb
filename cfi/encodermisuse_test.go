// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// leaf returns the table of a function whose state at the call holds throughout.
func leaf(tb testing.TB, m *arch.Machine) *cfi.Program {
	tb.Helper()
	p, err := cfi.NewBuilder(cfi.EntryCIE(m)).Program()
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// with returns a leaf with a changed CIE.
func with(change func(*cfi.CIE)) *cfi.Program {
	cie := cfi.EntryCIE(x86)
	change(cie)
	return &cfi.Program{CIE: cie}
}

// A table that cannot be written results in an error that names the place. The entries
// written before stay unchanged, whether the faulty CIE is new or not.
func TestEncodeRefuses(t *testing.T) {
	x86be := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2MSB)
	program := func(p *cfi.Program, start, size uint64) func(*cfi.Encoder) error {
		return func(e *cfi.Encoder) error { return e.Program(p, start, size) }
	}
	fde := func(f *cfi.FDE) func(*cfi.Encoder) error {
		return func(e *cfi.Encoder) error { return e.FDE(f) }
	}
	entry := cfi.EntryCIE(x86)
	for _, test := range []struct {
		name  string
		kind  cfi.Kind
		write func(*cfi.Encoder) error
		err   error
		says  string
	}{
		{"no program", 0, program(nil, 0x1000, 16), cfi.ErrFDE, "no Program"},
		{"a program without a CIE", 0, program(&cfi.Program{}, 0x1000, 16), cfi.ErrCIE, "nil"},
		{"no FDE", 0, fde(nil), cfi.ErrFDE, "nil"},
		{"an FDE without a CIE", 0, fde(&cfi.FDE{Start: 0x1000, End: 0x1010}), cfi.ErrCIE, "nil"},
		{"no CIE", 0, func(e *cfi.Encoder) error { _, err := e.CIE(nil); return err }, cfi.ErrCIE, "nil"},
		{"a CIE of no machine", 0, program(&cfi.Program{CIE: new(cfi.CIE)}, 0x1000, 16), cfi.ErrCIE, "no machine"},
		{"a CIE of another machine", 0, program(leaf(t, arm64), 0x1000, 16), cfi.ErrCIE, "for arm64, expected x86-64"},
		{"a program of another byte order", 0, program(leaf(t, x86be), 0x1000, 16), cfi.ErrUse, "for x86-64be in a section for x86-64"},
		{"a CIE of a machine that is barely known", 0, program(&cfi.Program{CIE: cfi.EntryCIE(arch.Lookup(elf.EM_AVR, elf.ELFCLASS32, elf.ELFDATA2LSB))}, 0x1000, 16),
			cfi.ErrCIE, "is unknown"},
		{"a CIE of no return address", 0, program(with(func(c *cfi.CIE) { c.ReturnAddress = math.MaxUint64 }), 0x1000, 16), cfi.ErrCIE, "return address"},

		{"an empty function", 0, program(leaf(t, x86), 0x1000, 0), cfi.ErrRange, "a row at +0x0 of a function of 0x0 bytes"},
		{"a row past a function's end", 0, program(&cfi.Program{CIE: entry, End: 16}, 0x1000, 15), cfi.ErrRange, "a row at +0x10 of a function of 0xf bytes"},
		{"code too far away", 0, program(leaf(t, x86), 1<<40, 16), cfi.ErrRange, "does not fit pcrel sdata4"},
		{"a function too large", 0, program(leaf(t, x86), 0x1000, 1<<32), cfi.ErrRange, "0x100000000"},
		{"a function that reads as a negative size", 0, program(leaf(t, x86), 0x1000, 1<<31), cfi.ErrRange, "is signed"},
		{"code past the end of the address space", 0, program(with(func(c *cfi.CIE) { c.PointerEncoding = cfi.EncAbsptr }), math.MaxUint64-7, 16), cfi.ErrRange, "exceed the address space"},
		{"an FDE past the end of the address space", 0, fde(&cfi.FDE{CIE: entry, Start: 0x1000, End: 0xfff}), cfi.ErrFDE, "end 0xfff before start 0x1000"},
		{"a start in a slot", 0, program(with(func(c *cfi.CIE) { c.PointerEncoding |= cfi.EncIndirect }), 0x1000, 16), cfi.ErrEncoding, "no slot"},
		{"a start in no form", 0, program(with(func(c *cfi.CIE) { c.PointerEncoding = 0x05 }), 0x1000, 16), cfi.ErrEncoding, "unknown form"},
		{"a start relative to what is unknown", 0, program(with(func(c *cfi.CIE) { c.PointerEncoding = 0x63 }), 0x1000, 16), cfi.ErrEncoding, "unknown application"},
		{"an LSDA that the CIE says nothing of", 0, program(&cfi.Program{CIE: entry, LSDA: cfi.Pointer{Address: 0x2000}}, 0x1000, 16), cfi.ErrUse, "LSDA"},
		{"an LSDA too far away", 0, program(&cfi.Program{CIE: with(func(c *cfi.CIE) { c.LSDAEncoding = 0x1b }).CIE, LSDA: cfi.Pointer{Address: 1 << 40}}, 0x1000, 16),
			cfi.ErrRange, "does not fit"},
		{"an LSDA that would read as none", 0, program(&cfi.Program{CIE: with(func(c *cfi.CIE) { c.LSDAEncoding = 0x1b }).CIE, LSDA: cfi.Pointer{Address: 0x400000 + 0x30 + 0x18 + 17}}, 0x400000, 16),
			cfi.ErrRange, "would read as a null pointer"},
		{"a slot where a pointer belongs", 0, program(&cfi.Program{CIE: with(func(c *cfi.CIE) { c.LSDAEncoding = 0x1b }).CIE, LSDA: cfi.Pointer{Address: 0x2000, Indirect: true}}, 0x1000, 16),
			cfi.ErrEncoding, "slot"},
		{"a personality too far away", 0, program(with(func(c *cfi.CIE) { c.PersonalityEnc, c.Personality.Address = 0x1b, 1<<40 }), 0x1000, 16), cfi.ErrRange, "does not fit"},

		{"a version", 0, program(with(func(c *cfi.CIE) { c.Version = 2 }), 0x1000, 16), cfi.ErrVersion, "2, expected 1, 3, 4 or 5"},
		{"a return address of version 1", 0, program(with(func(c *cfi.CIE) { c.Version, c.ReturnAddress = 1, 256 }), 0x1000, 16), cfi.ErrRange, "does not fit"},
		{"an address size", 0, program(with(func(c *cfi.CIE) { c.Version, c.AddressSize = 4, 3 }), 0x1000, 16), cfi.ErrCIE, "address size"},
		{"a segment selector of 3 bytes", 0, program(with(func(c *cfi.CIE) { c.Version, c.SegmentSize = 4, 3 }), 0x1000, 16), cfi.ErrCIE, "segment"},
		{"a segment selector of version 1", 0, program(with(func(c *cfi.CIE) { c.SegmentSize = 2 }), 0x1000, 16), cfi.ErrCIE, "SegmentSize"},
		{"unknown letters without z", 0, program(with(func(c *cfi.CIE) { c.Augmentation, c.PointerEncoding = "Q", 0 }), 0x1000, 16), cfi.ErrAugmentation, "Q"},
		{"letters with a NUL", 0, program(with(func(c *cfi.CIE) { c.Augmentation = "zR\x00" }), 0x1000, 16), cfi.ErrTruncated, "bytes are left"},
		{"too many letters", 0, program(with(func(c *cfi.CIE) { c.Augmentation = "zR" + strings.Repeat("S", 254) }), 0x1000, 16), cfi.ErrTruncated, "NUL"},
		{"letters that forget R", 0, program(with(func(c *cfi.CIE) { c.Augmentation = "z" }), 0x1000, 16), cfi.ErrCIE, "PointerEncoding"},
		{"letters that forget L", 0, program(with(func(c *cfi.CIE) { c.Augmentation, c.LSDAEncoding = "zR", 0x1b }), 0x1000, 16), cfi.ErrCIE, "LSDAEncoding"},
		{"letters that forget P", 0, program(with(func(c *cfi.CIE) { c.Augmentation, c.PersonalityEnc = "zR", 0x1b }), 0x1000, 16), cfi.ErrCIE, "PersonalityEnc"},
		{"letters that forget S", 0, program(with(func(c *cfi.CIE) { c.Augmentation, c.SignalFrame = "zR", true }), 0x1000, 16), cfi.ErrCIE, "SignalFrame"},
		{"letters that say S of their own", 0, program(with(func(c *cfi.CIE) { c.Augmentation = "zRS" }), 0x1000, 16), cfi.ErrCIE, "SignalFrame"},
		{"instructions truncated", 0, program(with(func(c *cfi.CIE) { c.Instructions = []byte{0x0c, 7} }), 0x1000, 16), cfi.ErrTruncated, "no byte"},
		{"instructions that are none", 0, fde(&cfi.FDE{CIE: entry, Start: 0x1000, End: 0x1010, Instructions: []byte{0x3f}}), cfi.ErrInstruction, "0x3f"},

		{"an address wider than debug_frame's CIE says", cfi.DebugFrame, program(with(func(c *cfi.CIE) { c.Version, c.AddressSize = 4, 4 }), 1<<32, 16), cfi.ErrRange, "does not fit 4 bytes"},
		{"a segment wider than its selector", cfi.DebugFrame, fde(&cfi.FDE{CIE: with(func(c *cfi.CIE) { c.Version, c.SegmentSize = 4, 2 }).CIE, Segment: 1 << 16, Start: 0x1000, End: 0x1010}), cfi.ErrRange, "does not fit 2 bytes"},
		{"a header of debug_frame", cfi.DebugFrame, func(e *cfi.Encoder) error { _, err := e.AppendHeader(nil, 0x1000); return err }, cfi.ErrHeader, ".eh_frame"},
		{"a header too far away", 0, func(e *cfi.Encoder) error { _, err := e.AppendHeader(nil, 1<<40); return err }, cfi.ErrRange, "does not fit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := cfi.Encoder{Kind: test.kind, Machine: x86, Address: 0x400000}
			if err := e.Program(leaf(t, x86), 0x400000, 64); err != nil {
				t.Fatal(err)
			}
			before := bytes.Clone(e.Data)
			for range 2 {
				err := test.write(&e)
				var where *cfi.Error
				if !errors.Is(err, test.err) || !errors.As(err, &where) && !strings.Contains(test.says, "is unknown") || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%v (%T), want %v with %q", err, err, test.err, test.says)
				}
				if !bytes.Equal(e.Data, before) {
					t.Errorf("it left %x after %x", e.Data[len(before):], before)
				}
			}
			// The encoder does not remember the failed entry.
			if err := e.Program(leaf(t, x86), 0x400040, 64); err != nil {
				t.Fatal(err)
			}
			s := &cfi.Section{Name: "again", Kind: test.kind, Machine: x86, Address: 0x400000, Data: e.Data}
			if x := s.Index().Ranges(); len(x) != 2 || x[1].Start != 0x400040 {
				t.Errorf("the section then has %v", x)
			}
		})
	}
}

func TestEncodeWithoutMachine(t *testing.T) {
	var e cfi.Encoder
	if err := e.Program(leaf(t, x86), 0, 16); !errors.Is(err, cfi.ErrCIE) {
		t.Error(err)
	}
	if _, err := e.AppendHeader(nil, 0); !errors.Is(err, cfi.ErrHeader) {
		t.Error(err)
	}
	for _, cie := range []*cfi.CIE{nil, new(cfi.CIE), cfi.NewCIE(nil), cfi.EntryCIE(nil)} {
		b := cfi.NewBuilder(cie).At(4).DefCFA(7, 8).Offset(16, -8).NegateRAState().WindowSave().DefCFAExpression([]byte{0x30}).
			Instruction(cfi.Instruction{Op: cfi.CFAAdvanceLoc, Operand: 1})
		if _, err := b.Program(); !errors.Is(err, cfi.ErrCIE) {
			t.Error(err)
		}
		if _, err := b.CIE(); !errors.Is(err, cfi.ErrCIE) {
			t.Error(err)
		}
	}
}

// If a section outgrows its pointers, the first entry that does not fit results in an
// error. The gigabytes are never touched.
func TestEncodeHugeSection(t *testing.T) {
	if strconv.IntSize < 64 || testing.Short() {
		t.Skip("skipped: it takes 4 GiB of address space")
	}
	for _, test := range []struct {
		kind cfi.Kind
		size uint64
		says string
	}{
		{cfi.EHFrame, 1<<31 + 64, "bytes back"},
		{cfi.DebugFrame, 1<<32 + 64, ""},
	} {
		e := cfi.Encoder{Kind: test.kind, Machine: x86, Data: make([]byte, 0, test.size+4096)}
		e.Address = 1 << 40
		p := leaf(t, x86)
		if err := e.Program(p, e.Address, 16); err != nil {
			t.Fatal(err)
		}
		e.Data = e.Data[:test.size]
		err := e.Program(p, e.Address+test.size, 16)
		if test.kind == cfi.EHFrame && (!errors.Is(err, cfi.ErrRange) || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%v: %v", test.kind, err)
		}
		if test.kind == cfi.DebugFrame {
			// Pointers to the first CIE fit; a second CIE is too far away.
			if err != nil {
				t.Error(err)
			}
			cie := cfi.EntryCIE(x86)
			cie.SignalFrame = true
			if err = e.Program(&cfi.Program{CIE: cie}, e.Address, 16); !errors.Is(err, cfi.ErrRange) {
				t.Errorf("%v: %v", test.kind, err)
			}
			test.size += 24 // its FDE
		}
		if uint64(len(e.Data)) != test.size {
			t.Errorf("%v: %#x bytes, want %#x", test.kind, len(e.Data), test.size)
		}
	}
}
