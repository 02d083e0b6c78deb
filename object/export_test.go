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

// fileMemory is memory that a file is loaded in: its segments, at a bias.
type fileMemory struct {
	*File
	bias uint64
}

func (m fileMemory) ReadMemory(b []byte, addr uint64) error { return m.File.ReadMemory(b, addr-m.bias) }

// A symbol is found whatever the table of hashes is made to say: that it is not in it
// says nothing.
func TestSymbolByDamagedHash(t *testing.T) {
	source := write(t, "exports.c", "int first(void) { return 1; }\nint second(void) { return 2; }\nint third = 3;\n")
	library := source + ".so"
	run(t, "gcc", "-shared", "-fPIC", "-Wl,--hash-style=gnu", "-o", library, source)
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
				// Of an image the same table tells how many symbols there are.
				if s, ok := image.Symbol(name); ok && s.Address != want[name] {
					t.Errorf("%#x at %#x: in memory %s is %+v", value, at, name, s)
				}
			}
			if err := file.Damage(); err != nil {
				t.Errorf("%#x at %#x: %v", value, at, err)
			}
		}
	}
}
