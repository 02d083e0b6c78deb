// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/corpus"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/unwind"
)

// same reports whether rules are those of a row.
func same(r *unwind.Rules, row *cfi.Row, cie *cfi.CIE) bool {
	return r.CFA == row.CFA && slices.Equal(r.Registers, row.Registers) && r.Signed == row.Signed &&
		r.ReturnAddress == cie.ReturnAddress && r.SignalFrame == cie.SignalFrame && r.Section == cie.Section
}

// agrees compares a source with Index.Find and RowAt at the first and last
// address of the rows of every skip-th FDE, and at the addresses beside them.
func agrees(s *cfi.Section, source unwind.Source, skip int) error {
	index := s.Index()
	var x, y cfi.Interpreter
	var g cfi.FDE
	n := 0
	for f := range s.FDEs() {
		if n++; n%skip != 0 {
			continue
		}
		f := *f
		rows := 0
		for row := range x.Rows(&f) {
			if rows++; rows > 200 {
				break
			}
			for _, pc := range []uint64{row.Start - 1, row.Start, row.End - 1, row.End} {
				rules, err := source.Rules(pc)
				if err != nil && strings.Contains(err.Error(), "the rules exceed the limit") {
					continue
				}
				want, wantErr := (*cfi.Row)(nil), index.Find(pc, &g)
				if wantErr == nil {
					want, wantErr = y.RowAt(&g, pc)
				}
				switch {
				case wantErr == nil && (err != nil || !same(rules, want, g.CIE)):
					return fmt.Errorf("%#x: %+v, %v; the row is %+v", pc, rules, err, want)
				case wantErr != nil && err == nil:
					return fmt.Errorf("%#x: %+v, but %w", pc, rules, wantErr)
				}
			}
		}
	}
	return nil
}

func TestTable(t *testing.T) {
	const top = 1<<64 - 0x1000
	for _, test := range []struct {
		name      string
		functions []function
		rows      int
		rules     int
	}{
		{"none", nil, 0, 0},
		{"one byte at 0", []function{{0, 1, ""}}, 1, 1},
		{"rows of one function", []function{{0x1000, 0x1100, "41 0e10 42 8602 43 0e08 c6"}}, 4, 3},
		{"equal rows that meet are one", []function{{0x1000, 0x1100, "44"}, {0x1100, 0x1200, ""}, {0x1200, 0x1300, "0e10"}}, 2, 2},
		{"a gap", []function{{0x1000, 0x1100, ""}, {0x1200, 0x1300, ""}}, 2, 1},
		{"any order", []function{{0x3000, 0x3100, "0e10"}, {0x1000, 0x1100, ""}, {0x2000, 0x2100, ""}}, 3, 2},
		{"nested: the outer goes on", []function{{0x1000, 0x2000, "0400080000 0e20"}, {0x1400, 0x1900, "0e10"}}, 3, 3},
		{"overlapping: the later start counts", []function{{0x1000, 0x2000, ""}, {0x1800, 0x2800, "0e10"}}, 2, 2},
		{"twice: the last counts", []function{{0x1000, 0x2000, ""}, {0x1000, 0x2000, "0e10"}}, 1, 1},
		{"a malformed function keeps its first rows", []function{{0x1000, 0x2000, "44 0e10 44 17"}}, 2, 2},
		{"4 GiB and more apart", []function{{0x1000, 0x2000, ""}, {0x100000000, 0x100002000, "0e10"}, {0x200000000, 0x200000010, ""}}, 3, 2},
		{"at both ends of the address space", []function{{0, 0x10, ""}, {top, top + 0xfff, "0e10"}}, 2, 2},
		{"64 KiB bounds", []function{{0xfffe, 0x10001, "41 0e10 41 0e18"}, {0x1fffff, 0x200000, ""}}, 4, 3},
		{"far apart, few", []function{{0, 1, ""}, {0xfffffff0, 0xfffffffe, "0e10"}}, 2, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := build(t, x86, "", "0c0708 9001", test.functions...)
			table := unwind.Compile(s)
			if rows, rules := table.Len(); rows != test.rows || rules != test.rules {
				t.Errorf("%d rows and %d rules, want %d and %d", rows, rules, test.rows, test.rules)
			}
			if err := agrees(s, table, 1); err != nil {
				t.Error(err)
			}
			if err := agrees(s, &unwind.Sections{EHFrame: s}, 1); err != nil {
				t.Errorf("sections: %v", err)
			}
			for _, pc := range []uint64{1 << 63, 1<<64 - 1, 0xffffffff, 1 << 32} {
				if r, err := table.Rules(pc); err == nil {
					for _, f := range test.functions {
						if f.start <= pc && pc < f.end {
							r = nil
						}
					}
					if r != nil {
						t.Errorf("%#x has rules %+v", pc, r)
					}
				} else if !errors.Is(err, cfi.ErrNoFDE) {
					t.Errorf("%#x: %v", pc, err)
				}
			}
		})
	}
}

