// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package gotable

import (
	"encoding/binary"
	"slices"
	"testing"
)

// smallTables are small .gopclntab sections of Go 1.20, 1.18 and 1.16: one function
// at 0x1000, with a name, a file and a line. From Go 1.18 on, another function is inlined up
// to 0x1008, by the tree at the end of the section.
func smallTables() (list [][]byte) {
	o := binary.LittleEndian
	record := func(entry []byte, magic uint32, calls int) []byte {
		numbers := []uint32{0, 0, 0, 1, 1, 1, 3, 0, 0} // name, args, deferreturn, pcsp, pcfile, pcln, npcdata, unit, line
		if magic != magic120 {
			numbers = numbers[:8]
		}
		r := entry
		for _, v := range numbers {
			r = o.AppendUint32(r, v)
		}
		r = append(r, 0, flagTopFrame|flagAssembly, 0, 4)
		for _, v := range []uint32{0, 0, 5, 0, 0, 0, uint32(calls)} {
			r = o.AppendUint32(r, v)
		}
		return r
	}
	steps := []byte{0, 2, 16, 0, 0, 2, 8, 1, 8} // the value 0 for 16 bytes; after it 0 for 8, -1 for 8
	for _, magic := range []uint32{magic120, magic118, magic116} {
		words, field, entry := 8, 4, o.AppendUint32(nil, 0)
		if magic == magic116 {
			words, field, entry = 7, 8, o.AppendUint64(nil, 0x1000)
		}
		header := o.AppendUint32(nil, magic)
		header = append(header, 0, 0, 1, 8)
		names := uint64(8 + 8*words)
		units, files := names+8, names+12
		pcs, data := names+20, names+30
		values := []uint64{1, 1, 0x1000, names, units, files, pcs, data}
		if magic == magic116 {
			values = []uint64{1, 1, names, units, files, pcs, data}
		}
		for _, v := range values {
			header = o.AppendUint64(header, v)
		}
		b := append(header, "main.f\x00\x00\x00\x00\x00\x00main.go\x00"...)
		b = append(append(b, steps...), 0)
		index := make([]byte, 3*field)
		put := func(i int, v uint64) {
			if field == 4 {
				o.PutUint32(index[4*i:], uint32(v))
			} else {
				o.PutUint64(index[8*i:], v)
			}
		}
		base := uint64(0)
		if field == 8 {
			base = 0x1000
		}
		put(0, base)
		put(1, uint64(len(index)))
		put(2, base+16)
		b = append(b, index...)
		b = append(b, record(entry, magic, len(b)+len(record(entry, magic, 0)))...)
		call := []uint32{0, 5, 12, 0} // name, where it is called
		if magic == magic118 {
			call = []uint32{0, 0, 0, 5, 12}
		}
		for _, v := range call {
			b = o.AppendUint32(b, v)
		}
		list = append(list, b)
	}
	return list
}

func TestTable(t *testing.T) {
	for i, data := range smallTables() {
		table, err := New(data)
		if err != nil {
			t.Errorf("table %d: %v", i, err)
			continue
		}
		if table.text != 0 {
			table.text = 0x1000
		}
		fn, ok := table.Find(0x1008)
		if !ok || fn.Entry != 0x1000 || fn.End != 0x1010 || table.Name(&fn) != "main.f" {
			t.Errorf("table %d: %+v, %v", i, fn, ok)
			continue
		}
		if file, line := table.Position(&fn, 0x1008); file != "main.go" || line != 0 {
			t.Errorf("table %d: %s:%d", i, file, line)
		}
		inlined := table.magic != magic116
		want := Function{Name: "main.f", Entry: 0x1000, End: 0x1010, TopFrame: true, Assembly: true}
		if g := table.Describe(&fn, 0x1008); g != want {
			t.Errorf("table %d: %+v, expected %+v", i, g, want)
		}
		table.calls = data
		main := Location{Function: "main.f", File: "main.go"}
		for addr, want := range map[uint64][]Location{
			0x1007: {{Function: "f", File: "main.go", Inlined: true}, main},
			0x1008: {main},
		} {
			if !inlined {
				want = []Location{main}
			}
			if got := table.Locations(&fn, addr); !slices.Equal(got, want) {
				t.Errorf("table %d: %#x is at %v, expected %v", i, addr, got, want)
			}
		}
		if _, ok := table.Find(0x1010); ok {
			t.Errorf("table %d: a function after the last", i)
		}
	}
}

// FuzzTable reads tables of Go functions.
func FuzzTable(f *testing.F) {
	for _, data := range smallTables() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := New(data)
		if (err == nil) == (table == nil) {
			t.Fatalf("%v and %v", table, err)
		}
		if table == nil {
			return
		}
		for _, addr := range []uint64{0, 0x1008, 0x2000, ^uint64(0), table.Start(0), table.Start(table.count)} {
			if fn, ok := table.Find(addr); ok {
				if addr < fn.Entry || addr >= fn.End {
					t.Fatalf("%#x is in [%#x, %#x)", addr, fn.Entry, fn.End)
				}
				table.Describe(&fn, addr)
				table.calls = data
				if arguments, ok := table.Arguments(&fn, addr, 8, true); len(arguments) > maxArgumentsSize || !ok && arguments != nil {
					t.Fatalf("%#x has %d arguments, %t", addr, len(arguments), ok)
				}
				list := table.Locations(&fn, addr)
				if n := len(list); n < 1 || n > maxInlined+1 {
					t.Fatalf("%#x is at %d places", addr, n)
				}
				for _, l := range list { // garble -tiny writes invalid lines
					if l.Line < 0 {
						t.Fatalf("%#x is at line %d", addr, l.Line)
					}
				}
			}
		}
	})
}
