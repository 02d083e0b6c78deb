// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// SymbolsAt finds all names of an address, but no symbol that only covers it.
func TestSymbolsAt(t *testing.T) {
	f, err := object.Open(testprogram.Build(t, "chain.c"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := range f.Symbols() {
		found := f.SymbolsAt(s.Address)
		if !slices.Contains(found, s) {
			t.Errorf("%+v is not among those at its address: %+v", s, found)
		}
		for _, other := range found {
			if other.Address != s.Address {
				t.Errorf("%+v is among those at %#x", other, s.Address)
			}
		}
	}
	if s, ok := f.Symbol("main"); !ok || len(f.SymbolsAt(s.Address+1)) != 0 {
		t.Errorf("main is %+v, and within it are %+v", s, f.SymbolsAt(s.Address+1))
	}
}

// The values of symbols in a runtime's symbol file can be addresses or relative to their
// section. The values themselves show which.
func TestSectionRelativeSymbols(t *testing.T) {
	data, err := os.ReadFile("../jit/symfile/testdata/runtimes/cpython_x86_64.elf")
	if err != nil {
		t.Fatal(err)
	}
	const name, start = "py::jit_entry:<jit>", 0x7f0012340000
	for _, typ := range []elf.Type{elf.ET_DYN, elf.ET_EXEC} {
		for _, value := range []uint64{start, 0, 0x10} {
			changed := bytes.Clone(data)
			changed[16] = byte(typ)
			at := binary.LittleEndian.Uint64(data[40:]) + 5*64 // the header of .symtab
			at = binary.LittleEndian.Uint64(data[at+24:]) + 2*24
			binary.LittleEndian.PutUint64(changed[at+8:], value)
			f, err := object.NewFile(changed, "symbol file")
			if err != nil {
				t.Fatal(err)
			}
			want := start + value%start
			list, err := f.FindSymbols([]uint64{want + 1})
			if err != nil || list[0].Name != name || list[0].Address != want {
				t.Errorf("%v, value %#x: FindSymbols = %+v, %v", typ, value, list, err)
			}
			if list := f.SymbolsAt(want); len(list) != 1 || list[0].Name != name {
				t.Errorf("%v, value %#x: SymbolsAt = %+v", typ, value, list)
			}
			if s, ok := f.Symbol(name); !ok || s.Address != want {
				t.Errorf("%v, value %#x: Symbol = %+v", typ, value, s)
			}
		}
	}
}
