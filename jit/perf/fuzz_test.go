// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"math"
	"os"
	"testing"

	"github.com/clewdev/clew/cfi"
)

// FuzzJitdump reads hostile dumps: each part is an error or a usable value.
func FuzzJitdump(f *testing.F) {
	for _, name := range samples {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, order := range orders {
		e := startDump(order)
		for _, r := range []anyRecord{
			{1, []DebugEntry{{0x1000, 1, 2, "a"}, {0x1004, 2, 0, "\xff"}}},
			{2, UnwindingInfo{8, []byte{4, 0, 0, 0, 0, 0, 0, 0}, []byte{1, 0xff, 0xff, 0xff, 9, 9, 9, 9}, true}},
			{3, Load{1, 1, 0, 0x1000, 0, "f", []byte{0x90, 0xc3}}},
			{4, Move{1, 1, 0, 0x1000, 0x2000, 2, 0}},
			{5, []byte("unknown")},
		} {
			if err := r.write(e); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(e.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseJitdump("fuzz", data)
		if (err == nil) == (d == nil) {
			t.Fatalf("%v and %v", d, err)
		}
		if d == nil {
			return
		}
		if d.End < headerSize || d.End > uint64(len(data)) {
			t.Fatalf("the records end at %d of %d", d.End, len(data))
		}
		end := d.first
		for r := range d.Records() {
			if r.Offset != end || r.Size < prefixSize {
				t.Fatalf("%+v, expected at %d", r, end)
			}
			end += r.Size
			exercise(t, &r)
		}
		if end != d.End {
			t.Fatalf("the records end at %d, expected %d", end, d.End)
		}
		x := d.Index()
		for i := range x.Functions() {
			fn := &x.Functions()[i]
			if fn.Size == 0 || int(fn.Size) != len(x.Code(fn)) || fn.Address+uint64(fn.Size) < fn.Address {
				t.Fatalf("%+v with %d bytes of code", fn, len(x.Code(fn)))
			}
			if got, ok := x.Find(fn.Address, fn.Time); ok && (fn.Address < got.Address || fn.Address-got.Address >= uint64(got.Size) || got.Time > fn.Time) {
				t.Fatalf("at %#x, %d: %+v", fn.Address, fn.Time, got)
			}
			for l := range x.Lines(fn) {
				if l.Offset >= uint64(fn.Size) {
					t.Fatalf("%+v of %+v", l, fn)
				}
			}
			if section, err := x.EHFrame(fn); err == nil && section != nil {
				var fde cfi.FDE
				_ = section.Find(fn.Address, &fde)
			}
		}
		x.Find(0, math.MaxUint64)
		x.Find(math.MaxUint64, 0)
	})
}

// exercise decodes a record by its kind, and encodes it again.
func exercise(t *testing.T, r *Record) {
	a := anyRecord{time: r.Time}
	var err error
	switch r.ID {
	case CodeLoad:
		a.body, err = r.Load()
	case CodeMove:
		a.body, err = r.Move()
	case CodeUnwindingInfo:
		a.body, err = r.UnwindingInfo()
	case CodeDebugInfo:
		info, e := r.DebugInfo()
		n := uint64(0)
		for range info.Entries() {
			n++
		}
		if n != info.Count || n > r.Size {
			t.Fatalf("%d entries, %+v, %v", n, info, e)
		}
		return
	default:
		return
	}
	if err != nil {
		return
	}
	e := startDump(r.dump.Order.(byteOrder))
	if err := a.write(e); err != nil {
		t.Fatal(err)
	}
	d, err := ParseJitdump("again", e.Data)
	if err != nil {
		t.Fatal(err)
	}
	for again := range d.Records() {
		a.check(t, again)
	}
}

// FuzzMap reads hostile perf maps.
func FuzzMap(f *testing.F) {
	for _, seed := range []string{
		"7f00 40 f\n7f20 0 g h\n", "0x7f00 0x40 f\r\n", "1 2\n", "1 1 a\n1 1 b\n1 0 c\n", "ffffffffffffffff 0 f\n", "0 ffffffffffffffff f\n9 9 g", "0 0 \r \n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := ParseMap("fuzz", data)
		if m.End > uint64(len(data)) || m.End > 0 && data[m.End-1] != '\n' {
			t.Fatalf("the lines end at %d of %d", m.End, len(data))
		}
		for k := range m.starts {
			if m.starts[k] >= m.endOf(k) || k > 0 && m.starts[k] < m.endOf(k-1) || int(m.owners[k]) >= m.Len() {
				t.Fatalf("range %d of %x, %d", k, m.starts, m.owners)
			}
		}
		var again []byte
		for _, s := range m.Symbols() {
			if s.Size > 0 {
				if _, ok := m.Find(s.Address); !ok {
					t.Fatalf("%+v is not found", s)
				}
			}
			again = appendSymbol(again, s.Address, s.Size, s.Name)
		}
		if got := ParseMap("again", again); got.Len() != m.Len() || len(got.starts) != len(m.starts) {
			t.Fatalf("%q\nreads otherwise than\n%q", again, data)
		}
	})
}
