// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"encoding/binary"
	"os"
	"reflect"
	"testing"
)

// .debug_aranges is a hint: lines and variables are the same if it is wrong, damaged,
// truncated or missing.
func TestAranges(t *testing.T) {
	tool(t, "gcc")
	first := write(t, "first.c", "int second(int);\nint first(int n) { return second(n) + 1; }\nint main(void) { return first(0); }\n")
	second := write(t, "second.c", "static int nested(int n) { return n * 3; }\nint second(int n) { return nested(n) + 2; }\n")
	program := first + ".out"
	run(t, "gcc", "-g", "-O0", "-o", program, first, second)
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"first", "main", "second", "nested"}
	want := codeAnswers(t, data, names)
	for i, name := range names {
		if l := want[i].locations; len(l) != 1 || l[0].Function != name || l[0].Line == 0 {
			t.Fatalf("%s is at %v", name, l)
		}
	}
	f, err := NewFile(data, "program")
	if err != nil {
		t.Fatal(err)
	}
	index, ok := f.find(".debug_aranges")
	if !ok {
		t.Fatal("gcc wrote no .debug_aranges")
	}
	at, size := f.section(index).off, f.section(index).size
	header := binary.LittleEndian.Uint64(data[40:]) + uint64(shdr64*index) // of the section
	check := func(what string, change func(data, section []byte)) {
		t.Helper()
		changed := bytes.Clone(data)
		change(changed, changed[at:at+size])
		if got := codeAnswers(t, changed, names); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\nexpected %v", what, got, want)
		}
	}
	for n := range size {
		check("truncated", func(data, _ []byte) { binary.LittleEndian.PutUint64(data[header+32:], n) })
		for _, b := range []byte{0, 1, 0x80, 0xff} {
			check("damaged", func(_, section []byte) { section[n] = b })
		}
	}
	// Each set names the other's unit: the offset of one is after length and version.
	check("lying", func(_, section []byte) {
		o := binary.LittleEndian
		next := section[4+o.Uint32(section):]
		for len(next) > 12 && o.Uint32(next) == 0 {
			next = next[1:]
		}
		a, b := o.Uint32(section[6:]), o.Uint32(next[6:])
		if a == b {
			t.Fatal("one unit has two sets")
		}
		o.PutUint32(section[6:], b)
		o.PutUint32(next[6:], a)
	})
}

// codeAnswer is the location and the entries of the functions at a symbol.
type codeAnswer struct {
	locations []Location
	starts    []uint64
}

// codeAnswers returns the answers for functions of a program, and checks the unit of each.
func codeAnswers(t *testing.T, data []byte, names []string) (list []codeAnswer) {
	t.Helper()
	f, err := NewFile(data, "program")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range names {
		s, ok := f.Symbol(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		// A reader without an entry for the address reads the unit itself.
		r, err := f.DebugReader()
		if err != nil {
			t.Fatal(err)
		}
		before, known := r.CodeAt(s.Address, 2)
		if !known || before == nil {
			t.Fatalf("%s is in unit %v, %t", name, before, known)
		}
		locations, err := f.Locate(s.Address)
		if err != nil {
			t.Fatal(err)
		}
		functions, err := f.FunctionsAt(s.Address + 1)
		if err != nil {
			t.Fatal(err)
		}
		a := codeAnswer{locations: locations}
		for _, function := range functions {
			a.starts = append(a.starts, function.Entry)
		}
		if r, err = f.DebugReader(); err != nil {
			t.Fatal(err)
		}
		unit, known := r.CodeAt(s.Address, 2)
		if !known || unit == nil || unit.Start != before.Start {
			t.Fatalf("%s is in unit %v, %t", name, unit, known)
		}
		at, ok := r.FunctionAt(s.Address, 2)
		if !ok || at < unit.First || at >= unit.End {
			t.Fatalf("%s is the entry at %v, %t, in the unit at %v", name, at, ok, unit.Start)
		}
		list = append(list, a)
	}
	return list
}
