// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// headerAt is where the tests' .eh_frame_hdr lies.
const headerAt = 0x1000

// threeFunctions is a table of three entries: 0x2000, 0x2100 and 0x2200 with
// FDEs at 0x3010, 0x3030 and 0x3050.
var threeFunctions = []cfi.HeaderEntry{{Start: 0x2000, FDE: 0x3010}, {Start: 0x2100, FDE: 0x3030}, {Start: 0x2200, FDE: 0x3050}}

func TestHeader(t *testing.T) {
	for _, test := range []struct {
		name    string
		machine *arch.Machine
		data    string
	}{
		{"datarel sdata4, the usual", x86, `01 1b 03 3b fc1f0000 03000000
			00100000 10200000 00110000 30200000 00120000 50200000`},
		{"datarel sdata4, big-endian", s390x, `01 1b 03 3b 00001ffc 00000003
			00001000 00002010 00001100 00002030 00001200 00002050`},
		{"datarel udata4", x86, `01 03 03 33 00300000 03000000
			00100000 10200000 00110000 30200000 00120000 50200000`},
		{"datarel sdata2", x86, `01 03 02 3a 00300000 0300
			0010 1020 0011 3020 0012 5020`},
		{"datarel udata2", i386, `01 03 02 32 00300000 0300
			0010 1020 0011 3020 0012 5020`},
		{"absolute, 8 bytes", x86, `01 00 00 00 0030000000000000 0300000000000000
			0020000000000000 1030000000000000 0021000000000000 3030000000000000 0022000000000000 5030000000000000`},
		{"absolute, 4 bytes", i386, `01 00 03 00 00300000 03000000
			00200000 10300000 00210000 30300000 00220000 50300000`},
		{"udata8", x86, `01 04 04 04 0030000000000000 0300000000000000
			0020000000000000 1030000000000000 0021000000000000 3030000000000000 0022000000000000 5030000000000000`},
		{"sdata8 datarel", x86, `01 0c 0c 3c 0030000000000000 0300000000000000
			0010000000000000 1020000000000000 0011000000000000 3020000000000000 0012000000000000 5020000000000000`},
		{"pcrel sdata4", x86, `01 1b 03 1b fc1f0000 03000000
			f40f0000 00200000 ec100000 18200000 e4110000 30200000`},
		{"udata4", x86, `01 03 03 03 00300000 03000000
			00200000 10300000 00210000 30300000 00220000 50300000`},
		{"uleb128: one by one", x86, `01 03 01 31 00300000 03
			8020 9040 8022 b040 8024 d040`},
		{"sleb128: one by one", x86, `01 03 09 39 00300000 03
			8020 90c000 8022 b0c000 8024 d0c000`},
		{"uleb128 in any order", x86, `01 03 01 31 00300000 03
			8024 d040 8020 9040 8022 b040`},
		{"aligned: one by one", x86, `01 03 03 50 00300000 03000000 00000000
			0020000000000000 1030000000000000 0021000000000000 3030000000000000 0022000000000000 5030000000000000`},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, err := cfi.ParseHeader(unhex(t, test.data), headerAt, test.machine)
			if err != nil {
				t.Fatal(err)
			}
			if h.EHFrame.Address != 0x3000 || h.Count != 3 || h.Address != headerAt {
				t.Errorf(".eh_frame at %#x, %d entries", h.EHFrame.Address, h.Count)
			}
			var got []cfi.HeaderEntry
			for e, err := range h.Entries() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, e)
			}
			slices.SortFunc(got, func(a, b cfi.HeaderEntry) int { return int(a.Start) - int(b.Start) })
			if !slices.Equal(got, threeFunctions) {
				t.Errorf("%#x, want %#x", got, threeFunctions)
			}
			for pc := uint64(0x1f80); pc < 0x2300; pc += 0x40 {
				e, ok := h.Find(pc)
				n := int(pc)/0x100 - 0x20
				if ok != (n >= 0) || ok && e != threeFunctions[n] {
					t.Errorf("Find(%#x) is %#x, %v", pc, e, ok)
				}
			}
			if e, ok := h.Find(1<<64 - 1); !ok || e != threeFunctions[2] {
				t.Errorf("Find at the end of the address space is %#x, %v", e, ok)
			}
			if n := testing.AllocsPerRun(20, func() { h.Find(0x2180) }); n != 0 {
				t.Errorf("Find allocates %v times", n)
			}
		})
	}
}

