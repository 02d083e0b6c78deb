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
		i := sort.Search(len(stubs), func(i int) bool { return stubs[i].slot >= r.offset })
		for ; i < len(stubs) && stubs[i].slot == r.offset; i++ {
			st := &stubs[i]
			if st.query.done || r.symbol == 0 || uint64(r.symbol) >= uint64(len(symbols)/symbolSize) {
				continue
			}
			sym := s.decodeSymbol(symbols[int(r.symbol)*symbolSize:])
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
	o := s.order
	switch s.machine {
	case elf.EM_X86_64, elf.EM_386:
		size := uint64(16)
		if s.stubs8(code) {
			size = 8
		}
		start := offset &^ (size - 1)
		b := code[start:min(start+size, uint64(len(code)))]
		for i := 0; i+6 <= len(b); i++ {
			// jmp *disp32: to the next instruction's address on x86-64,
			// absolute or to the global offset table in %ebx on i386.
			if b[i] != 0xff || b[i+1] != 0x25 && b[i+1] != 0xa3 {
				continue
			}
			slot := uint64(o.Uint32(b[i+2:]))
			switch {
			case s.machine == elf.EM_X86_64:
				slot = addr + start + uint64(i) + 6 + uint64(int64(int32(slot)))
			case b[i+1] == 0xa3:
				got, found := s.dynamic(elf.DT_PLTGOT)
				if !found {
					return st, false
				}
				slot = uint64(uint32(got + slot))
			}
			return stub{start: addr + start, size: size, slot: slot}, true
		}
	case elf.EM_AARCH64:
		// adrp x16, page; ldr x17, [x16, #lo12], after bti c where the file has it.
		// Stubs have 16 or 24 bytes and start anywhere: look back for the adrp.
		for i := int64(offset &^ 3); i >= 0 && int64(offset)-i < 24; i -= 4 {
			if i+8 > int64(len(code)) {
				continue
			}
			adrp, ldr := o.Uint32(code[i:]), o.Uint32(code[i+4:])
			if adrp&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400211 {
				continue
			}
			page := int64(int32(adrp>>5&0x7ffff<<13|adrp>>29&3<<11))>>11<<12 + int64(addr+uint64(i))&^0xfff
			start, size := uint64(i), uint64(16)
			if i >= 4 && o.Uint32(code[i-4:]) == 0xd503245f { // bti c
				start, size = start-4, 24
			}
			if offset >= start+size {
				return st, false
			}
			return stub{start: addr + start, size: size, slot: uint64(page) + uint64(ldr>>10&0xfff)*8}, true
		}
	case elf.EM_RISCV:
		// auipc t3, hi; l[w|d] t3, lo(t3); jalr t1, t3; nop
		start := offset &^ 15
		if start+8 > uint64(len(code)) {
			return st, false
		}
		auipc, load := o.Uint32(code[start:]), o.Uint32(code[start+4:])
		if auipc&0xfff != 0xe17 || load&0xf8fff != 0xe0e03&0xf8fff && load&0x7f != 0x03 {
			return st, false
		}
		slot := int64(addr+start) + int64(int32(auipc&0xfffff000)) + int64(int32(load)>>20)
		return stub{start: addr + start, size: 16, slot: uint64(slot)}, true
	}
	return st, false
}

// stubs8 reports whether the stubs of .plt.got have eight bytes, as they do
// without indirect branch tracking: jmp *slot; xchg %ax,%ax.
func (s *finder) stubs8(code []byte) bool {
	return len(code) >= 8 && code[0] == 0xff && code[1] == 0x25 && code[6] == 0x66 && code[7] == 0x90
}
