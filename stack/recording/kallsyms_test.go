// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/object"
)

const symbols = `ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t __cold
ffffffff81000100 t cold
ffffffff81000180 D data
ffffffff81000200 T last
ffffffff81000300 r constant
ffffffffc0002000 t second	[two]
ffffffffc0001000 t first	[one]
ffffffffc0001800 d variable	[one]
`

func listOf(text string) *kallsyms {
	return &kallsyms{text: []byte(text)}
}

func symbol(address uint64, name, module string) kernelSymbol {
	return kernelSymbol{object.Symbol{Name: name, Address: address}, module}
}

func TestKallsyms(t *testing.T) {
	const base = 0xffffffff81000000
	addresses := []uint64{0x1000, base, base + 0xff, base + 0x100, base + 0x1f0, base + 0x200, base + 0x2ff, base + 0x1000,
		0xffffffffc0001000, 0xffffffffc0001fff, 0xffffffffc0002000, 0xffffffffc0009000}
	want := []kernelSymbol{{}, symbol(base, "text", ""), symbol(base, "text", ""),
		symbol(base+0x100, "cold", ""), symbol(base+0x100, "cold", ""),
		symbol(base+0x200, "last", ""), symbol(base+0x200, "last", ""), {},
		symbol(0xffffffffc0001000, "first", "one"), symbol(0xffffffffc0001000, "first", "one"),
		symbol(0xffffffffc0002000, "second", "two"), symbol(0xffffffffc0002000, "second", "two")}
	check := func(what string, got []kernelSymbol, delta uint64) {
		for i, s := range got {
			if strings.HasSuffix(s.Name, "text") {
				s.Name = "text" // either will do
			}
			w := want[i]
			if w.Name != "" {
				w.Address += delta
			}
			if s != w {
				t.Errorf("%s: %#x is %+v, want %+v", what, addresses[i]+delta, s, w)
			}
		}
	}
	check("as it is", listOf(symbols).find(addresses, 0), 0)

	// The kernel has another address after each boot.
	const delta = 0x1c000000
	moved := make([]uint64, len(addresses))
	for i := range addresses {
		moved[i] = addresses[i] + delta
	}
	check("moved", listOf(symbols).find(moved, delta), delta)

	// A damaged line only costs itself.
	check("with damage", listOf("\nzz\n"+strings.Replace(symbols, "ffffffff81000180 D data\n", strings.Repeat("x", 3000)+"\n\n", 1)).find(addresses, 0), 0)

	if a, ok := listOf(symbols).address("last"); a != base+0x200 || !ok {
		t.Errorf("last: %#x, %t", a, ok)
	}
	if a, ok := listOf(symbols).address("first"); ok {
		t.Errorf("first, of a module: %#x", a)
	}
	if listOf(symbols).hidden() || !listOf(strings.Repeat("0000000000000000 T f\n", 20)).hidden() || !listOf("").hidden() {
		t.Error("hidden")
	}
}

// Many symbols, so that a search has many steps.
func TestKallsymsBlocks(t *testing.T) {
	var text strings.Builder
	const n = 5000
	for i := range n {
		text.WriteString(line(uint64(0x1000+16*i), "f", i))
	}
	list := listOf(text.String())
	var addresses []uint64
	for i := range n - 1 {
		addresses = append(addresses, uint64(0x1000+16*i+i%16))
	}
	for i, s := range list.find(addresses, 0) {
		if want := uint64(0x1000 + 16*i); s.Address != want {
			t.Fatalf("%#x is at %#x, want %#x", addresses[i], s.Address, want)
		}
	}
}

// Code that was loaded during the recording covers the kernel's symbols. Where such code
// overlaps, the last start counts.
func TestLoadedSymbols(t *testing.T) {
	loaded := func(address, size uint64, name string) kernelSymbol {
		return kernelSymbol{object.Symbol{Name: name, Address: address, Size: size}, "bpf"}
	}
	list := []kernelSymbol{
		loaded(0x100, 0x100, "outer"), loaded(0x140, 0x10, "inner"), loaded(0x140, 0x20, "longer"), loaded(0x140, 0x20, "again"),
		loaded(0x1000, 0x10, "hidden"), loaded(^uint64(0)-0xf, 0x100, "last"), loaded(0x300, 0, "empty"),
	}
	addresses := []uint64{0xff, 0x100, 0x13f, 0x140, 0x14f, 0x150, 0x160, 0x1ff, 0x200, 0x300, 0x1008, ^uint64(0)}
	want := []string{"", "outer", "outer", "inner", "inner", "longer", "outer", "outer", "", "", "kernel", "last"}
	found := make([]kernelSymbol, len(addresses))
	found[10] = symbol(0x1004, "kernel", "")
	overlay(found, addresses, list)
	for i, s := range found {
		if s.Name != want[i] {
			t.Errorf("%#x is %q, want %q", addresses[i], s.Name, want[i])
		}
	}
	if list[0].Name != "outer" || list[6].Name != "empty" {
		t.Error("the list has changed")
	}
}

// The time for loaded code does not depend on how much of it overlaps.
func TestLoadedSymbolsOverlap(t *testing.T) {
	loaded := make([]kernelSymbol, maxKsymbols)
	for i := range loaded {
		loaded[i] = kernelSymbol{object.Symbol{Name: "f", Address: 0x1000 - uint64(i%8), Size: 1 << 32}, "bpf"}
	}
	addresses := make([]uint64, 1<<18)
	for i := range addresses {
		addresses[i] = 0x1000 + uint64(i)
	}
	found := make([]kernelSymbol, len(addresses))
	processor := func() time.Duration {
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			t.Fatal(err)
		}
		return time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	start := processor()
	overlay(found, addresses, loaded)
	if took := processor() - start; took > 5*time.Second {
		t.Errorf("it took %v of the processor", took)
	}
	for i := range found {
		if found[i].Address != 0x1000 {
			t.Fatalf("%#x: %+v", addresses[i], found[i])
		}
	}
}

func line(address uint64, name string, n int) string {
	const hex = "0123456789abcdef"
	var b [16]byte
	for i := range b {
		b[i] = hex[address>>(60-4*i)&15]
	}
	return string(b[:]) + " t " + name + strings.Repeat("_", n%100) + "\n"
}

func FuzzKallsyms(f *testing.F) {
	f.Add(symbols, uint64(0xffffffff81000123), uint64(0))
	f.Add("", uint64(1), uint64(0))
	f.Add("0000000000001000 T f", uint64(0x1001), uint64(1))
	f.Fuzz(func(t *testing.T, text string, address, delta uint64) {
		list := listOf(text)
		list.hidden()
		list.address("_text")
		for _, s := range list.find([]uint64{address, address + 1, address + 1<<40}, delta) {
			if s.Name == "" && s.Address != 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}