func TestHeaderWithoutTable(t *testing.T) {
	for name, data := range map[string]string{
		"no count":           "01 1b ff ff fc1f0000",
		"a count, no table":  "01 1b 03 ff fc1f0000 03000000",
		"a table, no count":  "01 1b ff 3b fc1f0000",
		"no entry":           "01 1b 03 3b fc1f0000 00000000",
		"V8: nothing at all": "01 ff ff ff",
	} {
		h, err := cfi.ParseHeader(unhex(t, data), headerAt, x86)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e, ok := h.Find(0x2000); ok || h.Count != 0 {
			t.Errorf("%s: %d entries, found %#x", name, h.Count, e)
		}
		for e, err := range h.Entries() {
			t.Errorf("%s: entry %#x, %v", name, e, err)
		}
	}
}

func TestMalformedHeader(t *testing.T) {
	for _, test := range []struct {
		name, data string
		kind       error
		count      uint64 // what is left of the table
	}{
		{"empty", "", cfi.ErrTruncated, 0},
		{"version 2", "02 1b 03 3b fc1f0000 00000000", cfi.ErrHeader, 0},
		{"truncated encodings", "01 1b 03", cfi.ErrTruncated, 0},
		{"truncated address", "01 1b 03 3b fc1f", cfi.ErrTruncated, 0},
		{"truncated count", "01 1b 03 3b fc1f0000 0300", cfi.ErrTruncated, 0},
		{"unknown encoding", "01 05 03 3b fc1f0000 00000000", cfi.ErrEncoding, 0},
		{"a table of an unknown encoding", "01 1b 03 65 fc1f0000 01000000 00100000 10200000", cfi.ErrEncoding, 0},
		{"a table of an unknown application", "01 1b 03 6b fc1f0000 01000000 00100000 10200000", cfi.ErrEncoding, 0},
		{"a table cut off", "01 1b 03 3b fc1f0000 03000000 00100000 10200000 0011", cfi.ErrHeader, 1},
		{"a huge count", "01 1b 03 3b fc1f0000 ffffffff 00100000 10200000", cfi.ErrHeader, 1},
		{"a huge count of 8 bytes", "01 1b 04 3b fc1f0000 ffffffffffffffff 00100000 10200000", cfi.ErrHeader, 1},
		{"a huge count of numbers", "01 1b 04 31 fc1f0000 ffffffffffffffff 8020 9040", cfi.ErrHeader, 2},
	} {
		h, err := cfi.ParseHeader(unhex(t, test.data), headerAt, x86)
		if !errors.Is(err, test.kind) {
			t.Errorf("%s: %v, want %v", test.name, err, test.kind)
		}
		if h == nil || h.Count != test.count {
			t.Errorf("%s: %+v, want %d entries", test.name, h, test.count)
			continue
		}
		e, ok := h.Find(0x2010)
		if ok != (test.count > 0) || ok && e.Start != 0x2000 {
			t.Errorf("%s: found %#x, %v", test.name, e, ok)
		}
	}
	// A table of numbers without end is cut where they can no longer be decoded.
	h, err := cfi.ParseHeader(unhex(t, "01 ff 03 31 02000000 8020 9040 8080"), headerAt, x86)
	if err != nil {
		t.Fatal(err)
	}
	n, failed := 0, error(nil)
	for _, err := range h.Entries() {
		if n++; err != nil {
			failed = err
		}
	}
	if n != 2 || !errors.Is(failed, cfi.ErrTruncated) {
		t.Errorf("%d entries, %v", n, failed)
	}
	if e, ok := h.Find(0x5000); !ok || e.Start != 0x2000 {
		t.Errorf("found %#x, %v", e, ok)
	}
}

// checkedSection is an .eh_frame at 0x3000 whose CIE has 0x10 bytes, with FDEs
// of 0x10 bytes for the given functions of 0x40 bytes.
func checkedSection(tb testing.TB, functions ...uint64) *cfi.Section {
	data := unhex(tb, "0c000000 00000000 01 00 01 7c 08 0c0404")
	for _, f := range functions {
		data = append(data, entry(i386, number(i386, 4, uint64(len(data)+4)), word(i386, f), word(i386, 0x40))...)
	}
	return &cfi.Section{Name: ".eh_frame", Data: data, Address: 0x3000, Machine: i386}
}

