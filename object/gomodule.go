// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
)

// goModule is what the runtime's moduledata (runtime/symtab.go) tells of a module
// that .gopclntab does not: addresses.
type goModule struct {
	address uint64 // of the moduledata

	text uint64 // of runtime.text, which functions' offsets are relative to
	data uint64 // of go:func.*, which offsets of function data are relative to; 0 where not known
}

// The words of a moduledata: a pointer to the table, five slices of its parts, one
// of its functions, then single addresses. Go 1.20 put two more before the last, and Go
// 1.27 three lengths and offsets, the first of them in the place of etypes.
const (
	goWordNames   = 1
	goWordFirst   = 20 // minpc: of the first function
	goWordData118 = 38 // gofunc
	goWordData120 = 40
	goWordData127 = 43
	goWords       = goWordData127 + 1

	goWordTypes    = 37 // of Go 1.20 on
	goWordTypesEnd = 38 // etypes; of Go 1.27 on typedesclen, a length
)

// maxGoModules is how many places are looked at: programs have one pointer to the
// table that is none of a moduledata.
const maxGoModules = 16

// goModule finds the moduledata that belongs to a table at an address: by its
// symbol, its section (Go 1.26 on), else by what it begins with.
func (f *File) goModule(t *goTable, table uint64) (m goModule, ok bool) {
	var words [goWords]uint64
	tries := 0
	at := func(addr uint64) bool {
		m.address = addr
		if tries++; tries > maxGoModules {
			return false
		}
		f.goWords(words[:], addr, t.word)
		_, isCode := f.segmentAt(words[goWordFirst])
		return isCode && words[0] == table && words[goWordNames] == table+t.namesAt
	}
	if s, isNamed := f.Symbol("runtime.firstmoduledata"); isNamed {
		ok = at(s.Address)
	}
	if i, isSection := f.find(".go.module"); isSection && !ok {
		ok = at(f.section(i).addr)
	}
	if !ok {
		f.relatives(func(offset, addend uint64) bool {
			ok = addend == table && at(offset)
			return !ok && tries < maxGoModules
		})
	}
	if !ok {
		f.searchWord(table, t.word, func(addr uint64) bool {
			ok = at(addr)
			return ok || tries >= maxGoModules
		})
	}
	if !ok {
		return goModule{}, false
	}
	m.text, m.data = words[goWordFirst]-t.first, words[goWordData118]
	if t.magic == goMagic120 {
		m.data = words[goWordData120]
		if words[goWordTypesEnd] < words[goWordTypes] {
			m.data = words[goWordData127]
		}
	}
	return m, true
}

// goWords reads words of a module at an address as they are without load bias:
// where they are relocated, from the relocations.
func (f *File) goWords(words []uint64, addr uint64, size int) {
	clear(words)
	if b, _ := f.view(addr, uint64(len(words)*size)); len(b) > 0 {
		for i := range words {
			if (i+1)*size <= len(b) {
				words[i] = f.unrelocated(getUint(b[i*size:], f.order, size))
			}
		}
	}
	f.relatives(func(offset, addend uint64) bool {
		if i := (offset - addr) / uint64(size); offset >= addr && i < uint64(len(words)) && (offset-addr)%uint64(size) == 0 {
			words[i] = addend
		}
		return true
	})
}

// relativeType returns the relocation that makes an address of an offset in the file:
// R_X86_64_RELATIVE and its like, with an addend of their own.
func relativeType(machine elf.Machine) (typ uint32, ok bool) {
	switch machine {
	case elf.EM_X86_64:
		return 8, true
	case elf.EM_AARCH64:
		return 1027, true
	case elf.EM_RISCV, elf.EM_LOONGARCH:
		return 3, true
	case elf.EM_PPC64:
		return 22, true
	case elf.EM_S390:
		return 12, true
	}
	return 0, false
}

// relatives visits the places that the dynamic linker fills with addresses of the
// file.
func (f *File) relatives(visit func(offset, addend uint64) bool) {
	typ, ok := relativeType(f.machine)
	if !ok || f.typ != elf.ET_DYN {
		return
	}
	size := f.relocationSize(elf.SHT_RELA)
	tables := 0
	for i := range f.sectionCount() {
		s := f.section(i)
		if s.typ != elf.SHT_RELA {
			continue
		}
		if tables++; tables > maxSymbolTables {
			return
		}
		for entries, _ := f.raw(s); len(entries) >= size; entries = entries[size:] {
			if r := f.decodeRelocation(entries, s.typ); r.typ == typ && !visit(r.offset, uint64(r.addend)) {
				return
			}
		}
	}
}

// searchWord calls try with the addresses in writable sections that hold a word,
// until that returns true.
func (f *File) searchWord(word uint64, size int, try func(addr uint64) bool) {
	left := f.portion()
	for i := range f.sectionCount() {
		s := f.section(i)
		if s.typ != elf.SHT_PROGBITS || s.flags&(elf.SHF_ALLOC|elf.SHF_WRITE) != elf.SHF_ALLOC|elf.SHF_WRITE || s.size > left {
			continue
		}
		left -= s.size
		data, _ := f.raw(s)
		for at := 0; at+size <= len(data); at += size {
			if getUint(data[at:], f.order, size) == word && try(s.addr+uint64(at)) {
				return
			}
		}
	}
}
