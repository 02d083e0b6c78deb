// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
)

var machines = map[string]*arch.Machine{
	"amd64": arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB),
	"arm64": arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB),
}

// TestFind compares an index with a linear search through all events.
func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		type life struct {
			start, end, time, until uint64
			name                    string
		}
		var lives []life
		at := map[uint64]int{} // by index, in lives
		e := startDump(binary.LittleEndian)
		for i := range uint64(1 + r.IntN(40)) {
			time := r.Uint64N(30)
			if r.IntN(5) > 0 || i == 0 {
				l := Load{Address: 1000 + r.Uint64N(60), Index: i, Name: string(rune('A' + i)), Code: make([]byte, 1+r.IntN(30))}
				if err := e.Load(time, &l); err != nil {
					t.Fatal(err)
				}
				at[i] = len(lives)
				lives = append(lives, life{l.Address, l.Address + uint64(len(l.Code)), time, math.MaxUint64, l.Name})
				continue
			}
			index := r.Uint64N(i)
			k, ok := at[index]
			if !ok {
				continue
			}
			old := lives[k]
			m := Move{From: old.start, To: 1000 + r.Uint64N(60), Size: old.end - old.start, Index: index}
			if err := e.Move(time, &m); err != nil {
				t.Fatal(err)
			}
			lives[k].until = time
			at[index] = len(lives)
			lives = append(lives, life{m.To, m.To + m.Size, time, math.MaxUint64, old.name})
		}
		slices.SortStableFunc(lives, func(a, b life) int { return cmp.Compare(a.time, b.time) })

		d, err := ParseJitdump("dump", e.Data)
		if err != nil {
			t.Fatal(err)
		}
		x := d.Index()
		if all, err := x.Damage(); all != 0 {
			t.Fatal(err)
		}
		for address := uint64(995); address < 1100; address++ {
			for time := range uint64(31) {
				want := ""
				for _, l := range lives { // the last one counts
					if l.start <= address && address < l.end && l.time <= time {
						want = l.name
						if l.until <= time {
							want = ""
						}
					}
				}
				got := ""
				if f, ok := x.Find(address, time); ok {
					got = x.Name(f)
				}
				if got != want {
					t.Fatalf("%d at %d: %q, want %q of %+v", address, time, got, want, lives)
				}
			}
		}
	}
}

func TestBadMoves(t *testing.T) {
	e := startDump(binary.LittleEndian)
	l := Load{Address: 0x1000, Index: 7, Name: "f", Code: make([]byte, 16)}
	if err := e.Load(1, &l); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Move{
		{From: 0x1000, To: 0x2000, Index: 8},
		{From: 0x1001, To: 0x2000, Index: 7},
		{From: 0x1000, To: math.MaxUint64 - 14, Index: 7},
	} {
		if err := e.Move(2, &m); err != nil {
			t.Fatal(err)
		}
	}
	d, err := ParseJitdump("f", e.Data)
	if err != nil {
		t.Fatal(err)
	}
	x := d.Index()
	const want = "f+0x72: invalid jitdump record: a move of function 8, which was not loaded\n" +
		"f+0xb2: invalid jitdump record: a move of function 7 from 0x1001, expected from 0x1000, its place\n" +
		"f+0xf2: invalid jitdump record: a move of 0x10 bytes to 0xfffffffffffffff1, past the end of the address space"
	if all, err := x.Damage(); all != 3 || !errors.Is(err, ErrRecord) || err.Error() != want {
		t.Errorf("%d: %v\nwant\n%s", all, err, want)
	}
	if f, ok := x.Find(0x1000, 2); !ok || x.Name(f) != "f" || len(x.Functions()) != 1 {
		t.Errorf("the function is lost: %+v", x.Functions())
	}
}

