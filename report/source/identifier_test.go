// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source

import (
	"debug/elf"
	"iter"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/table"
)

// symbols are the names of functions of 16 bytes from 0x1000 on.
type symbols []string

func (s symbols) FindSymbols(addrs []uint64) ([]object.Symbol, error) {
	found := make([]object.Symbol, len(addrs))
	for i, a := range addrs {
		n := (a - 0x1000) / 16
		if name, offset, _ := strings.Cut(s[n], "+"); name != "" {
			found[i] = object.Symbol{Name: name, Address: a - uint64(len(offset)), Size: 16}
		}
	}
	return found, nil
}

func (s symbols) FindCode(*cfi.Section, []uint64, []uint64) ([]object.Code, error) { return nil, nil }
func (s symbols) Symbols() iter.Seq[object.Symbol]                                 { return func(func(object.Symbol) bool) {} }
func (s symbols) Sections() []object.Section                                       { return nil }

func TestIdentifiers(t *testing.T) {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	tests := []struct{ symbol, golang, c, asm string }{
		{"main", "main", "main", "main"},
		{"parse_number", "parseNumber", "parse_number", "parse_number"},
		{"_start", "start", "_start", "_start"},
		{"f.cold", "fCold", "f_cold", "f.cold"},
		{"f_cold", "fCold2", "f_cold_2", "f_cold"},
		{"_ZN2ns3Box3putEi", "nsBoxPut", "ns_Box_put", "_ZN2ns3Box3putEi"},
		{"_ZN2ns3Box3putEd", "nsBoxPut2", "ns_Box_put_2", "_ZN2ns3Box3putEd"},
		{"_ZN12_GLOBAL__N_11fEv", "anonymousNamespaceF", "anonymous_namespace_f", "_ZN12_GLOBAL__N_11fEv"},
		{"runtime.(*mheap).alloc", "runtimeMheapAlloc", "runtime_mheap_alloc", "runtime_mheap_alloc"},
		{"memcpy@@GLIBC_2.14", "memcpy", "memcpy", "memcpy"},
		{"printf@plt", "printfPlt", "printf_plt", "printf_plt"},
		{"", "f0x10b0", "f0x10b0", "f0x10b0"},
		{"rax", "rax", "rax", "rax_function"},
		{".local", "local", "local", "local"},
		{"main", "main3", "main_2", "main_2"},
		{"main2", "main2", "main2", "main2"},
		{"main", "main4", "main_3", "main_3"},
		{"big+...", "big0x3", "big_0x3", "big_0x3"},
		{"évil \n*/ name", "vilName", "vil_name", "vil_name"},
		{strings.Repeat("x", 300), strings.Repeat("x", 80), strings.Repeat("x", 80), strings.Repeat("x", 80)},
		{strings.Repeat("x", 301), strings.Repeat("x", 80) + "2", strings.Repeat("x", 80) + "_2", strings.Repeat("x", 80) + "_2"},
	}
	var names symbols
	e := cfi.Encoder{Machine: m}
	program, err := cfi.NewBuilder(cfi.EntryCIE(m)).Program()
	if err != nil {
		t.Fatal(err)
	}
	for i, test := range tests {
		names = append(names, test.symbol)
		if err := e.Program(program, 0x1000+16*uint64(i), 16); err != nil {
			t.Fatal(err)
		}
	}
	s := &cfi.Section{Name: ".eh_frame", Machine: m, Data: e.Data}
	list, err := table.List([]*cfi.Section{s}, names, table.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []Format{Go, C, Asm} {
		ids := newIdentifiers(format, list)
		i := 0
		seen := make(map[string]bool)
		for f := range list.All() {
			want := [...]string{Go: tests[i].golang, C: tests[i].c, Asm: tests[i].asm}[format]
			if got := ids.of(&f); got != want || seen[got] {
				t.Errorf("%v: %.20q: %s, want %s", format, tests[i].symbol, got, want)
			}
			seen[ids.of(&f)] = true
			i++
		}
		if i != len(tests) {
			t.Errorf("%d functions", i)
		}
	}
}

func TestParseFormat(t *testing.T) {
	for _, f := range []Format{Go, C, Asm} {
		if got, ok := ParseFormat(f.String()); got != f || !ok {
			t.Errorf("%v: %v, %t", f, got, ok)
		}
	}
	if f, ok := ParseFormat("rust"); ok {
		t.Errorf("rust is %v", f)
	}
}
