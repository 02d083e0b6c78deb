// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// variables returns the name and type of every global variable.
func variables(t *testing.T, f *File) map[string]string {
	t.Helper()
	r, err := f.DebugReader()
	if r == nil || err != nil {
		t.Fatalf("DebugReader() = %v, %v", r, err)
	}
	types := make(map[string]DebugOffset)
	for _, u := range r.Units() {
		if err := r.Seek(u.First); err != nil {
			t.Fatal(err)
		}
		for {
			e, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if e == nil {
				break
			}
			if name, ok := e.Text(dwarf.AttrName); ok && e.Tag == dwarf.TagVariable {
				types[name], _ = e.Reference(dwarf.AttrType)
			}
		}
	}
	found := make(map[string]string)
	for name, at := range types {
		found[name] = typeName(t, r, at, 5)
	}
	return found
}

// typeName returns the name of a base type and its qualifiers.
func typeName(t *testing.T, r *DebugReader, at DebugOffset, most int) string {
	t.Helper()
	if err := r.Seek(at); err != nil || most == 0 {
		t.Fatalf("type at %v: %v", at, err)
	}
	e, err := r.Next()
	if e == nil || err != nil {
		t.Fatalf("type at %v: %v, %v", at, e, err)
	}
	if e.Tag == dwarf.TagVolatileType {
		of, _ := e.Reference(dwarf.AttrType)
		return "volatile " + typeName(t, r, of, most-1)
	}
	name, _ := e.Text(dwarf.AttrName)
	return name
}

// readEntries reads all entries, and returns their attributes.
func readEntries(f *File) (n int, err error) {
	r, err := f.DebugReader()
	if r == nil || err != nil {
		return 0, err
	}
	var problems problems
	for _, u := range r.Units() {
		problems.add(Guard(func() error {
			if err := r.Seek(u.First); err != nil {
				return err
			}
			for {
				e, err := r.Next()
				if e == nil || err != nil {
					return err
				}
				r.Ranges(e, func(uint64, uint64) {})
				n++
			}
		}))
	}
	return n, problems.err()
}

func TestDebugReader(t *testing.T) {
	tool(t, "gcc")
	for _, tt := range []struct {
		name    string
		flags   []string
		convert []string // of objcopy
	}{
		{"dwarf4", []string{"-gdwarf-4"}, nil},
		{"dwarf5", []string{"-gdwarf-5"}, nil},
		{"relocatable", []string{"-c"}, nil},
		{"zlib", nil, []string{"--compress-debug-sections=zlib"}},
		{"zdebug", nil, []string{"--compress-debug-sections=zlib-gnu"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := write(t, "inline.c", inlineSource)
			out := source + ".out"
			run(t, "gcc", append([]string{"-O2", "-g", "-o", out, source}, tt.flags...)...)
			if tt.convert != nil {
				run(t, "objcopy", append(tt.convert, out)...)
			}
			f := open(t, out)
			if got := variables(t, f)["sink"]; got != "volatile int" {
				t.Errorf("sink is of type %q", got)
			}
		})
	}
}

func TestDebugReaderOfDebugFile(t *testing.T) {
	program, debug := split(t)
	run(t, "objcopy", "--add-gnu-debuglink="+debug, program)
	f := open(t, program)
	if r, err := f.DebugReader(); r != nil || err != nil {
		t.Errorf("without the debug file: %v, %v", r, err)
	}
	if _, err := f.OpenDebugFile(DebugSearch{}); err != nil {
		t.Fatal(err)
	}
	if got := variables(t, f)["sink"]; got != "volatile int" {
		t.Errorf("sink is of type %q", got)
	}
}

// A budget bounds the tables of units that each refer to another tail of one large table.
func TestDebugReaderIsBounded(t *testing.T) {
	o := binary.LittleEndian
	abbrev := []byte(strings.Repeat("\x01\x11\x00\x00\x00", 20000) + "\x00")
	var info []byte
	for i := range 5000 {
		info = o.AppendUint32(info, 8)
		info = o.AppendUint16(info, 4)
		info = o.AppendUint32(info, uint32(5*i))
		info = append(info, 8, 1)
	}
	f, err := NewFile(sectionsFile(map[string][]byte{".debug_info": info, ".debug_abbrev": abbrev}), "overlapping")
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := readEntries(f)
	runtime.ReadMemStats(&after)
	size := uint64(len(abbrev) + len(info))
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16*size+64<<20 {
		t.Errorf("%d bytes were allocated for a file of %d", allocated, size)
	}
	// The first tables are within the budget.
	if n == 0 || err == nil || !strings.Contains(err.Error(), "tables overlap") {
		t.Errorf("%d entries, %v", n, err)
	}
}

// A relocatable file, and a file with split units, has a section for each type unit of DWARF
// 5. All of them share one table, which is read once.
func TestDebugReaderOfManyTypeSections(t *testing.T) {
	const types = 400
	tool(t, "g++")
	var text strings.Builder
	for i := range types {
		fmt.Fprintf(&text, "struct t%d { int a, *b; char c[%d]; enum { one%d } e; t%d *next; }; t%d v%d;\n", i, i+1, i, i, i, i)
	}
	source := write(t, "types.cc", text.String())
	run(t, "g++", "-g", "-gdwarf-5", "-fdebug-types-section", "-c", "-o", source+".o", source)
	f := open(t, source+".o")
	r, err := f.DebugReader()
	if r == nil || err != nil {
		t.Fatalf("DebugReader() = %v, %v", r, err)
	}
	if n := len(r.Units()); n <= types {
		t.Errorf("%d units of %d types", n, types)
	}
	if _, err := readEntries(f); err != nil {
		t.Error(err)
	}
}

