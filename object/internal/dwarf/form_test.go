// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/dw"
)

// Skipping all attributes at once skips the same bytes as reading them.
func TestPass(t *testing.T) {
	fixed := 0
	for form := uint32(0); form <= dw.FormGNUStrpAlt; form++ {
		for _, u := range []unit{
			{version: 2, addressSize: 4}, {version: 4, addressSize: 8}, {version: 5, addressSize: 2},
			{version: 5, addressSize: 8, is64: true}, {version: 2, addressSize: 8, is64: true},
		} {
			u.source = new(source)
			at := attribute{name: dw.AttrLowPC, form: form}
			table := &abbreviations{attributes: []attribute{at, at, at}}
			a := &abbreviation{end: 3}
			for range table.attributes {
				a.size.add(form)
			}
			if !a.size.varies {
				fixed++
			}
			for n := range 3*16 + 1 {
				read := newCursor(debugInfo, make([]byte, n), n%2 == 1)
				passed := read
				for _, at := range table.attributes {
					u.read(&read, at)
				}
				u.pass(&passed, table, a)
				if read.Off != passed.Off || fmt.Sprint(read.Err) != fmt.Sprint(passed.Err) {
					t.Errorf("three of form %#x in %d bytes: read up to %d (%v), passed up to %d (%v)", form, n, read.Off, read.Err, passed.Off, passed.Err)
				}
			}
		}
	}
	if fixed != 5*30 {
		t.Errorf("%d of a fixed size", fixed)
	}
}

// If there are too many attributes to count, they are read one by one.
func TestPassMany(t *testing.T) {
	for _, form := range []uint32{dw.FormData1, dw.FormData16, dw.FormStrp, dw.FormAddr} {
		u := unit{source: new(source), version: 5, addressSize: 8}
		var table abbreviations
		a := new(abbreviation)
		for range 70_000 {
			table.attributes = append(table.attributes, attribute{form: form})
			a.size.add(form)
		}
		a.end = uint32(len(table.attributes))
		read := newCursor(debugInfo, make([]byte, 2<<20), false)
		passed := read
		for _, at := range table.attributes {
			u.read(&read, at)
		}
		if u.pass(&passed, &table, a); read.Off != passed.Off {
			t.Errorf("form %#x: read up to %d, passed up to %d", form, read.Off, passed.Off)
		}
	}
}

// DW_FORM_indirect cannot refer to itself, in read and in pass.
func TestIndirectForm(t *testing.T) {
	for _, test := range []struct {
		data []byte
		ok   bool
	}{
		{[]byte{1, dw.FormData1, 5}, true},
		{[]byte{1, dw.FormUdata, 0x85, 1}, true},
		{[]byte{1, dw.FormIndirect, dw.FormData1, 5}, false},
	} {
		u := &unit{source: new(source), version: 5, addressSize: 8, end: uint64(len(test.data))}
		table := &abbreviations{dense: []abbreviation{{code: 1, tag: dw.TagVariable, end: 1, size: attributeSize{varies: true}}}, attributes: []attribute{{name: dw.AttrLowPC, form: dw.FormIndirect}}}
		for _, how := range []string{"read", "passed"} {
			r := &Reader{d: new(Data), in: &opened{unit: u, table: table}, c: newCursor(debugInfo, test.data, false)}
			var e Entry
			var err error
			if how == "read" {
				_, err = r.NextTo(&e)
			} else {
				_, _, err = r.Pass(&e)
			}
			if (err == nil) != test.ok || test.ok && int(r.c.Off) != len(test.data) {
				t.Errorf("%x is %s up to %d: %v", test.data, how, int(r.c.Off), err)
			}
		}
	}
}

// Numbers have the byte order of the file.
func TestNumbers(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for _, test := range []struct {
		big              bool
		u16, u24, u32    uint64
		u64              uint64
		offset, offset64 uint64
	}{
		{false, 0x0201, 0x030201, 0x04030201, 0x0807060504030201, 0x04030201, 0x0807060504030201},
		{true, 0x0102, 0x010203, 0x01020304, 0x0102030405060708, 0x01020304, 0x0102030405060708},
	} {
		for _, number := range []struct {
			read func(c *cursor) uint64
			want uint64
		}{
			{func(c *cursor) uint64 { return uint64(c.Uint16()) }, test.u16},
			{func(c *cursor) uint64 { return uint64(c.u24()) }, test.u24},
			{func(c *cursor) uint64 { return uint64(c.Uint32()) }, test.u32},
			{func(c *cursor) uint64 { return c.Uint64() }, test.u64},
			{func(c *cursor) uint64 { return c.sized(2) }, test.u16},
			{func(c *cursor) uint64 { return c.offset(false) }, test.offset},
			{func(c *cursor) uint64 { return c.offset(true) }, test.offset64},
		} {
			whole := newCursor(debugInfo, data, test.big)
			if got := number.read(&whole); got != number.want {
				t.Errorf("big-endian %t: %#x, want %#x", test.big, got, number.want)
			}
			for n := range 8 { // a truncated number is an error, and 0
				c := newCursor(debugInfo, data[:n], test.big)
				if got := number.read(&c); (c.Err != nil) != (got == 0) {
					t.Errorf("big-endian %t, %d bytes: %#x, %v", test.big, n, got, c.Err)
				}
			}
		}
	}
}

// A truncated table of declarations costs the units that refer to it, and is read once.
func TestCutAbbreviations(t *testing.T) {
	var abbrev []byte
	for code := byte(1); code < 100; code++ {
		abbrev = append(abbrev, code, dw.TagVariable, 0)
		for range 900 {
			abbrev = append(abbrev, dw.AttrLowPC, dw.FormData1)
		}
		abbrev = append(abbrev, 0, 0)
	}
	d := newData(Sections{Abbrev: abbrev}, nil)
	src := &source{Sections: Sections{Abbrev: abbrev}, tables: make(map[uint64]*abbreviations)}
	u := &unit{source: src, version: 5, addressSize: 8}
	before := d.abbrevBudget
	for range 3 {
		if table, err := d.abbreviationsOf(u); err == nil || !strings.Contains(err.Error(), "LEB128 without end") {
			t.Fatalf("%v, %v", table, err)
		}
	}
	if spent := before - d.abbrevBudget; spent > len(abbrev) {
		t.Errorf("%d bytes of %d are charged for", spent, len(abbrev))
	}
	// The declarations before the end remain usable.
	if table, err := d.rootAbbreviations(u, 2); err != nil || table.only.code != 2 {
		t.Errorf("%v, %v", table, err)
	}
}

// LEB128s follow the rules of package leb128: padding and the form of old versions of gas are
// valid, and values of more than 64 bits are errors.
func TestLEB128(t *testing.T) {
	for _, test := range []struct {
		data   string
		signed bool
		want   int64 // 0 for an error
	}{
		{"\xf9\xff\xff\xff\xff\xff\xff\xff\xff\x01", true, -7},
		{"\xf9\xff\x7f", true, -7},
		{"\x87\x80\x00", false, 7},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", true, 0},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", false, 0},
		{"\x80", false, 0},
	} {
		c := newCursor(debugInfo, []byte(test.data), false)
		var got int64
		if test.signed {
			got = c.SLEB128()
		} else {
			got = int64(c.ULEB128())
		}
		if got != test.want || (c.Err == nil) != (test.want != 0) {
			t.Errorf("% x: %d, %v", test.data, got, c.Err)
		}
	}
}
