// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestMapLines(t *testing.T) {
	for _, test := range []struct {
		line string
		want Symbol // Name is "" if the line is invalid
	}{
		{"7f0012340000 40 f", Symbol{0x7f0012340000, 0x40, "f"}},
		{"0x00007f1234567890 0x1a0 void java.util.List::add(int, Object)", Symbol{0x7f1234567890, 0x1a0, "void java.util.List::add(int, Object)"}}, // JDK
		{"0X7F 0xA0 $lists:map/2", Symbol{0x7f, 0xa0, "$lists:map/2"}},                                                                             // Erlang
		{"7F08 AbC  LazyCompile:*fib /a b.js:1", Symbol{0x7f08, 0xabc, "LazyCompile:*fib /a b.js:1"}},
		{"12 0 wasm-function[3]", Symbol{0x12, 0, "wasm-function[3]"}}, // wazero
		{"  12 1 \tf", Symbol{0x12, 1, "\tf"}},
		{"12 1 f\r", Symbol{0x12, 1, "f"}},
		{"12 1 0", Symbol{0x12, 1, "0"}},
		{"ffffffffffffffff 0 f", Symbol{math.MaxUint64, 0, "f"}},
		{"12 1", Symbol{}},
		{"12 1 ", Symbol{}},
		{"12  f", Symbol{}},
		{"0x 1 f", Symbol{}},
		{"-1 1 f", Symbol{}},
		{"12 1g f", Symbol{}},
		{"11111111111111111 1 f", Symbol{}},
		{"ffffffffffffffff 1 f", Symbol{}},
	} {
		m := ParseMap("f", []byte("1 1 before\n"+test.line+"\n9 1 after\n"))
		all, err := m.Damage()
		symbols := m.Symbols()
		if test.want.Name == "" {
			var place *Error
			if all != 1 || len(symbols) != 2 || !errors.Is(err, ErrMap) || !errors.As(err, &place) || place.Offset != 11 || place.File != "f" {
				t.Errorf("%q: %+v, %v; want an error", test.line, symbols, err)
			}
			continue
		}
		if all != 0 || len(symbols) != 3 || symbols[1] != test.want {
			t.Errorf("%q: %+v, %v; want %+v", test.line, symbols, err, test.want)
		}
	}
	_, err := ParseMap("perf-1.map", []byte("1 1 f\n\nwhat is this?\n")).Damage()
	if got, want := fmt.Sprint(err), `perf-1.map+0x7: invalid line of a perf map: its first field, an address, is not a hexadecimal number`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMapFind(t *testing.T) {
	m := ParseMap("f", []byte(strings.Join([]string{
		"1000 100 old",
		"1040 20 new",
		"2000 0 sizeless",
		"2010 0 last of a page",
		"5000 8 f", "5000 8 g",
		"6ff0 0 last",
		"7 1 half a li",
	}, "\n")))
	if m.End == 0 || len(m.Symbols()) != 7 {
		t.Fatalf("end %d, %+v", m.End, m.Symbols())
	}
	for _, test := range []struct {
		address uint64
		want    string
	}{
		{0xfff, ""}, {0x1000, "old"}, {0x103f, "old"}, {0x1040, "new"}, {0x105f, "new"}, {0x1060, "old"}, {0x10ff, "old"}, {0x1100, ""},
		{0x1fff, ""}, {0x2000, "sizeless"}, {0x200f, "sizeless"}, {0x2010, "last of a page"}, {0x4fff, "last of a page"},
		{0x5000, "g"}, {0x5007, "g"}, {0x5008, ""}, {0x6fef, ""}, {0x6ff0, "last"}, {0x7fff, "last"}, {0x8000, ""},
		{7, ""}, {0, ""}, {math.MaxUint64, ""},
	} {
		got := ""
		if s, ok := m.Find(test.address); ok {
			got = s.Name
		}
		if got != test.want {
			t.Errorf("%#x: %q, want %q", test.address, got, test.want)
		}
	}
}