// sectionsFile returns an ELF file for amd64 with these sections.
func sectionsFile(sections map[string][]byte) []byte {
	o := binary.LittleEndian
	names := "\x00.shstrtab\x00"
	type entry struct{ name, typ, off, size int }
	list := []entry{{}}
	b := make([]byte, ehdr64)
	add := func(name, typ int, data []byte) {
		list = append(list, entry{name, typ, len(b), len(data)})
		b = append(b, data...)
	}
	for name, data := range sections {
		add(len(names), 1, data)
		names += name + "\x00"
	}
	add(1, 3, []byte(names))
	table := len(b)
	b = append(b, make([]byte, shdr64*len(list))...)
	for i, s := range list {
		h := b[table+shdr64*i:]
		o.PutUint32(h, uint32(s.name))
		o.PutUint32(h[4:], uint32(s.typ))
		o.PutUint64(h[24:], uint64(s.off))
		o.PutUint64(h[32:], uint64(s.size))
	}
	copy(b, "\x7fELF\x02\x01\x01")
	o.PutUint16(b[16:], 2)
	o.PutUint16(b[18:], 62)
	o.PutUint64(b[40:], uint64(table))
	o.PutUint16(b[58:], shdr64)
	o.PutUint16(b[60:], uint16(len(list)))
	o.PutUint16(b[62:], uint16(len(list)-1))
	return b
}

// TestDebugEntry reads attributes by their class, and by other classes.
func TestDebugEntry(t *testing.T) {
	tool(t, "gcc")
	source := write(t, "inline.c", inlineSource)
	out := source + ".out"
	run(t, "gcc", "-O2", "-g", "-o", out, source)
	f := open(t, out)
	r, err := f.DebugReader()
	if r == nil || err != nil {
		t.Fatalf("DebugReader() = %v, %v", r, err)
	}
	if err := r.Seek(r.Units()[0].First); err != nil {
		t.Fatal(err)
	}
	root, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	var sink DebugEntry
	for !sink.IsText(dwarf.AttrName, "sink") {
		if ok, err := r.NextTo(&sink); !ok || err != nil {
			t.Fatalf("no sink: %v", err)
		}
	}
	kept := sink
	buffer := kept.KeepIn(nil)
	if _, err := r.NextTo(&sink); err != nil || len(buffer) != kept.Len() || kept.Len() == 0 {
		t.Fatalf("%d attributes are kept of %d: %v", len(buffer), kept.Len(), err)
	}
	e := &kept
	name, isText := e.Text(dwarf.AttrName)
	line, isNumber := e.Number(dwarf.AttrDeclLine)
	_, isReference := e.Reference(dwarf.AttrType)
	location, isBlock := e.Block(dwarf.AttrLocation)
	if name != "sink" || !isText || line <= 0 || !isNumber || !isReference || len(location) == 0 || !isBlock || !e.Flag(dwarf.AttrExternal) {
		t.Errorf("sink is %q, at line %d, a type: %v, at % x, external: %v", name, line, isReference, location, e.Flag(dwarf.AttrExternal))
	}
	if e.IsText(dwarf.AttrName, "sin") || e.IsText(dwarf.AttrName, "sinks") || e.IsText(dwarf.AttrDeclLine, "sink") || e.Has(dwarf.AttrLowpc) {
		t.Error("sink has another name, or an address")
	}
	_, isText = e.Text(dwarf.AttrType)
	_, isNumber = e.Number(dwarf.AttrName)
	_, isReference = e.Reference(dwarf.AttrName)
	_, isBlock = e.Block(dwarf.AttrName)
	_, isAddress := e.Address(dwarf.AttrDeclLine)
	_, isList := e.List(dwarf.AttrLocation)
	_, isIndex := e.ListIndex(dwarf.AttrLocation)
	_, isSignature := e.Signature(dwarf.AttrType)
	if isText || isNumber || isReference || isBlock || isAddress || isList || isIndex || isSignature || e.Flag(dwarf.AttrName) {
		t.Error("an attribute has another class")
	}

	// After the budget of strings, neither strings nor entries are returned until Restart.
	asked := 0
	for ok := true; ok && asked < 1<<30; {
		var s string
		if s, ok = root.Text(dwarf.AttrProducer); len(s) < 8 && ok {
			t.Fatalf("the producer is %q", s)
		}
		asked += len(s)
	}
	if asked >= 1<<30 {
		t.Error("strings have no end")
	}
	if _, err := r.Next(); err == nil {
		t.Error("another entry is read")
	}
	r.Restart()
	if _, err := r.Next(); err != nil {
		t.Errorf("after Restart: %v", err)
	}
	if _, ok := root.Text(dwarf.AttrProducer); !ok {
		t.Error("no string after Restart")
	}
}