// TestLineShift reads dumps with and without the size of an ELF header in the
// addresses of lines.
func TestLineShift(t *testing.T) {
	type function struct {
		size  int
		lines []uint64 // offsets as written
	}
	for _, test := range []struct {
		name      string
		machine   elf.Machine
		functions []function
		shift     uint64
	}{
		{"none", elf.EM_X86_64, nil, 0},
		{"plain", elf.EM_X86_64, []function{{100, []uint64{0, 50}}, {200, []uint64{0x40}}}, 0},
		{"first line in place", elf.EM_X86_64, []function{{100, []uint64{0x40, 0x50}}}, 0x40},
		{"lines after a function", elf.EM_X86_64, []function{{0x80, []uint64{0x44, 0xbf}}}, 0x40},
		{"far after", elf.EM_X86_64, []function{{0x80, []uint64{0x44, 0xc0}}}, 0},
		{"long prologue", elf.EM_X86_64, []function{{0x80, []uint64{0x44, 0x7f}}}, 0},
		{"one near the start", elf.EM_X86_64, []function{{0x80, []uint64{0x40, 0x80}}, {0x80, []uint64{0x3f}}}, 0},
		{"32 bits", elf.EM_386, []function{{0x80, []uint64{0x34, 0x50}}}, 0x34},
	} {
		e := &Encoder{Order: binary.LittleEndian}
		e.Header(&Header{Machine: test.machine})
		for i, f := range test.functions {
			start := uint64(0x1000 * (i + 1))
			var entries []DebugEntry
			for _, offset := range f.lines {
				entries = append(entries, DebugEntry{Address: start + offset, Line: 1, File: "f"})
			}
			l := Load{Address: start, Name: "f", Code: make([]byte, f.size)}
			if err := errors.Join(e.DebugInfo(1, start, entries), e.Load(1, &l)); err != nil {
				t.Fatal(err)
			}
		}
		d, err := ParseJitdump("dump", e.Data)
		if err != nil {
			t.Fatal(err)
		}
		x := d.Index()
		for i := range x.Functions() {
			var got, want []uint64
			for l := range x.Lines(&x.Functions()[i]) {
				got = append(got, l.Offset)
			}
			for _, offset := range test.functions[i].lines {
				if offset -= test.shift; offset < uint64(test.functions[i].size) {
					want = append(want, offset)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: lines of function %d at %#x, want %#x", test.name, i, got, want)
			}
		}
	}
}

// TestGarbledNames reads lines with file names that V8 wrote out of freed memory. They
// are omitted.
func TestGarbledNames(t *testing.T) {
	const freed = "\x93\xc3k?\x00\x00\x00\x00\x60ZbS\xc3L\x7f\xc9/src/spin.js"
	for _, test := range []struct {
		name  string
		files []string
		want  []string
	}{
		{"good", []string{"/src/a.js", "\xff", "/src/ä b.js"}, []string{"/src/a.js", "/src/a.js", "/src/ä b.js"}},
		{"ended early", []string{freed, freed}, nil},
		{"ended in time", []string{"\x93\xc3k?", "\x93\xc3k?"}, nil},
		{"control characters", []string{"SZ}\x15", "SZ}\x15"}, nil},
		{"bytes are left", []string{"a.js\x00\x00\x00\x00\x00\x00\x00\x00"}, nil},
		{"padded", []string{"a.js\x00\x00\x00\x00\x00\x00\x00"}, []string{"a.js"}},
	} {
		e := startDump(binary.LittleEndian)
		// The encoder writes no such names: the test replaces others by them.
		entries := make([]DebugEntry, len(test.files))
		for i, file := range test.files {
			entries[i] = DebugEntry{Address: 0x1000 + uint64(i), Line: 1, File: strings.Repeat("x", len(file))}
		}
		l := Load{Address: 0x1000, Name: "f", Code: make([]byte, 64)}
		if err := errors.Join(e.DebugInfo(1, 0x1000, entries), e.Load(1, &l)); err != nil {
			t.Fatal(err)
		}
		at := 0
		for i, file := range test.files {
			written := append([]byte(entries[i].File), 0)
			at += bytes.Index(e.Data[at:], written)
			copy(e.Data[at:], file)
			at += len(written)
		}
		d, err := ParseJitdump("dump", e.Data)
		if err != nil {
			t.Fatal(err)
		}
		x := d.Index()
		var got []string
		for l := range x.Lines(&x.Functions()[0]) {
			got = append(got, l.File)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, expected %q", test.name, got, test.want)
		}
	}
}

// TestHeaderFirst reads tables in the order of the specification.
func TestHeaderFirst(t *testing.T) {
	var tables tableEncoder
	u, err := tables.encode(program(), 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, u.HeaderFirst = range []bool{false, true} {
		e := startDump(binary.LittleEndian)
		l := Load{Address: 0x1000, Name: "f", Code: make([]byte, 64)}
		if err := errors.Join(e.UnwindingInfo(1, &u), e.Load(1, &l)); err != nil {
			t.Fatal(err)
		}
		d, err := ParseJitdump("dump", e.Data)
		if err != nil {
			t.Fatal(err)
		}
		x := d.Index()
		section, err := x.EHFrame(&x.Functions()[0])
		if err != nil || section == nil || !slices.Equal(section.Data, u.EHFrame) {
			t.Errorf("header first %t: %v, %v", u.HeaderFirst, section, err)
		}
	}
}

// The index of a dump with too many functions contains the last ones, and reports how
// many it omits. Moving a function that was loaded before costs nothing more.
func TestIndexCut(t *testing.T) {
	e := startDump(binary.LittleEndian)
	for i := range uint64(10) {
		if err := e.Load(i, &Load{Address: 0x1000 + 0x10*(i%8), Index: i, Name: string(rune('a' + i)), Code: make([]byte, 16)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Move(20, &Move{From: 0x1020, To: 0x2000, Size: 16, Index: 2}); err != nil {
		t.Fatal(err)
	}
	d, err := ParseJitdump("f", e.Data)
	if err != nil {
		t.Fatal(err)
	}
	x := d.indexOf(5) // loads g to j, and the move
	if err := x.Cut(); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "f: too large: the first 6 of its functions are omitted: only the last 5") {
		t.Error(err)
	}
	if all, err := x.Damage(); all != 0 || len(x.Functions()) != 4 {
		t.Errorf("%d functions, %v", len(x.Functions()), err)
	}
	for address, want := range map[uint64]string{0x1000: "i", 0x1010: "j", 0x1020: "", 0x1060: "g", 0x1070: "h", 0x2000: ""} {
		name := ""
		if f, ok := x.Find(address, math.MaxUint64); ok {
			name = x.Name(f)
		}
		if name != want {
			t.Errorf("%#x: %q, want %q", address, name, want)
		}
	}
	if x := d.indexOf(11); x.Cut() != nil || len(x.Functions()) != 11 {
		t.Errorf("%d functions, %v", len(x.Functions()), x.Cut())
	}
}