func TestHeaderCheck(t *testing.T) {
	for _, test := range []struct {
		name  string
		table string
		want  []string
	}{
		{"agrees", "01 03 03 03 00300000 03000000 00200000 10300000 00210000 20300000 00220000 30300000", nil},
		{"no table", "01 03 ff ff 00300000", nil},
		{"no address", "01 ff 03 03 03000000 00200000 10300000 00210000 20300000 00220000 30300000", nil},
		{"another section", "01 03 03 03 00400000 03000000 00200000 10300000 00210000 20300000 00220000 30300000",
			[]string{"says that .eh_frame is at 0x4000, expected 0x3000"}},
		{"unsorted", "01 03 03 03 00300000 03000000 00210000 20300000 00200000 10300000 00220000 30300000",
			[]string{"entry 1 starts at 0x2000, before entry 0 at 0x2100", "lists no FDE at 0x10, for [0x2000, 0x2040)"}},
		{"leads to the CIE", "01 03 03 03 00300000 03000000 00200000 00300000 00210000 20300000 00220000 30300000",
			[]string{"entry 0: .eh_frame+0x8: bad FDE", "lists no FDE at 0x10, for [0x2000, 0x2040)"}},
		{"leads out of the section", "01 03 03 03 00300000 03000000 00200000 00000000 00210000 20300000 00220000 30300000",
			[]string{"entry 0: .eh_frame+0x40: truncated: an entry at 0xffffffffffffd000", "lists no FDE at 0x10, for [0x2000, 0x2040)"}},
		{"starts elsewhere", "01 03 03 03 00300000 03000000 04200000 10300000 00210000 20300000 00220000 30300000",
			[]string{"entry 0 starts at 0x2004, its FDE at 0x2000"}},
		{"lists too few", "01 03 03 03 00300000 02000000 00200000 10300000 00220000 30300000",
			[]string{"lists no FDE at 0x20, for [0x2100, 0x2140)"}},
		{"lists none", "01 03 03 03 00300000 00000000",
			[]string{"lists no FDE at 0x10", "lists no FDE at 0x20", "lists no FDE at 0x30"}},
		{"cannot be decoded further", "01 03 03 01 00300000 02000000 8040 90e000 808080",
			[]string{"truncated", "lists no FDE at 0x20", "lists no FDE at 0x30"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := checkedSection(t, 0x2000, 0x2100, 0x2200)
			h, err := cfi.ParseHeader(unhex(t, test.table), headerAt, i386)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for err := range h.Check(s) {
				got = append(got, err.Error())
			}
			same := len(got) == len(test.want)
			for i := 0; same && i < len(got); i++ {
				same = strings.Contains(got[i], test.want[i])
			}
			if !same {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			for range h.Check(s) {
				break // the check ends when its reader does
			}
		})
	}
}

// The linker's own header agrees with its section, and every function is found by it.
func TestHeaderOfRealFile(t *testing.T) {
	s, h := ehFrame(t, llvm), ehFrameHeader(t, llvm)
	for err := range h.Check(s) {
		t.Fatal(err)
	}
	x := s.Index()
	var byHeader, byIndex cfi.FDE
	for i, r := range x.Ranges() {
		if i%64 != 0 {
			continue
		}
		for _, pc := range []uint64{r.Start, r.End - 1} {
			e, ok := h.Find(pc)
			if !ok {
				t.Fatalf("%#x is not in the header", pc)
			}
			if err := errors.Join(s.FDEAt(e.FDE-s.Address, &byHeader), x.Find(pc, &byIndex)); err != nil {
				t.Fatal(err)
			}
			if byHeader.Offset != byIndex.Offset || byHeader.Start > pc || byHeader.End <= pc {
				t.Fatalf("%#x: %v by the header, %v by the index", pc, &byHeader, &byIndex)
			}
		}
	}
	pc := x.Ranges()[1000].Start
	var in cfi.Interpreter
	for name, find := range map[string]func() error{
		"Header.Find, FDEAt and RowAt": func() error {
			e, _ := h.Find(pc)
			if err := s.FDEAt(e.FDE-s.Address, &byHeader); err != nil {
				return err
			}
			_, err := in.RowAt(&byHeader, pc)
			return err
		},
		"Index.Find": func() error { return x.Find(pc, &byIndex) },
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := find(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func TestIndex(t *testing.T) {
	type r = cfi.IndexRange
	for _, test := range []struct {
		name string
		fdes [][2]uint64 // in order of the section; the first is at 0x10
		want []r
	}{
		{"none", nil, nil},
		{"apart, in any order", [][2]uint64{{0x200, 0x240}, {0x100, 0x140}}, []r{{0x100, 0x140, 0x20}, {0x200, 0x240, 0x10}}},
		{"empty functions are left out", [][2]uint64{{0x100, 0x100}, {0x200, 0x240}}, []r{{0x200, 0x240, 0x20}}},
		{"adjacent", [][2]uint64{{0x100, 0x140}, {0x140, 0x180}}, []r{{0x100, 0x140, 0x10}, {0x140, 0x180, 0x20}}},
		{"the later start holds", [][2]uint64{{0x100, 0x180}, {0x140, 0x200}}, []r{{0x100, 0x140, 0x10}, {0x140, 0x200, 0x20}}},
		{"nested", [][2]uint64{{0x100, 0x200}, {0x140, 0x180}}, []r{{0x100, 0x140, 0x10}, {0x140, 0x180, 0x20}, {0x180, 0x200, 0x10}}},
		{"nested twice", [][2]uint64{{0x100, 0x200}, {0x110, 0x1f0}, {0x140, 0x180}},
			[]r{{0x100, 0x110, 0x10}, {0x110, 0x140, 0x20}, {0x140, 0x180, 0x30}, {0x180, 0x1f0, 0x20}, {0x1f0, 0x200, 0x10}}},
		{"two nested in one", [][2]uint64{{0x100, 0x200}, {0x110, 0x120}, {0x140, 0x180}},
			[]r{{0x100, 0x110, 0x10}, {0x110, 0x120, 0x20}, {0x120, 0x140, 0x10}, {0x140, 0x180, 0x30}, {0x180, 0x200, 0x10}}},
		{"the same start: the last holds, the longer goes on", [][2]uint64{{0x100, 0x200}, {0x100, 0x140}},
			[]r{{0x100, 0x140, 0x20}, {0x140, 0x200, 0x10}}},
		{"the same start: the last hides the shorter", [][2]uint64{{0x100, 0x140}, {0x100, 0x200}}, []r{{0x100, 0x200, 0x20}}},
		{"the same twice", [][2]uint64{{0x100, 0x140}, {0x100, 0x140}}, []r{{0x100, 0x140, 0x20}}},
		{"ends together", [][2]uint64{{0x100, 0x200}, {0x140, 0x200}, {0x200, 0x240}},
			[]r{{0x100, 0x140, 0x10}, {0x140, 0x200, 0x20}, {0x200, 0x240, 0x30}}},
		{"a chain", [][2]uint64{{0x100, 0x300}, {0x140, 0x280}, {0x180, 0x400}},
			[]r{{0x100, 0x140, 0x10}, {0x140, 0x180, 0x20}, {0x180, 0x400, 0x30}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := unhex(t, "0c000000 00000000 01 00 01 7c 08 0c0404")
			for _, f := range test.fdes {
				data = append(data, entry(i386, number(i386, 4, uint64(len(data)+4)), word(i386, f[0]), word(i386, f[1]-f[0]))...)
			}
			s := &cfi.Section{Name: ".eh_frame", Data: data, Machine: i386}
			x := s.Index()
			if got := x.Ranges(); !slices.Equal(got, test.want) {
				t.Errorf("%#x, want %#x", got, test.want)
			}
			checkIndex(t, s, x)
		})
	}
}

// checkIndex compares Index.Find with Section.Find around every bound.
func checkIndex(t *testing.T, s *cfi.Section, x *cfi.Index) {
	t.Helper()
	var bounds []uint64
	for f := range s.FDEs() {
		bounds = append(bounds, f.Start-1, f.Start, f.End-1, f.End)
	}
	for _, pc := range bounds {
		var linear, indexed cfi.FDE
		failed, err := s.Find(pc, &linear), x.Find(pc, &indexed)
		if (failed == nil) != (err == nil) || err != nil && !errors.Is(err, cfi.ErrNoFDE) {
			t.Fatalf("%#x: linear %v, indexed %v", pc, failed, err)
		}
		if err == nil && (pc < indexed.Start || pc >= indexed.End || indexed.Start < linear.Start) {
			t.Fatalf("%#x: linear %v, indexed %v", pc, &linear, &indexed)
		}
	}
}

// FDEs nested a hundred thousand deep take no longer than others.
func TestIndexOfNestedFDEs(t *testing.T) {
	const n = 100000
	var functions [][2]uint64
	for i := range uint64(n) {
		functions = append(functions, [2]uint64{0x1000 + i, 0x1000 + 4*n - i})
	}
	data := unhex(t, "0c000000 00000000 01 00 01 7c 08 0c0404")
	for _, f := range functions {
		data = append(data, entry(i386, number(i386, 4, uint64(len(data)+4)), word(i386, f[0]), word(i386, f[1]-f[0]))...)
	}
	x := (&cfi.Section{Name: ".eh_frame", Data: data, Machine: i386}).Index()
	if got := len(x.Ranges()); got != 2*n-1 {
		t.Errorf("%d ranges, want %d", got, 2*n-1)
	}
	var f cfi.FDE
	for _, i := range []uint64{0, 1, n / 2, n - 1} {
		for _, pc := range []uint64{functions[i][0], functions[i][1] - 1} {
			if err := x.Find(pc, &f); err != nil || f.Start != functions[i][0] {
				t.Errorf("%#x: %v, %v; want the one at %#x", pc, &f, err, functions[i][0])
			}
		}
	}
}

func TestPCToSPOffset(t *testing.T) {
	// gcc's frame, then a frame pointer, then an expression that reads memory.
	s := program(t, x86, usual, "41 0e10 8602 41 0d06 41 0f037670 06 41 0e08 0c0708 41 12077e 41 0f05 7708 38 22 96")
	for pc, want := range map[uint64]string{
		0x10000: "8", 0x10003: "8", 0x10004: "16",
		0x10008: "CFA is not relative to the stack pointer: it is rbp+16 at 0x10008",
		0x1000c: "CFA is not relative to the stack pointer at 0x1000c",
		0x10010: "8", 0x10014: "16", 0x10018: "16", 0x100ff: "16",
		0xffff: "no FDE in .eh_frame covers 0xffff", 0x10100: "no FDE",
	} {
		n, err := s.PCToSPOffset(pc)
		got := fmt.Sprint(n)
		if err != nil {
			got = err.Error()
			if !errors.Is(err, cfi.ErrNotSP) && !errors.Is(err, cfi.ErrNoFDE) {
				t.Errorf("%#x: %v is of no kind", pc, err)
			}
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%#x: %s, want %s", pc, got, want)
		}
	}
	// The PLT of gcc and ld: 16 bytes an entry, the push after 11 of them.
	plt := program(t, x86, usual, "0f0b 7708 8000 3f1a3b2a3324 22")
	for pc := uint64(function); pc < functionEnd; pc++ {
		want := int64(8)
		if pc&15 >= 11 {
			want = 16
		}
		if got, err := plt.PCToSPOffset(pc); err != nil || got != want {
			t.Errorf("PLT at %#x: %d, %v; want %d", pc, got, err, want)
		}
	}
	// i386: eip is column 8.
	plt = program(t, i386, "0c0404 8801", "0f0b 7404 7800 3f1a3b2a3224 22")
	if got, err := plt.PCToSPOffset(function + 12); err != nil || got != 8 {
		t.Errorf("i386 PLT: %d, %v", got, err)
	}
	for name, s := range map[string]*cfi.Section{
		"no CFA":          program(t, x86, "", ""),
		"realigned":       program(t, x86, usual, "0f06 7700 0af0ff 1a"),
		"rounded":         program(t, x86, usual, "0f05 7700 09f0 1a"),
		"no stack column": program(t, arch.Lookup(0xffff, 2, 1), usual, ""),
		// On arm64 the return address register is not the program counter.
		"the link register": program(t, arm64, usual, "0f05 8f08 8e00 22"),
	} {
		if n, err := s.PCToSPOffset(function); !errors.Is(err, cfi.ErrNotSP) {
			t.Errorf("%s: %d, %v; want %v", name, n, err, cfi.ErrNotSP)
		}
	}
}
