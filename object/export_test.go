// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"testing"
)

// fileMemory is memory with a loaded file: its segments, at a bias.
type fileMemory struct {
	*File
	bias uint64
}

func (m fileMemory) ReadMemory(b []byte, addr uint64) error { return m.File.ReadMemory(b, addr-m.bias) }

// A symbol is found even if the hash table is damaged and does not have it.
func TestSymbolByDamagedHash(t *testing.T) {
	source := write(t, "exports.c", "int first(void) { return 1; }\nint second(void) { return 2; }\nint third = 3;\n")
	library := source + ".so"
	run(t, "gcc", "-shared", "-fPIC", "-Wl,--hash-style=both", "-o", library, source)
	data, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	whole := open(t, library)
	names := []string{"first", "second", "third"}
	want := make(map[string]uint64)
	for _, name := range names {
		s, ok := whole.Symbol(name)
		if !ok || s.Source != DynamicSymbols {
			t.Fatalf("%s: %+v, %t", name, s, ok)
		}
		if s, ok := whole.Symbol(name + "s"); ok {
			t.Errorf("%ss is %+v", name, s)
		}
		want[name] = s.Address
	}
	if whole.exports() == nil {
		t.Fatal("no table of hashes")
	}
	var hash Section
	for _, s := range whole.Sections() {
		if s.Type == elf.SHT_GNU_HASH {
			hash = s
		}
	}
	tests := []uint32{0, 1, 2, 3, 7, 1 << 16, 1 << 30, 1<<31 - 1, 1 << 31, ^uint32(0) - 1, ^uint32(0)}
	for at := uint64(0); at < hash.Size; at += 4 {
		for _, value := range tests {
			damaged := bytes.Clone(data)
			binary.LittleEndian.PutUint32(damaged[hash.Offset+at:], value)
			file, err := NewFile(damaged, "damaged")
			if err != nil {
				t.Fatal(err)
			}
			const bias = 0x10000
			image, err := FromMemory(fileMemory{file, bias}, bias, "image")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if s, ok := file.Symbol(name); !ok || s.Address != want[name] {
					t.Errorf("%#x at %#x: %s is %+v, %t", value, at, name, s, ok)
				}
				if s, ok := image.Symbol(name); !ok || s.Address != want[name] {
					t.Errorf("%#x at %#x: in memory %s is %+v, %t", value, at, name, s, ok)
				}
			}
			if spent := imageBudget - image.budget; spent > 64<<10 {
				t.Errorf("%#x at %#x: %d bytes of memory are read", value, at, spent)
			}
			if err := file.Damage(); err != nil {
				t.Errorf("%#x at %#x: %v", value, at, err)
			}
		}
	}
}

// The default version of an exported symbol is found through the hash table of each linker,
// and has precedence over a local function with the same name.
func TestSymbolByEitherHash(t *testing.T) {
	tool(t, "gcc")
	own := write(t, "own.c", "static __attribute__((noinline)) int foo(int x) { return x * 3; }\nint use(int x) { return foo(x) + 1; }\n")
	versions := write(t, "versions.c", "int foo_old(int x) { return x; }\nint foo_new(int x) { return x + 1; }\n"+
		"__asm__(\".symver foo_old,foo@V1\");\n__asm__(\".symver foo_new,foo@@V2\");\n")
	script := write(t, "script", "V1 { };\nV2 { global: use; } V1;\n")
	for _, style := range []string{"gnu", "sysv", "both"} {
		library := own + "." + style
		run(t, "gcc", "-O1", "-shared", "-fPIC", "-Wl,--hash-style="+style, "-Wl,--version-script="+script, "-o", library, own, versions)
		f := open(t, library)
		got, ok := f.Symbol("foo")
		want, isNew := f.Symbol("foo_new")
		if !ok || !isNew || got.Address != want.Address || got.Source != DynamicSymbols {
			t.Errorf("%s: %+v, %t, want that at %#x", style, got, ok, want.Address)
		}
	}
}

// A hash table that cannot be read is not needed.
func TestSymbolByHashThatIsGone(t *testing.T) {
	source := write(t, "gone.c", "int first(void) { return 1; }\nchar data[65536] = {1};\n")
	library := source + ".so"
	run(t, "gcc", "-shared", "-fPIC", "-s", "-Wl,--hash-style=both", "-o", library, source)
	data, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	whole := open(t, library)
	want, ok := whole.Symbol("first")
	if !ok {
		t.Fatal("no symbol")
	}
	section := func(is func(Section) bool) (found Section) {
		for _, s := range whole.Sections() {
			if is(s) {
				found = s
			}
		}
		return found
	}
	hash := section(func(s Section) bool { return s.Type == elf.SHT_GNU_HASH })
	dynamic := section(func(s Section) bool { return s.Type == elf.SHT_DYNAMIC })
	last := section(func(s Section) bool { return s.Name == ".data" })
	order := binary.LittleEndian
	for _, test := range []struct {
		name string
		at   uint64 // of the table in .data
		left uint64 // bytes of .data
	}{
		{"all of it", last.Size - 512, 8192},
		{"its chains", 16<<10 - last.Offset%4096 - (hash.Size - 4), 16<<10 - last.Offset%4096},
	} {
		moved := bytes.Clone(data)
		copy(moved[last.Offset+test.at:], data[hash.Offset:hash.Offset+hash.Size])
		for at := dynamic.Offset; at < dynamic.Offset+dynamic.Size; at += 16 {
			if elf.DynTag(order.Uint64(moved[at:])) == elf.DT_GNU_HASH {
				order.PutUint64(moved[at+8:], last.Address+test.at)
			}
		}
		order.PutUint64(moved[0x28:], 0) // the section table
		order.PutUint16(moved[0x3c:], 0)
		path := write(t, "moved.so", string(moved))
		f := open(t, path)
		if err := os.Truncate(path, int64(last.Offset+test.left)); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if s, ok := f.Symbol("first"); !ok || s.Address != want.Address {
				t.Errorf("%s is gone: %+v, %t", test.name, s, ok)
			}
		}
		if err := f.Damage(); err != nil {
			t.Errorf("%s is gone, which costs nothing: %v", test.name, err)
		}
	}
}
