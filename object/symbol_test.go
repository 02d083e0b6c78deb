// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bufio"
	"debug/elf"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// nmSymbols returns the sized functions that nm lists, by address.
func nmSymbols(t *testing.T, args ...string) map[uint64][]string {
	t.Helper()
	functions := make(map[uint64][]string)
	lines := bufio.NewScanner(strings.NewReader(run(t, "nm", append([]string{"--defined-only", "-S", "--without-symbol-versions"}, args...)...)))
	for lines.Scan() {
		field := strings.Fields(lines.Text())
		if len(field) != 4 || !strings.Contains("tTwWi", field[2]) {
			continue
		}
		address, err := strconv.ParseUint(field[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		functions[address] = append(functions[address], field[3])
	}
	return functions
}

func TestSymbolsAgreeWithNM(t *testing.T) {
	tool(t, "nm")
	libraries := append(cross(t), "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6")
	for _, path := range libraries {
		t.Run(path, func(t *testing.T) {
			f := open(t, path)
			want := nmSymbols(t, "-D", path)
			if len(want) == 0 {
				t.Fatal("nm lists no function")
			}
			var addrs []uint64
			for a := range want {
				addrs = append(addrs, a)
			}
			symbols, err := f.FindSymbols(addrs)
			if err != nil {
				t.Fatal(err)
			}
			missing := 0
			for i, s := range symbols {
				names := want[addrs[i]]
				if f.header.machine == elf.EM_ARM || f.header.machine == elf.EM_MIPS {
					names = append(names, want[addrs[i]|1]...)
				}
				if s.Name == "" {
					missing++
				} else if s.Address == addrs[i] && !slices.Contains(names, s.Name) {
					t.Errorf("%#x: %q, nm has %q", addrs[i], s.Name, names)
				}
			}
			if f.header.machine != elf.EM_PPC64 && missing > len(want)/100 {
				t.Errorf("%d of %d functions were not found", missing, len(want))
			}
			for name, s := range map[string]Symbol{"malloc": {}} {
				if strings.Contains(path, "libc.so") {
					got, ok := f.Symbol(name)
					if s = got; !ok || s.Name != name || s.Size == 0 {
						t.Errorf("Symbol(%q) = %+v, %v", name, s, ok)
					}
				}
			}
		})
	}
}

const gapsSource = `
	.text
	.globl	_start
_start:	nop
	nop
inner:	nop
	.type	sized, @function
sized:	nop
	nop
	.size	sized, 2
	nop
	.type	nested, @function
	.globl	nested
nested:	nop
	nop
.Llocal:
	nop
	.size	nested, 3
	.globl	alias
	.type	alias, @function
	.set	alias, nested
	.weak	__alias
	.type	__alias, @function
	.set	__alias, nested
	.section .other,"ax",@progbits
	nop
	.data
	.globl	object
	.type	object, @object
object:	.long	1
	.size	object, 4
`

func TestFindSymbolsCoversWhatNoOtherSymbolDoes(t *testing.T) {
	tool(t, "as")
	tool(t, "ld")
	source := write(t, "gaps.s", gapsSource)
	run(t, "as", "-o", source+".o", source)
	run(t, "ld", "-o", source+".out", source+".o")
	f := open(t, source+".out")
	start, ok := f.Symbol("_start")
	if !ok {
		t.Fatal("no _start")
	}
	object, _ := f.Symbol("object")
	for _, tt := range []struct {
		offset uint64
		want   string
	}{
		{0, "_start"}, {1, "_start"}, {2, "inner"},
		{3, "sized"}, {4, "sized"},
		{5, ""}, // after the end of a sized one
		{6, "nested"}, {7, "nested"}, {8, "nested"},
		{9, ""}, // .other: its section has no symbol
		{object.Address - start.Address, ""},
		{1 << 40, ""},
	} {
		t.Run(fmt.Sprint(tt.offset), func(t *testing.T) {
			// With and without neighbours in the same call.
			for _, addrs := range [][]uint64{{start.Address + tt.offset}, {start.Address + tt.offset, start.Address, start.Address + 3, 0, start.Address + tt.offset, start.Address + 8}} {
				symbols, err := f.FindSymbols(addrs)
				if err != nil {
					t.Fatal(err)
				}
				got := symbols[0].Name
				if got == "alias" { // the same function, the same rank
					got = "nested"
				}
				if got != tt.want {
					t.Errorf("among %d: %q, want %q", len(addrs), got, tt.want)
				}
			}
		})
	}
}

// On ppc64 with the ELFv1 ABI the value of a function's symbol is the address of a
// descriptor, which contains the address of the code.
func TestFindSymbolsThroughDescriptors(t *testing.T) {
	const path = "/usr/powerpc64-linux-gnu/lib/libc.so.6"
	f, err := Open(path)
	if err != nil {
		t.Skip("skipped: " + path + " is not installed")
	}
	defer f.Close()
	for _, name := range []string{"qsort_r", "printf", "malloc"} {
		symbol, ok := f.Symbol(name)
		if !ok {
			t.Errorf("no %s", name)
			continue
		}
		found, err := f.FindSymbols([]uint64{symbol.Address, symbol.Address + 8})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found {
			if s.Address != symbol.Address {
				t.Errorf("%s at %#x: found %q at %#x", name, symbol.Address, s.Name, s.Address)
			}
		}
	}
}

// SymbolsAt agrees with Symbols, also in relocatable files and on machines on which the
// address of a symbol is not its value.
func TestSymbolsAtAgree(t *testing.T) {
	tool(t, "gcc")
	source := write(t, "several.c", "int f(int n) { return n; }\nint k(int n) { return n + 1; }\nint g(int n) __attribute__((alias(\"f\")));\n__attribute__((section(\".other\"))) int h(void) { return 1; }\n")
	relocatable := source + ".o"
	run(t, "gcc", "-c", "-o", relocatable, source)
	for _, path := range append(cross(t), relocatable, "testdata/big-endian.elf", "testdata/riscv.elf", "testdata/small.elf") {
		f := open(t, path)
		all := make(map[uint64][]Symbol)
		named := make(map[string]Symbol)  // the preferred one, else the first
		versions := make(map[string]bool) // names with several versions: see TestSymbolOfDefaultVersion
		for s := range f.Symbols() {
			all[s.Address] = append(all[s.Address], s)
			versions[s.Name] = versions[s.Name] || named[s.Name].Name != "" && named[s.Name] != s
			if first, ok := named[s.Name]; !ok || s.Source == first.Source && rankOf(symbolInfo(s)) > rankOf(symbolInfo(first)) {
				named[s.Name] = s
			}
		}
		if len(all) == 0 {
			t.Fatalf("%s has no symbols", path)
		}
		n := 0
		for addr, want := range all {
			if n++; n > 300 {
				break
			}
			if got := f.SymbolsAt(addr); !slices.Equal(got, want) {
				t.Fatalf("%s at %#x: %+v, expected %+v", path, addr, got, want)
			}
		}
		n = 0
		for name, want := range named {
			if versions[name] && path != relocatable {
				continue
			}
			if n++; n > 300 {
				break
			}
			if got, ok := f.Symbol(name); !ok || got != want {
				t.Fatalf("%s: %s is %+v, expected %+v", path, name, got, want)
			}
		}
	}
}

// Symbol finds the default one of several versions, which nm marks with @@. The other
// versions are for programs that were linked long ago.
func TestSymbolOfDefaultVersion(t *testing.T) {
	tool(t, "nm")
	differ := 0
	for _, path := range append(cross(t), "/usr/lib/x86_64-linux-gnu/libc.so.6") {
		f := open(t, path)
		others := make(map[string]bool)
		defaults := make(map[string]uint64)
		for line := range strings.Lines(run(t, "nm", "-D", "--defined-only", path)) {
			field := strings.Fields(line)
			if len(field) != 3 || !strings.Contains("TtWwiV", field[1]) {
				continue
			}
			address, err := strconv.ParseUint(field[0], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			if name, _, ok := strings.Cut(field[2], "@@"); ok {
				defaults[name] = address
			} else if name, _, ok := strings.Cut(field[2], "@"); ok {
				others[name] = true
			}
		}
		const bias = 0x10000
		image, err := FromMemory(fileMemory{f, bias}, bias, "image")
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range defaults {
			got, ok := f.Symbol(name)
			address := got.Address
			if loaded, _ := image.Symbol(name); loaded.Address != address {
				t.Errorf("%s: %s is at %#x, and at %#x in memory", path, name, address, loaded.Address)
			}
			if f.header.machine == elf.EM_ARM && isFunctionType(got.Type) {
				want &^= 1
			}
			if f.header.machine == elf.EM_PPC64 && f.flags&3 < 2 && isFunctionType(got.Type) {
				continue // its address is not its value
			}
			if !ok || address != want {
				t.Errorf("%s: %s is at %#x (%t), nm has its default version at %#x", path, name, address, ok, want)
			}
			if others[name] {
				differ++
			}
		}
	}
	if differ < 100 {
		t.Errorf("%d symbols with several versions", differ)
	}
}

func isFunctionType(t elf.SymType) bool { return t == elf.STT_FUNC || t == elf.STT_GNU_IFUNC }

// symbolInfo returns st_info of a symbol.
func symbolInfo(s Symbol) byte { return byte(s.Binding)<<4 | byte(s.Type) }
