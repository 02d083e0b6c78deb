// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"os"
	"testing"

	"github.com/clewdev/clew/object/internal/dwarf"
)

const (
	libc    = "/usr/lib/x86_64-linux-gnu/libc.so.6"
	libLLVM = "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"
	node    = "/usr/bin/node"
)

// BenchmarkOpen opens a library, finds its unwind table and names addresses, as for each
// library of a process.
func BenchmarkOpen(b *testing.B) {
	for _, bb := range []struct {
		name, path string
		symbols    int
	}{
		{"libc/headers", libc, 0}, {"libc/symbols", libc, 16},
		{"libLLVM/headers", libLLVM, 0}, {"libLLVM/symbols", libLLVM, 16},
	} {
		b.Run(bb.name, func(b *testing.B) {
			if _, err := os.Stat(bb.path); err != nil {
				b.Skipf("skipped: %s is not installed", bb.path)
			}
			b.ReportAllocs()
			for b.Loop() {
				f, err := Open(bb.path)
				if err != nil {
					b.Fatal(err)
				}
				if section, err := f.EHFrame(); section == nil {
					b.Fatal(err)
				}
				if bb.symbols > 0 {
					addrs := make([]uint64, bb.symbols)
					for i := range addrs {
						addrs[i] = f.segments[3].Vaddr + uint64(i)*4096
					}
					if _, err := f.FindSymbols(addrs); err != nil {
						b.Fatal(err)
					}
				}
				f.Close()
			}
		})
	}
}

// BenchmarkFindSymbols names 3,000 addresses in a table of 190,000 symbols.
func BenchmarkFindSymbols(b *testing.B) {
	f := open(b, node)
	addrs := across(b, f, 3000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.FindSymbols(addrs); err != nil {
			b.Fatal(err)
		}
	}
}

// across returns n addresses that are spread over the code of a file.
func across(b *testing.B, f *File, n int) []uint64 {
	text, ok := f.find(".text")
	if !ok {
		b.Fatal("no .text")
	}
	s := f.section(text)
	addrs := make([]uint64, n)
	for i := range addrs {
		addrs[i] = s.addr + s.size/uint64(n)*uint64(i)
	}
	return addrs
}

// BenchmarkLocate looks up 1,000 addresses of a Go program, first and again.
func BenchmarkLocate(b *testing.B) {
	path := goProgram(b)
	var addrs []uint64
	f := open(b, path)
	for s := range f.Symbols() {
		if s.Size > 16 {
			addrs = append(addrs, s.Address+s.Size/2)
		}
	}
	addrs = addrs[:min(len(addrs), 1000)]
	locate := func(b *testing.B, f *File) {
		for _, a := range addrs {
			if _, err := f.Locate(a); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := Open(path)
			if err != nil {
				b.Fatal(err)
			}
			locate(b, f)
			f.Close()
		}
	})
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			locate(b, f)
		}
	})
}

// BenchmarkLocateUnits looks up an address in each of 300 places of the C library. Its
// sections are already decompressed.
func BenchmarkLocateUnits(b *testing.B) {
	f := open(b, "/lib/x86_64-linux-gnu/libc.so.6")
	debug, err := f.OpenDebugFile(DebugSearch{})
	if debug == nil {
		b.Skip("skipped: libc6-dbg is not installed: ", err)
	}
	sections, err := debug.debugSections("")
	if err != nil {
		b.Fatal(err)
	}
	var addrs []uint64
	for _, addr := range across(b, f, 1000) {
		if list, _ := f.Locate(addr); len(list) > 0 && len(addrs) < 300 {
			addrs = append(addrs, addr)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		data, err := dwarf.New(sections, debugParts{debug})
		if err != nil {
			b.Fatal(err)
		}
		for _, addr := range addrs {
			if _, err := data.Locate(addr); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkFindSymbolsOfStack finds the symbols of 60 addresses of the C library, a usual
// number for the stacks of a process.
func BenchmarkFindSymbolsOfStack(b *testing.B) {
	f := open(b, "/lib/x86_64-linux-gnu/libc.so.6")
	f.OpenDebugFile(DebugSearch{})
	addrs := across(b, f, 60)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.FindSymbols(addrs); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSymbol looks a symbol of the C library up by its name.
func BenchmarkSymbol(b *testing.B) {
	f := open(b, "/lib/x86_64-linux-gnu/libc.so.6")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := f.Symbol("epoll_wait"); !ok {
			b.Fatal("epoll_wait is not found")
		}
	}
}

// BenchmarkSymbolsAt looks the symbols at an address of the C library up.
func BenchmarkSymbolsAt(b *testing.B) {
	f := open(b, "/lib/x86_64-linux-gnu/libc.so.6")
	s, ok := f.Symbol("malloc")
	if !ok {
		b.Fatal("malloc is not found")
	}
	b.ReportAllocs()
	for b.Loop() {
		f.SymbolsAt(s.Address)
	}
}
