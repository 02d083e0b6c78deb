// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// FindSymbols skips symbols by their undecoded values, except on machines on which addresses
// can differ from values. With both methods it finds the same symbols.
func TestFindSymbolsPassesOver(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := []byte("\x00a\x00_b\x00__c\x00d\x00.L\x00")
	covered, sizeless := 0, 0
	for round := range 20_000 {
		var order interface {
			binary.ByteOrder
			binary.AppendByteOrder
		} = binary.LittleEndian
		class := elf.ELFCLASS32
		most := uint64(math.MaxUint32)
		if r.IntN(2) == 0 {
			class, most = elf.ELFCLASS64, math.MaxUint64
		}
		data := elf.ELFDATA2LSB
		if r.IntN(2) == 0 {
			order, data = binary.BigEndian, elf.ELFDATA2MSB
		}
		address := func() uint64 {
			if r.IntN(12) == 0 {
				return most - r.Uint64N(4)
			}
			return r.Uint64N(56)
		}
		entry := func() []byte {
			name, info := uint32(r.IntN(len(names))), byte(r.IntN(3))<<4|[]byte{0, 1, 2, 2, 2, 10}[r.IntN(6)]
			section := []uint16{0, 0xfff1, 0xfff1, 0xfff1, 1}[r.IntN(5)]
			value, size := address(), address()
			if r.IntN(3) == 0 {
				size = 0
			}
			var b []byte
			b = order.AppendUint32(b, name)
			if class == elf.ELFCLASS64 {
				b = append(b, info, 0)
				b = order.AppendUint16(b, section)
				return order.AppendUint64(order.AppendUint64(b, value), size)
			}
			b = order.AppendUint32(order.AppendUint32(b, uint32(value)), uint32(size))
			return order.AppendUint16(append(b, info, 0), section)
		}
		var tables []listedTable
		for _, source := range []SymbolSource{StaticSymbols, DynamicSymbols} {
			table := symbolTable{names: names, source: source}
			for range r.IntN(7) {
				table.entries = append(table.entries, entry()...)
			}
			tables = append(tables, listedTable{symbolTable: table})
		}
		addrs := make([]uint64, 1+r.IntN(8))
		for i := range addrs {
			addrs[i] = address()
		}
		find := func(machine elf.Machine, flags uint32) []Symbol {
			f := &File{name: "random", header: header{order: order, class: class, data: data, machine: machine, typ: elf.ET_DYN, flags: flags}}
			f.segments = []elf.ProgHeader{{Type: elf.PT_LOAD, Flags: elf.PF_X, Memsz: 40}, {Type: elf.PT_LOAD, Flags: elf.PF_R, Vaddr: 40, Memsz: 10}}
			f.start(1 << 20)
			f.tableList.Store(&tables)
			symbols, err := f.FindSymbols(addrs)
			if err != nil {
				t.Fatal(err)
			}
			return symbols
		}
		const elfV2 = 2
		got, want := find(elf.EM_X86_64, 0), find(elf.EM_PPC64, elfV2)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: at %#x\n%+v, want\n%+v", round, addrs, got, want)
		}
		for _, s := range got {
			if s.Size > 0 {
				covered++
			} else if s.Name != "" {
				sizeless++
			}
		}
	}
	if covered < 1000 || sizeless < 1000 {
		t.Errorf("%d symbols with a size, %d without", covered, sizeless)
	}
}
