// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// inlineSource has calls inlined three deep, in two places of one function, a cold part, and
// functions in another file.
const inlineSource = `
#include <stdio.h>
#include <stdlib.h>
volatile int sink;
static inline __attribute__((always_inline)) int third(int x)
{
	sink += x * 3;
	if (x > 1000)
		abort();
	return sink ^ x;
}
static inline __attribute__((always_inline)) int second(int x)
{
	int y = third(x + 1);
	sink -= y;
	return y + third(x + 2);
}
static inline __attribute__((always_inline)) int first(int x)
{
	return second(x) * second(x + 7);
}
__attribute__((noinline)) int outer(int n)
{
	int total = 0;
	for (int i = 0; i < n; i++) {
		total += first(i);
		if (__builtin_expect(total == 12345, 0)) {
			puts("cold");
			total = second(total);
		}
	}
	return total;
}
#line 10 "other/file.c"
int elsewhere(int n) { return outer(n) + third(n); }
int main(int argc, char **argv) { return elsewhere(argc); }
`

// addr2line returns the output of addr2line for addresses, in the form of Locate.
func addr2line(t *testing.T, file string, addrs []uint64) [][]string {
	t.Helper()
	args := []string{"-i", "-f", "-a", "-e", file}
	for _, a := range addrs {
		args = append(args, fmt.Sprintf("%#x", a))
	}
	var all [][]string
	lines := strings.Split(strings.TrimSpace(run(t, "addr2line", args...)), "\n")
	for i := 0; i < len(lines); {
		if strings.HasPrefix(lines[i], "0x") {
			all = append(all, nil)
			i++
			continue
		}
		place, _, _ := strings.Cut(lines[i+1], " (discriminator")
		file, line, _ := strings.Cut(place, ":")
		all[len(all)-1] = append(all[len(all)-1], fmt.Sprintf("%s %s:%s", lines[i], path.Base(file), line))
		i += 2
	}
	return all
}

func locations(list []Location) (lines []string) {
	for _, l := range list {
		lines = append(lines, fmt.Sprintf("%s %s:%d", l.Function, path.Base(l.File), l.Line))
	}
	return lines
}

