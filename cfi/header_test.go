// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// headerAt is the address of the tests' .eh_frame_hdr.
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
			again, err := h.Append([]byte("before"), test.machine, got)
			if sorted := !strings.Contains(test.name, "any order"); !sorted && (!errors.Is(err, cfi.ErrHeader) || string(again) != "before") {
				t.Errorf("entries in any order are written: %x, %v", again, err)
			} else if want := "before" + string(unhex(t, test.data)); sorted && (err != nil || string(again) != want) {
				t.Errorf("writing it again: %v\n got %x\nwant %x", err, again, want)
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
			if slow := strings.Contains(test.name, "one by one") || strings.Contains(test.name, "any order"); h.Searchable() == slow {
				t.Errorf("Searchable is %v", h.Searchable())
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
		if e, ok := h.Find(0x2000); ok || h.Count != 0 || h.Searchable() {
			t.Errorf("%s: %d entries, found %#x", name, h.Count, e)
		}
		for e, err := range h.Entries() {
			t.Errorf("%s: entry %#x, %v", name, e, err)
		}
		if again, err := h.Append(nil, x86, nil); err != nil || !strings.HasPrefix(string(unhex(t, data)), string(again)) {
			t.Errorf("%s: written again it is %x, was %s: %v", name, again, data, err)
		}
	}
}

func TestMalformedHeader(t *testing.T) {
	for _, test := range []struct {
		name, data string
		kind       error
		count      uint64 // remaining entries of the table
	}{
		{"empty", "", cfi.ErrTruncated, 0},
		{"version 2", "02 1b 03 3b fc1f0000 00000000", cfi.ErrHeader, 0},
		{"truncated encodings", "01 1b 03", cfi.ErrTruncated, 0},
		{"truncated address", "01 1b 03 3b fc1f", cfi.ErrTruncated, 0},
		{"truncated count", "01 1b 03 3b fc1f0000 0300", cfi.ErrTruncated, 0},
		{"unknown encoding", "01 05 03 3b fc1f0000 00000000", cfi.ErrEncoding, 0},
		{"a table of an unknown encoding", "01 1b 03 65 fc1f0000 01000000 00100000 10200000", cfi.ErrEncoding, 0},
		{"a table of an unknown application", "01 1b 03 6b fc1f0000 01000000 00100000 10200000", cfi.ErrEncoding, 0},
		{"a table truncated", "01 1b 03 3b fc1f0000 03000000 00100000 10200000 0011", cfi.ErrHeader, 1},
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
	// A table of unbounded numbers ends where they can no longer be decoded.
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

// checkedSection returns an .eh_frame at 0x3000 with a CIE of 0x10 bytes, and FDEs
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
			[]string{".eh_frame at 0x4000, expected 0x3000"}},
		{"unsorted", "01 03 03 03 00300000 03000000 00210000 20300000 00200000 10300000 00220000 30300000",
			[]string{"entry 1 starts at 0x2000, before entry 0 at 0x2100", "no entry for the FDE at 0x10, for [0x2000, 0x2040)"}},
		{"points to the CIE", "01 03 03 03 00300000 03000000 00200000 00300000 00210000 20300000 00220000 30300000",
			[]string{"entry 0: .eh_frame+0x8: invalid FDE", "no entry for the FDE at 0x10, for [0x2000, 0x2040)"}},
		{"points out of the section", "01 03 03 03 00300000 03000000 00200000 00000000 00210000 20300000 00220000 30300000",
			[]string{"entry 0: .eh_frame+0x40: truncated: an entry at 0xffffffffffffd000", "no entry for the FDE at 0x10, for [0x2000, 0x2040)"}},
		{"starts elsewhere", "01 03 03 03 00300000 03000000 04200000 10300000 00210000 20300000 00220000 30300000",
			[]string{"entry 0 starts at 0x2004, its FDE at 0x2000"}},
		{"lists too few", "01 03 03 03 00300000 02000000 00200000 10300000 00220000 30300000",
			[]string{"no entry for the FDE at 0x20, for [0x2100, 0x2140)"}},
		{"lists none", "01 03 03 03 00300000 00000000",
			[]string{"no entry for the FDE at 0x10", "no entry for the FDE at 0x20", "no entry for the FDE at 0x30"}},
		{"cannot be decoded further", "01 03 03 01 00300000 02000000 8040 90e000 808080",
			[]string{"truncated", "no entry for the FDE at 0x20", "no entry for the FDE at 0x30"}},
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
				break // the check ends when its reader stops
			}
		})
	}
}

// The linker's header agrees with its section, and finds every function.
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
