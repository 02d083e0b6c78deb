// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"fmt"
	"testing"
)

// Attributes that are passed over at once take as many bytes as those that are read.
func TestPass(t *testing.T) {
	fixed := 0
	for form := uint32(0); form <= formGNUStrpAlt; form++ {
		for _, u := range []unit{
			{version: 2, addressSize: 4}, {version: 4, addressSize: 8}, {version: 5, addressSize: 2},
			{version: 5, addressSize: 8, is64: true}, {version: 2, addressSize: 8, is64: true},
		} {
			u.source = new(source)
			at := attribute{name: attrLowPC, form: form}
			table := &abbreviations{attributes: []attribute{at, at, at}}
			a := &abbreviation{end: 3}
			for range table.attributes {
				a.size.add(form)
			}
			if !a.size.varies {
				fixed++
			}
			for n := range 3*16 + 1 {
				read := cursor{data: make([]byte, n), section: ".debug_info"}
				passed := read
				for _, at := range table.attributes {
					u.read(&read, at)
				}
				u.pass(&passed, table, a)
				if read.off != passed.off || fmt.Sprint(read.err) != fmt.Sprint(passed.err) {
					t.Errorf("three of form %#x in %d bytes: read up to %d (%v), passed up to %d (%v)", form, n, read.off, read.err, passed.off, passed.err)
				}
			}
		}
	}
	if fixed != 5*30 {
		t.Errorf("%d of a fixed size", fixed)
	}
}

// So many that they cannot be counted are read one by one.
func TestPassMany(t *testing.T) {
	for _, form := range []uint32{formData1, formData16, formStrp, formAddr} {
		u := unit{source: new(source), version: 5, addressSize: 8}
		var table abbreviations
		a := new(abbreviation)
		for range 70_000 {
			table.attributes = append(table.attributes, attribute{form: form})
			a.size.add(form)
		}
		a.end = uint32(len(table.attributes))
		read := cursor{data: make([]byte, 2<<20)}
		passed := read
		for _, at := range table.attributes {
			u.read(&read, at)
		}
		if u.pass(&passed, &table, a); read.off != passed.off {
			t.Errorf("form %#x: read up to %d, passed up to %d", form, read.off, passed.off)
		}
	}
}
