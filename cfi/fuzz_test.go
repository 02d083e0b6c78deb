// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// fuzzMachines covers both byte orders and widths, and the machines with special instructions.
var fuzzMachines = []*arch.Machine{x86, i386, arm64, s390x, sparc, mips}

func fuzzMachine(n uint8) *arch.Machine { return fuzzMachines[int(n)%len(fuzzMachines)] }

func FuzzSection(f *testing.F) {
	for i, s := range realSections(f) {
		end := uint64(0)
		for e := range s.Entries() {
			if end = e.Offset + e.Size; end > 256 {
				break
			}
		}
		f.Add(s.Data[:end], uint8(i), s.Kind == cfi.DebugFrame, s.Address)
	}
	for i, m := range fuzzMachines {
		for _, enc := range []cfi.Encoding{0x00, 0x01, 0x02, 0x09, 0x1b, 0x23, 0x43, 0x50, 0x9b} {
			f.Add(encodedSection(f, m, enc, 0x1b, "00100000 10000000 04 00010000 410e10").Data, uint8(i), false, uint64(0x400000))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, machine uint8, debug bool, address uint64) {
		s := &cfi.Section{Name: ".eh_frame", Data: data, Address: address, Machine: fuzzMachine(machine),
			Memory: memory{0x500000, little(0x1234)}}
		if debug {
			s.Name, s.Kind = ".debug_frame", cfi.DebugFrame
		}
		if err := exercise(s); err != nil {
			t.Error(err)
		}
		checkEntriesAt(t, s)
	})
}

func FuzzInstructions(f *testing.F) {
	for i, test := range instructionTests {
		f.Add(unhex(f, usual), unhex(f, test.instructions), uint8(i))
	}
	f.Fuzz(func(t *testing.T, cie, fde []byte, machine uint8) {
		m := fuzzMachine(machine)
		s := program(t, m, "", "")
		first := entry(m, s.Data[4:13], cie)
		second := entry(m, number(m, 4, uint64(len(first)+4)), s.Data[21:21+2*m.AddressSize], fde)
		s.Data = slices.Concat(first, second)
		if err := exercise(s); err != nil {
			t.Error(err)
		}
	})
}

func FuzzExpression(f *testing.F) {
	for i, expression := range []string{
		"77 08 80 00 3f 1a 3b 2a 33 24 22", "35 31 1c 12 28faff", "2ffdff", "31 32 33 17 15 02", "77 00 94 04",
		"0e8877665544332211 09ff 1b", "f1 9b 00000000", "9e02aabb", "a4050178", "03 8877665544332211 06",
	} {
		f.Add(unhex(f, expression), uint8(i), uint64(0xcfa0), true)
	}
	f.Fuzz(func(t *testing.T, expression []byte, machine uint8, cfa uint64, ofRegister bool) {
		m := fuzzMachine(machine)
		s := &cfi.Section{Name: ".eh_frame", Data: expression, Machine: m}
		rule := cfi.Rule{Kind: cfi.ValExpression, Register: uint32(len(expression))}
		var e cfi.Evaluator
		evaluate := func() (uint64, error) {
			if ofRegister {
				return e.Register(s, rule, cfa, testFrame(m))
			}
			return e.CFA(s, rule, testFrame(m))
		}
		v, err := evaluate()
		if m.AddressSize == 4 && v > 1<<32-1 {
			t.Errorf("%#x is wider than an address", v)
		}
		if again, failed := evaluate(); again != v || (failed == nil) != (err == nil) {
			t.Errorf("%#x, %v; then %#x, %v", v, err, again, failed)
		}
		next := uint64(0)
		for o, err := range s.Operations(0, uint64(len(expression))) {
			if err != nil {
				break
			}
			if o.Offset != next || o.Size == 0 {
				t.Fatalf("%v of %d bytes at %d, expected one at %d", o.Op, o.Size, o.Offset, next)
			}
			next += o.Size
		}
	})
}

func FuzzHeader(f *testing.F) {
	for i, data := range []string{
		"01 1b 03 3b fc1f0000 03000000 00100000 10200000 00110000 30200000 00120000 50200000",
		"01 03 02 3a 00300000 0300 0010 1020 0011 3020 0012 5020",
		"01 03 01 31 00300000 03 8024 d040 8020 9040 8022 b040",
		"01 ff ff ff", "01 1b 03 3b fc1f0000 ffffffff 00100000",
	} {
		f.Add(unhex(f, data), uint8(i), uint64(0x2110))
	}
	section := checkedSection(f, 0x2000, 0x2100, 0x2200)
	f.Fuzz(func(t *testing.T, data []byte, machine uint8, pc uint64) {
		m := fuzzMachine(machine)
		h, err := cfi.ParseHeader(data, headerAt, m)
		if h == nil {
			t.Fatalf("no header, and %v", err)
		}
		// Look up each one if the table is sorted, as the binary search requires.
		var want cfi.HeaderEntry
		found, sorted, last := false, true, uint64(0)
		for e, err := range h.Entries() {
			if err != nil {
				break
			}
			sorted = sorted && e.Start >= last
			last = e.Start
			if e.Start <= pc && (!found || e.Start >= want.Start) {
				want, found = e, true
			}
		}
		got, ok := h.Find(pc)
		if sorted && (got != want || ok != found) {
			t.Errorf("%#x: %#x, %v; one by one %#x, %v", pc, got, ok, want, found)
		}
		n := 0
		for err := range h.Check(section) {
			if n++; err == nil {
				t.Error("a disagreement that is none")
			}
		}
		if n > int(h.Count)+5 {
			t.Errorf("%d disagreements over %d entries", n, h.Count)
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte{0, 1, 64, 0, 32, 1, 16, 0})
	f.Add([]byte{0, 1, 64, 0, 0, 1, 16, 0, 0, 1, 64, 0, 8, 1, 255, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		section := unhex(t, "0c000000 00000000 01 00 01 7c 08 0c0404")
		type function struct{ start, end, fde uint64 }
		var functions []function
		for ; len(data) >= 4 && len(functions) < 64; data = data[4:] {
			start, size := uint64(binary.LittleEndian.Uint16(data)), uint64(binary.LittleEndian.Uint16(data[2:]))
			functions = append(functions, function{start, start + size, uint64(len(section))})
			section = append(section, entry(i386, number(i386, 4, uint64(len(section)+4)), word(i386, start), word(i386, size))...)
		}
		x := (&cfi.Section{Name: ".eh_frame", Data: section, Machine: i386}).Index()
		for _, at := range functions {
			for _, pc := range []uint64{at.start - 1, at.start, at.end - 1, at.end} {
				// The FDE that starts last holds; of several, the last one in the section.
				var want *function
				for i := range functions {
					if g := &functions[i]; g.start <= pc && pc < g.end && (want == nil || g.start >= want.start) {
						want = g
					}
				}
				var got cfi.FDE
				err := x.Find(pc, &got)
				if (err == nil) != (want != nil) || want != nil && got.Offset != want.fde {
					t.Fatalf("%#x: %v, %v; want %+v of %+v", pc, &got, err, want, functions)
				}
			}
		}
	})
}
