// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit/symfile/reader"
	"github.com/clewdev/clew/object"
)

// The files in testdata/runtimes were registered by lli-14 (MCJIT, for a C program built
// with clang -g), llvmlite, LuaJIT, and PHP 8.2 with opcache.jit_debug=0x100. Those of
// CPython are its symbol files for gdb, for 0x40 bytes of code at 0x7f0012340000.
var runtimes = []struct {
	file      string
	functions string
	fdes      string
	address   uint64 // an address in the middle of the last function
	row       string // of that address
	location  string // of that address
}{
	{"lli14_mcjit_dwarf5.elf", "fibg 7f8bc7707000+45 main 7f8bc7707050+a9", "7f8bc7707000+45 7f8bc7707050+a9",
		0x7f8bc7707064, "CFA=r6+16 r3=-56 r6=-16 r12=-48 r13=-40 r14=-32 r15=-24 r16=-8", "main /home/lli-tests/lcpu.c:4:114"},
	{"llvmlite.elf", "fibl 7f86f543f000+44", "7f86f543f000+44",
		0x7f86f543f020, "CFA=r6+16 r3=-40 r6=-16 r14=-32 r15=-24 r16=-8", ""},
	{"luajit_trace.elf", "TRACE_3 55c99fc4fd3d+d0", "55c99fc4fd3d+d0",
		0x55c99fc4fd50, "CFA=r7+96 r3=-24 r6=-16 r12=-88 r13=-80 r14=-40 r15=-32 r16=-8", "TRACE_3 l.lua:2:0"},
	{"php82_function.elf", "JIT$fibp 55c23e800f30+577", "55c23e800f30+577",
		0x55c23e800f40, "CFA=r7+160 r16=-8", "JIT$fibp /home/php-tests/b.php:1:0"},
	{"cpython_x86_64.elf", "py::jit_entry:<jit> 7f0012340000+40", "7f0012340000+40",
		0x7f0012340020, "CFA=r6+16 r6=-16 r16=-8", ""},
	{"cpython_aarch64.elf", "py::jit_entry:<jit> 7f0012340000+40", "7f0012340000+40",
		0x7f0012340020, "CFA=r29+96 r29=-96 r30=-88", ""},
}

func TestOpenRuntimes(t *testing.T) {
	for _, test := range runtimes {
		t.Run(test.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "runtimes", test.file))
			if err != nil {
				t.Fatal(err)
			}
			image := open(t, data)
			if got := describeFunctions(t, image); got != test.functions {
				t.Errorf("functions\n got %s\nwant %s", got, test.functions)
			}
			if got := describeFrames(t, image); got != test.fdes {
				t.Errorf("FDEs\n got %s\nwant %s", got, test.fdes)
			}
			if got := describeRow(t, image, test.address); got != test.row {
				t.Errorf("row at %#x\n got %s\nwant %s", test.address, got, test.row)
			}
			if got := describeLocation(t, image, test.address); got != test.location {
				t.Errorf("location of %#x\n got %s\nwant %s", test.address, got, test.location)
			}
			if err := image.Damage(); err != nil {
				t.Errorf("damage: %v", err)
			}
			list, _ := image.Functions()
			for _, f := range list {
				found, ok := image.Find(f.Start + f.Size - 1)
				if !ok || found != f {
					t.Errorf("Find(end of %q) = %+v, %t", f.Name, found, ok)
				}
				if found, ok := image.Find(f.Start - 1); ok && found == f {
					t.Errorf("Find(before %q) found it", f.Name)
				}
				if !slices.ContainsFunc(image.Code(), func(r reader.Range) bool { return r.Start <= f.Start && f.Start+f.Size <= r.End }) {
					t.Errorf("%q is outside of Code, %x", f.Name, image.Code())
				}
			}
		})
	}
}