// TestMapRandom compares a map with a linear search through its lines.
func TestMapRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 1000 {
		var data []byte
		want := make([]Symbol, r.IntN(30))
		for i := range want {
			// In every other map some symbols have no size.
			want[i] = Symbol{r.Uint64N(200), uint64(max(1-round%2, r.IntN(60))), fmt.Sprintf("s %d", i)}
			data = appendSymbol(data, want[i].Address, want[i].Size, want[i].Name)
		}
		m := ParseMap("f", data)
		if all, err := m.Damage(); all != 0 || err != nil || len(want) > 0 && !reflect.DeepEqual(m.Symbols(), want) {
			t.Fatalf("%+v, %v; want %+v", m.Symbols(), err, want)
		}
		// Those without a size extend to the next start.
		size := func(s Symbol) uint64 {
			next := uint64(math.MaxUint64)
			for _, other := range want {
				if other.Address > s.Address {
					next = min(next, other.Address)
				}
			}
			switch {
			case s.Size > 0:
				return s.Size
			case next == math.MaxUint64:
				return 4096
			}
			return next - s.Address
		}
		for address := range uint64(300) {
			last := ""
			for _, s := range want {
				if address >= s.Address && address-s.Address < size(s) {
					last = s.Name
				}
			}
			got := ""
			if s, ok := m.Find(address); ok {
				got = s.Name
			}
			if got != last {
				t.Fatalf("%#x: %q, want %q\n%s", address, got, last, data)
			}
		}
	}
}

// A name of several lines stays one symbol.
func TestMapName(t *testing.T) {
	m := ParseMap("f", appendSymbol(nil, 0x10, 0x20, "a\nb\rc d"))
	if s := m.Symbols(); len(s) != 1 || s[0] != (Symbol{0x10, 0x20, "a b c d"}) {
		t.Errorf("%+v", s)
	}
}

// A map with too many lines keeps the last ones, which replace the others, and reports
// how many it omits.
func TestMapCut(t *testing.T) {
	var data []byte
	const lines, most = 100, 30
	for i := range uint64(lines) {
		data = appendSymbol(data, 0x10*(i%50), 0x10, fmt.Sprintf("s %d", i))
	}
	m := parseMap("f", append(data, "10 10 not whole"...), most)
	if err := m.Cut(); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "f: too large: its first 70 lines are omitted") {
		t.Error(err)
	}
	if m.Len() != most || m.Symbol(0).Name != "s 70" || m.End != uint64(len(data)) {
		t.Errorf("%d lines from %q on, up to %d of %d", m.Len(), m.Symbol(0).Name, m.End, len(data))
	}
	for address, want := range map[uint64]string{0: "", 0x130: "", 0x140: "s 70", 0x31f: "s 99"} {
		if s, _ := m.Find(address); s.Name != want {
			t.Errorf("%#x: %q, want %q", address, s.Name, want)
		}
	}
	if m := parseMap("f", data, lines); m.Cut() != nil || m.Len() != lines {
		t.Errorf("%d lines, %v", m.Len(), m.Cut())
	}
}

// A map takes a few bytes for each of its lines, even short ones and while it is parsed;
// above the maximum number of lines it takes no more.
func TestMapMemory(t *testing.T) {
	allocated := func(lines int) uint64 {
		data := bytes.Repeat([]byte("1 1 f\n"), lines)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := ParseMap("f", data)
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(m)
		return after.TotalAlloc - before.TotalAlloc
	}
	const lines = 100_000
	if n := allocated(lines); n > 60*lines {
		t.Errorf("%d bytes for %d lines", n, lines)
	}
	if n, most := allocated(3*maxLines), uint64(60*maxLines); n > most {
		t.Errorf("%d bytes for %d lines, want at most %d", n, 3*maxLines, most)
	}
}
