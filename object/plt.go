// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"sort"
)

// stub is an address inside of the procedure linkage table that is to be named.
type stub struct {
	query *query
	start uint64 // of the stub
	size  uint64
	slot  uint64 // address of the slot that it jumps through
}

// findStubs names addresses in .plt, .plt.sec and .plt.got after the function
// that they lead to, "puts@plt". No symbol table has them: a stub jumps through
// a slot, and the relocation of that slot names the function.
func (s *finder) findStubs() {
	if s.memory != nil || s.typ == elf.ET_REL {
		return
	}
	var stubs []stub
	for i := range s.sectionCount() {
		h := s.section(i)
		if h.typ != elf.SHT_PROGBITS || h.flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		switch string(prefix(s.sectionName(h), 16)) {
		case ".plt", ".plt.sec", ".plt.got", ".plt.bnd":
		default:
			continue
		}
		code, _ := s.raw(h)
		from := sort.Search(len(s.queries), func(i int) bool { return s.queries[i].addr >= h.addr })
		for k := from; k < len(s.queries) && s.queries[k].addr-h.addr < uint64(len(code)); k++ {
			q := &s.queries[k]
			if q.done {
				continue
			}
			if st, ok := s.decodeStub(code, h.addr, q.addr-h.addr); ok {
				st.query = q
				stubs = append(stubs, st)
			}
		}
	}
	if len(stubs) == 0 {
		return
	}
	sort.Slice(stubs, func(a, b int) bool { return stubs[a].slot < stubs[b].slot })
	for i := range s.sectionCount() {
		h := s.section(i)
		if (h.typ == elf.SHT_REL || h.typ == elf.SHT_RELA) && h.flags&elf.SHF_ALLOC != 0 && uint64(h.link) < s.shnum {
			s.nameStubs(stubs, h)
		}
	}
}

// nameStubs looks for the slots in one relocation table.
func (s *finder) nameStubs(stubs []stub, h sectionHeader) {
	entries, _ := s.raw(h)
	size, symbolSize := s.relocationSize(h.typ), s.symbolSize()
	table := s.section(int(h.link))
	if table.typ != elf.SHT_DYNSYM || uint64(table.link) >= s.shnum {
		return
	}
	symbols, _ := s.raw(table)
	names, _ := s.raw(s.section(int(table.link)))
	for ; len(entries) >= size; entries = entries[size:] {
		r := s.decodeRelocation(entries, h.typ)
		i := sort.Search(len(stubs), func(i int) bool { return stubs[i].slot >= r.Offset })
		for ; i < len(stubs) && stubs[i].slot == r.Offset; i++ {
			st := &stubs[i]
			if st.query.done || r.Symbol == 0 || uint64(r.Symbol) >= uint64(len(symbols)/symbolSize) {
				continue
			}
			sym := s.decodeSymbol(symbols[int(r.Symbol)*symbolSize:])
			name := cString(names, uint64(sym.name))
			if s.names -= len(name); len(name) == 0 || s.names < 0 {
				continue
			}
			s.symbols[st.query.index] = Symbol{
				Name: string(name) + "@plt", Address: st.start, Size: st.size,
				Type: elf.STT_FUNC, Source: StubSymbols,
			}
			st.query.done = true
		}
	}
}

// decodeStub finds the stub around code[offset] and the slot it jumps through.
// The first entry of .plt, which calls the dynamic linker, uses no slot that a
// relocation names.
func (s *finder) decodeStub(code []byte, addr, offset uint64) (st stub, ok bool) {
	start, found, ok := s.Machine().StubAround(code, addr, offset)
	if !ok {
		return st, false
	}
	slot := found.Slot
	if found.FromGOT {
		got, known := s.dynamic(elf.DT_PLTGOT)
		if !known {
			return st, false
		}
		slot = uint64(uint32(got + slot))
	}
	return stub{start: addr + start, size: found.Size, slot: slot}, true
}