// TestPackageObjectReads checks that package object alone can read the files.
func TestPackageObjectReads(t *testing.T) {
	for _, test := range runtimes {
		data, err := os.ReadFile(filepath.Join("testdata", "runtimes", test.file))
		if err != nil {
			t.Fatal(err)
		}
		f, err := object.NewFile(data, test.file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Split(test.functions, " ")[0]
		s, ok := f.Symbol(name)
		if want := fmt.Sprintf("%x+%x", s.Address, s.Size); !ok || !strings.Contains(test.functions, want) {
			t.Errorf("%s: Symbol(%q) = %+v, %t", test.file, name, s, ok)
		}
		if byAddress, err := f.FindSymbols([]uint64{s.Address + 1}); err != nil || byAddress[0].Name != name {
			t.Errorf("%s: FindSymbols(%#x) = %+v, %v", test.file, s.Address+1, byAddress, err)
		}
		// Their code is in the process, not in the file.
		if err := f.ReadMemory(make([]byte, 4), s.Address); (err == nil) != (f.Sections()[s.Section].Type != elf.SHT_NOBITS) {
			t.Errorf("%s: ReadMemory(code) = %v", test.file, err)
		}
	}
}

func TestOpenNotELF(t *testing.T) {
	// Erlang's data starts with the length of a name.
	for _, data := range [][]byte{nil, {}, []byte("\x00\x00\x00\x04beam"), []byte("\x7fEL")} {
		if _, err := reader.Open(data); !errors.Is(err, reader.ErrNotELF) {
			t.Errorf("Open(%q) = %v, want ErrNotELF", data, err)
		}
	}
	if _, err := reader.Open([]byte("\x7fELF")); err == nil || errors.Is(err, reader.ErrNotELF) {
		t.Errorf("Open(four bytes of ELF) = %v", err)
	}
}

// TestOpenSectionRelative reads an ET_DYN whose symbols are relative to the section, as
// runtimes write that copied them from an object file.
func TestOpenSectionRelative(t *testing.T) {
	data := mustAppend(t, callers(t, amd64, 3, 5, false))
	want := describeFunctions(t, open(t, data))
	data[16] = 3 // ET_DYN
	symbols := section(t, data, ".symtab").Offset
	for i := 1; i <= 3; i++ {
		value := data[int(symbols)+24*i+8:]
		le.PutUint64(value, le.Uint64(value)-address)
	}
	if got := describeFunctions(t, open(t, data)); got != want {
		t.Errorf("functions\n got %s\nwant %s", got, want)
	}
}

// TestOpenUnsized checks that a symbol without a size extends to the next.
func TestOpenUnsized(t *testing.T) {
	data := mustAppend(t, callers(t, amd64, 3, 5, false))
	symbols := section(t, data, ".symtab").Offset
	for i := 1; i <= 3; i++ {
		le.PutUint64(data[int(symbols)+24*i+16:], 0)
	}
	if got, want := describeFunctions(t, open(t, data)), "f0 1000000000+10 f1 1000000010+10 f2 1000000020+10"; got != want {
		t.Errorf("functions\n got %s\nwant %s", got, want)
	}
}

func open(tb testing.TB, data []byte) *reader.Image {
	tb.Helper()
	image, err := reader.Open(data)
	if err != nil {
		tb.Fatal(err)
	}
	return image
}

func describeFunctions(tb testing.TB, image *reader.Image) string {
	tb.Helper()
	list, err := image.Functions()
	if err != nil {
		tb.Error(err)
	}
	var s []string
	for _, f := range list {
		s = append(s, fmt.Sprintf("%s %x+%x", f.Name, f.Start, f.Size))
	}
	return strings.Join(s, " ")
}

// describeFrames lists the FDEs of an image.
func describeFrames(tb testing.TB, image *reader.Image) string {
	tb.Helper()
	sections, err := image.Frames()
	if err != nil {
		tb.Error(err)
	}
	var s []string
	for _, section := range sections {
		for e, err := range section.Entries() {
			if err != nil {
				tb.Error(err)
			} else if e.FDE != nil {
				s = append(s, fmt.Sprintf("%x+%x", e.FDE.Start, e.FDE.End-e.FDE.Start))
			}
		}
	}
	return strings.Join(s, " ")
}

// describeRow describes the row at an address, "" if there is none.
func describeRow(tb testing.TB, image *reader.Image, address uint64) string {
	tb.Helper()
	sections, _ := image.Frames()
	var x cfi.Interpreter
	var f cfi.FDE
	for _, section := range sections {
		if section.Find(address, &f) != nil {
			continue
		}
		row, err := x.RowAt(&f, address)
		if err != nil {
			tb.Fatal(err)
		}
		s := fmt.Sprintf("CFA=r%d%+d", row.CFA.Register, row.CFA.Offset)
		for _, r := range row.Registers {
			s += fmt.Sprintf(" r%d=%+d", r.Column, r.Offset)
		}
		return s
	}
	return ""
}

func describeLocation(tb testing.TB, image *reader.Image, address uint64) string {
	tb.Helper()
	list, err := image.Locate(address)
	if err != nil {
		tb.Error(err)
	}
	var s []string
	for _, l := range list {
		s = append(s, fmt.Sprintf("%s %s:%d:%d", l.Function, l.File, l.Line, l.Column))
	}
	return strings.Join(s, " < ")
}
