// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/dwarf"
	"encoding/binary"
	"strings"
	"testing"
)

// variables returns the name and type of every global variable.
func variables(t *testing.T, f *File) map[string]string {
	t.Helper()
	data, err := f.DWARF()
	if data == nil || err != nil {
		t.Fatalf("DWARF() = %v, %v", data, err)
	}
	found := make(map[string]string)
	r := data.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return found
		}
		if e.Tag != dwarf.TagVariable {
			continue
		}
		at, _ := e.Val(dwarf.AttrType).(dwarf.Offset)
		if typ, err := data.Type(at); err == nil {
			name, _ := e.Val(dwarf.AttrName).(string)
			found[name] = typ.String()
		}
	}
}

func TestDWARF(t *testing.T) {
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
			if data, err := f.DebugSection("info"); len(data) == 0 || err != nil {
				t.Errorf("DebugSection: %d bytes, %v", len(data), err)
			}
		})
	}
}

func TestDWARFOfDebugFile(t *testing.T) {
	program, debug := split(t)
	run(t, "objcopy", "--add-gnu-debuglink="+debug, program)
	f := open(t, program)
	if data, err := f.DWARF(); data != nil || err != nil {
		t.Errorf("without the debug file: %v, %v", data, err)
	}
	if _, err := f.OpenDebugFile(DebugSearch{}); err != nil {
		t.Fatal(err)
	}
	if got := variables(t, f)["sink"]; got != "volatile int" {
		t.Errorf("sink is of type %q", got)
	}
	if data, err := f.DebugSection("abbrev"); len(data) == 0 || err != nil {
		t.Errorf("DebugSection: %d bytes, %v", len(data), err)
	}
}

// TestDWARFIsBounded has units that each name another tail of one large table,
// which debug/dwarf would keep as many times.
func TestDWARFIsBounded(t *testing.T) {
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
	data, err := f.DWARF()
	if data != nil || err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("%v, %v", data, err)
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