func TestTableOfRealFile(t *testing.T) {
	s := ehFrame(t, llvm)
	table := unwind.Compile(s)
	if err := agrees(s, table, 37); err != nil {
		t.Error(err)
	}
	pcs := addresses(s, 1000)
	if n := testing.AllocsPerRun(10, func() {
		for _, pc := range pcs {
			if _, err := table.Rules(pc); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations for %d look-ups", n, len(pcs))
	}
}

// realSections are the first bytes of the .eh_frame sections of the C
// libraries of other machines, and of this one's.
func realSections(tb testing.TB) []*cfi.Section {
	tb.Helper()
	const most = 4096
	var sections []*cfi.Section
	for _, path := range append(corpus.CrossLibraries(tb), llvm, "/usr/lib/x86_64-linux-gnu/libc.so.6") {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		s := ehFrameIn(tb, path)
		if s == nil {
			continue
		}
		end := uint64(0)
		for e := range s.Entries() {
			if e.Offset+e.Size > most {
				break
			}
			end = e.Offset + e.Size
		}
		sections = append(sections, like(s, bytes.Clone(s.Data[:end])))
	}
	return append(sections,
		build(tb, x86, "", "0c0708 9001", function{0x1000, 0x2000, "44 0a 0e10 44 0b"}, function{0x1400, 0x1800, "0e10"}))
}

func like(s *cfi.Section, data []byte) *cfi.Section {
	return &cfi.Section{Name: s.Name, Kind: s.Kind, Data: data, Address: s.Address, Machine: s.Machine}
}

// TestMutatedSections compiles damaged sections of real files. The table must agree with the
// index and the interpreter, and stay within the bound on memory.
func TestMutatedSections(t *testing.T) {
	mutants := 2000
	if sample.Full() {
		mutants = 20000
	}
	real := realSections(t)
	offsets := make([][]uint64, len(real))
	for i, s := range real {
		for e := range s.Entries() {
			offsets[i] = append(offsets[i], e.Offset)
		}
	}
	r := sample.Rand(t)
	var before, after runtime.MemStats
	for n := range mutants {
		i := n % len(real)
		s := like(real[i], corpus.Mutate(r, real[i].Data, offsets[i], real[i].Machine.Order))
		runtime.ReadMemStats(&before)
		table := unwind.Compile(s)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 16*uint64(len(s.Data))+64<<20 {
			t.Fatalf("mutant %d of %d bytes: %d bytes allocated", n, len(s.Data), used)
		}
		if n%8 == 0 {
			if err := agrees(s, table, 4); err != nil {
				t.Fatalf("mutant %d, %s, %x: %v", n, s.Machine.Name, s.Data, err)
			}
		}
	}
}

// TestHostileSections compiles sections that try to cost many times their size in memory, or
// time in proportion to the square of their size.
func TestHostileSections(t *testing.T) {
	const mega = 1 << 20
	rows := func(n int, row func(i uint64) []byte) []byte {
		var p []byte
		for i := uint64(0); len(p) < n; i++ {
			p = append(append(p, 0x41), row(i)...)
		}
		return p
	}
	one := func(p []byte) *cfi.Section {
		return build(t, x86, "", "0c0708 9001", function{0x1000, 1 << 31, fmt.Sprintf("%x", p)})
	}
	for _, test := range []struct {
		name    string
		section func() *cfi.Section
	}{
		{"a million sets of rules", func() *cfi.Section {
			return one(rows(4*mega, func(i uint64) []byte { return binary.AppendUvarint([]byte{0x0e}, i) }))
		}},
		{"rules that differ in the high bytes of an offset alone", func() *cfi.Section {
			return one(rows(2*mega, func(i uint64) []byte { return binary.AppendUvarint([]byte{0x0e}, i<<32) }))
		}},
		{"many columns, each set different", func() *cfi.Section {
			var p []byte
			for c := range 250 {
				p = append(p, 0x05, byte(c)|0x80, byte(c>>7), 1)
			}
			return one(append(p, rows(mega, func(i uint64) []byte { return binary.AppendUvarint([]byte{0x0e}, i) })...))
		}},
		{"two sets of rules in turn", func() *cfi.Section {
			return one(rows(2*mega, func(i uint64) []byte { return []byte{0x0e, byte(i & 1)} }))
		}},
		{"FDEs nested in one of many instructions", func() *cfi.Section {
			var functions []function
			p := strings.Repeat("00", mega)
			functions = append(functions, function{0x1000, 1 << 31, p})
			for i := range uint64(20000) {
				functions = append(functions, function{0x2000 + 16*i, 0x2008 + 16*i, ""})
			}
			return build(t, x86, "", "0c0708 9001", functions...)
		}},
		{"FDEs nested in each other", func() *cfi.Section {
			var functions []function
			for i := range uint64(20000) {
				functions = append(functions, function{0x1000 + i, 1<<31 - i, "41 0e10"})
			}
			return build(t, x86, "", "0c0708 9001", functions...)
		}},
		{"FDEs 4 GiB apart", func() *cfi.Section {
			var functions []function
			for i := range uint64(50000) {
				functions = append(functions, function{i << 32, i<<32 + 16, "41 0e10"})
			}
			return build(t, x86, "", "0c0708 9001", functions...)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := test.section()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			table := unwind.Compile(s)
			runtime.ReadMemStats(&after)
			// Freed memory counts too, because the time of its collection varies.
			used, limit := after.TotalAlloc-before.TotalAlloc, 16*uint64(len(s.Data))+64<<20
			if used > limit {
				t.Errorf("%d bytes of memory for a section of %d, expected at most %d", used, len(s.Data), limit)
			}
			n, rules := table.Len()
			t.Logf("%d bytes, %d rows, %d rules, %d bytes allocated", len(s.Data), n, rules, used)
			if err := agrees(s, table, 1+n/100000); err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzTable(f *testing.F) {
	for _, s := range realSections(f) {
		end := uint64(0)
		for e := range s.Entries() {
			if end = e.Offset + e.Size; end > 256 {
				break
			}
		}
		f.Add(s.Data[:end], s.Address, s.Machine.AddressSize == 8)
	}
	f.Fuzz(func(t *testing.T, data []byte, address uint64, wide bool) {
		s := &cfi.Section{Name: ".eh_frame", Data: data, Address: address, Machine: i386}
		if wide {
			s.Machine = x86
		}
		if err := agrees(s, unwind.Compile(s), 1); err != nil {
			t.Error(err)
		}
	})
}

// FuzzWalk walks a stack of any bytes by rules of any bytes.
func FuzzWalk(f *testing.F) {
	f.Add(unhex(f, "0c0708 9001"), unhex(f, "0e10 8602"), words(x86, 0, 0x1050, 0, 0x1050, 0, 0), uint8(0))
	f.Add(unhex(f, "0c0708 9001"), unhex(f, "0f03 7670 06 1006 02 7600"), words(x86, stackAt, 0x1050, 0x1050), uint8(0))
	f.Add(unhex(f, "0c1f00"), unhex(f, "2d 9e01"), words(x86, 0x1050, 0x1050), uint8(1))
	f.Add(unhex(f, "0c0404 8801"), []byte{}, words(x86, 0x1050, stackAt), uint8(2))
	f.Fuzz(func(t *testing.T, cie, fde, stack []byte, machine uint8) {
		m := []*arch.Machine{x86, arm64, i386, s390x, hppa, sparc}[machine%6]
		letters := ""
		if machine >= 128 {
			letters = "S"
		}
		s := build(t, m, letters, fmt.Sprintf("%x", cie), function{0x1000, 0x1100, fmt.Sprintf("%x", fde)})
		var modules unwind.Modules
		modules.Add(0x1000, 0x2000, &unwind.Module{Name: "program", Source: unwind.Compile(s)})
		w := &unwind.Walker{Machine: m, Modules: &modules, Memory: memory{stackAt: stack}, MaxFrames: 200}
		r := registers(0x1050, map[uint64]uint64{uint64(m.StackPointer): stackAt, uint64(m.ReturnAddress): 0x1051})
		if m.FramePointer >= 0 {
			r.Set(uint64(m.FramePointer), stackAt+16)
		}
		frames := 0
		for f := range w.Walk(r) {
			if frames++; f.Registers.PC != f.PC || f.PC == 0 && !f.Interrupted || f.LookupPC != f.PC && f.LookupPC != f.PC-1 {
				t.Errorf("frame %d: %+v", frames, f)
			}
		}
		if frames == 0 || frames > 200 {
			t.Errorf("%d frames", frames)
		}
		if err := w.Err(); (err == nil) != (w.Reason() == unwind.EndOfStack) {
			t.Errorf("%v, and %v", w.Reason(), err)
		}
	})
}

// The size of a section bounds the memory of its table.
func TestTableSize(t *testing.T) {
	s := ehFrame(t, llvm)
	if size, most := unwind.Compile(s).Size(), len(s.Data)*7/10; size > most {
		t.Errorf("the table takes %d bytes for the %d of the section, expected at most %d", size, len(s.Data), most)
	}
}