func TestLocateAgreesWithAddr2line(t *testing.T) {
	tool(t, "gcc")
	tool(t, "addr2line")
	for _, tt := range []struct {
		name    string
		flags   []string
		convert []string // of objcopy
	}{
		{"dwarf2", []string{"-gdwarf-2"}, nil},
		{"dwarf3", []string{"-gdwarf-3"}, nil},
		{"dwarf4", []string{"-gdwarf-4"}, nil},
		{"dwarf5", []string{"-gdwarf-5"}, nil},
		{"sections", []string{"-gdwarf-4", "-ffunction-sections", "-Wl,--gc-sections"}, nil},
		{"relocatable", []string{"-gdwarf-5", "-fno-reorder-functions", "-c"}, nil},
		{"zlib", []string{"-gdwarf-5"}, []string{"--compress-debug-sections=zlib"}},
		{"zdebug", []string{"-gdwarf-4"}, []string{"--compress-debug-sections=zlib-gnu"}},
		{"zstd", []string{"-gdwarf-5"}, []string{"--compress-debug-sections=zstd"}},
		{"static-pie", []string{"-g", "-static-pie"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := write(t, "inline.c", inlineSource)
			out := source + ".out"
			run(t, "gcc", append([]string{"-O2", "-o", out, source}, tt.flags...)...)
			if tt.convert != nil {
				run(t, "objcopy", append(tt.convert, out)...)
			}
			f := open(t, out)
			var addrs []uint64
			for _, name := range []string{"outer", "elsewhere", "main", "outer.cold"} {
				s, ok := f.Symbol(name)
				if !ok && name != "outer.cold" {
					t.Fatalf("no symbol %s", name)
				}
				for a := s.Address; a < s.Address+s.Size; a++ {
					addrs = append(addrs, a)
				}
			}
			deepest, wrong := 0, 0
			for i, want := range addr2line(t, out, addrs) {
				list, err := f.Locate(addrs[i])
				if err != nil {
					t.Fatal(err)
				}
				got := locations(list)
				deepest = max(deepest, len(got))
				if strings.Join(got, "\n") != strings.ReplaceAll(strings.Join(want, "\n"), ":?", ":0") {
					if wrong++; wrong < 4 {
						t.Errorf("%#x:\n%s\naddr2line has\n%s", addrs[i], strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
				}
				for k, l := range list {
					if l.Inlined != (k < len(list)-1) {
						t.Errorf("%#x: location %d of %d: Inlined is %v", addrs[i], k, len(list), l.Inlined)
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d differ", wrong, len(addrs))
			}
			if deepest < 4 {
				t.Errorf("no more than %d locations deep, 4 expected", deepest)
			}
			if f.Damage() != nil {
				t.Error(f.Damage())
			}
		})
	}
}

// TestLocateInDWARF64 compares the 64-bit format with the 32-bit format: binutils 2.40 does
// not read gas's line tables of the 64-bit format.
func TestLocateInDWARF64(t *testing.T) {
	tool(t, "gcc")
	source := write(t, "inline.c", inlineSource)
	var files []*File
	for _, format := range []string{"-gdwarf32", "-gdwarf64"} {
		run(t, "gcc", "-O2", "-gdwarf-5", format, "-o", source+format, source)
		files = append(files, open(t, source+format))
	}
	outer, ok := files[0].Symbol("outer")
	if !ok {
		t.Fatal("no symbol outer")
	}
	for a := outer.Address; a < outer.Address+outer.Size; a++ {
		short, err := files[0].Locate(a)
		if err != nil {
			t.Fatal(err)
		}
		long, err := files[1].Locate(a)
		if err != nil || !slices.Equal(short, long) || len(short) == 0 {
			t.Fatalf("%#x: %+v, %v; DWARF32 has %+v", a, long, err, short)
		}
	}
}

func TestLocateInSplitDWARF(t *testing.T) {
	tool(t, "gcc")
	source := write(t, "inline.c", inlineSource)
	out := source + ".out"
	run(t, "gcc", "-O2", "-g", "-gsplit-dwarf", "-o", out, source)
	f := open(t, out)
	s, _ := f.Symbol("outer")
	list, err := f.Locate(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	// The functions are in the .dwo file; lines stay.
	if len(list) != 1 || path.Base(list[0].File) != "inline.c" || list[0].Line == 0 {
		t.Errorf("%+v", list)
	}
}

const goSource = `package main

import (
	"fmt"
	"os"
	"runtime"
)

func callee(n int) int {
	_, _, line, _ := runtime.Caller(0)
	return line + n
}

//go:noinline
func caller(n int) int {
	total := 0
	for i := range n {
		total += callee(i)
	}
	return total
}

func main() { fmt.Println(caller(len(os.Args))) }
`

// goProgram builds a Go program and returns its path.
func goProgram(t testing.TB, flags ...string) string {
	t.Helper()
	tool(t, "go")
	source := write(t, "main.go", goSource)
	out := source + ".out"
	run(t, "go", append(append([]string{"build", "-o", out}, flags...), source)...)
	return out
}

func TestGoProgramsAreNamedStrippedOrNot(t *testing.T) {
	for _, tt := range []struct {
		name, flags string
		symbols     SymbolSource
		dwarf       bool
	}{
		{"full", "", StaticSymbols, true},
		{"w", "-w", StaticSymbols, false},
		{"stripped", "-s -w", GoSymbols, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := open(t, goProgram(t, "-ldflags="+tt.flags))
			info, ok := f.Go()
			if !ok || !strings.HasPrefix(info.Version, "go1.") || info.Build == nil {
				t.Errorf("Go() = %+v, %v", info, ok)
			}
			if f.HasDebugInfo() != tt.dwarf {
				t.Errorf("HasDebugInfo() = %v", f.HasDebugInfo())
			}
			table, err := f.goTable()
			if table == nil {
				t.Fatal(err)
			}
			for i := range table.Count() {
				fn, ok := table.Find(table.Start(i))
				if !ok || table.Name(&fn) != "main.caller" {
					continue
				}
				addr := fn.Entry + 8
				symbols, err := f.FindSymbols([]uint64{addr})
				if err != nil || symbols[0].Name != "main.caller" || symbols[0].Source != tt.symbols || symbols[0].Address != fn.Entry {
					t.Errorf("FindSymbols: %+v, %v", symbols[0], err)
				}
				list, err := f.Locate(addr)
				if err != nil || len(list) != 1 || list[0].Function != "main.caller" || path.Base(list[0].File) != "main.go" || list[0].Line < 14 || list[0].Line > 20 {
					t.Errorf("Locate: %+v, %v", list, err)
				}
				return
			}
			t.Error("no main.caller")
		})
	}
}

// TestGopclntabAgreesWithDWARF compares the two sources of lines and inlined calls
// of one program.
func TestGopclntabAgreesWithDWARF(t *testing.T) {
	f := open(t, goProgram(t))
	table, err := f.goTable()
	if table == nil {
		t.Fatal(err)
	}
	same, all, inlined := 0, 0, 0
	for i := 0; i < table.Count(); i += 7 {
		fn, ok := table.Find(table.Start(i))
		if !ok {
			t.Fatalf("function %d is not found at its start", i)
		}
		for a := fn.Entry; a < fn.End; a += 16 {
			list, err := f.Locate(a)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				continue
			}
			all++
			for k := range list {
				list[k].Column = 0
			}
			if slices.Equal(f.locateGo(a), list) {
				same++
				if len(list) > 1 {
					inlined++
				}
			}
		}
	}
	if all < 1000 || same < all*98/100 || inlined < 200 {
		t.Errorf("%d of %d agree, %d of which have inlined calls", same, all, inlined)
	}
}

// TestGoProgramsWithoutSymbols reads the table of stripped programs. The addresses of the
// table and of the code are found through the runtime's data.
func TestGoProgramsWithoutSymbols(t *testing.T) {
	tool(t, "gcc")
	tool(t, "strip")
	for _, flags := range []string{"-ldflags=-linkmode=external", "-buildmode=pie"} {
		t.Run(flags, func(t *testing.T) {
			path := goProgram(t, flags)
			full := open(t, path)
			run(t, "strip", "-o", path+".stripped", path)
			stripped := open(t, path+".stripped")
			table, err := full.goTable()
			if table == nil || err != nil {
				t.Fatal(err)
			}
			inlined := 0
			for i := 0; i < table.Count(); i += 5 {
				for _, addr := range []uint64{table.Start(i), table.Start(i) + 15} {
					want, ok := full.GoFunctionAt(addr)
					got, _ := stripped.GoFunctionAt(addr)
					if got != want {
						t.Fatalf("%#x is in %+v, expected %+v", addr, got, want)
					}
					if !ok {
						continue // after the last
					}
					locations, err := stripped.Locate(addr)
					if want := full.locateGo(addr); err != nil || !slices.Equal(locations, want) {
						t.Fatalf("%#x is at %+v, %v, expected %+v", addr, locations, err, want)
					}
					if len(locations) > 1 {
						inlined++
					}
				}
			}
			if symbol, ok := full.Symbol("main.caller"); !ok {
				t.Error("no main.caller")
			} else if g, _ := stripped.GoFunctionAt(symbol.Address); g.Name != "main.caller" || g.Entry != symbol.Address {
				t.Errorf("at main.caller is %+v", g)
			}
			if inlined == 0 {
				t.Error("no address is in an inlined call")
			}
		})
	}
}

func TestGoOfACProgram(t *testing.T) {
	if _, err := os.Stat("/usr/bin/ls"); err != nil {
		t.Skip("skipped: ls is not installed")
	}
	f := open(t, "/usr/bin/ls")
	if info, ok := f.Go(); ok {
		t.Errorf("ls is taken for a Go program: %+v", info)
	}
}
