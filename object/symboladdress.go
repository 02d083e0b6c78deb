// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
)

// movesSymbols reports whether toAddress can change values.
func (f *File) movesSymbols() bool {
	return f.marksModes() || f.arch.Descriptors || f.typ == elf.ET_REL || f.sectionRelative()
}

// toAddress makes the value of a symbol the address of the first instruction.
func (f *File) toAddress(s *rawSymbol) {
	if (f.typ == elf.ET_REL || f.sectionRelative()) && s.shndx != elf.SHN_ABS && uint64(s.shndx) < f.shnum {
		s.value += f.section(int(s.shndx)).addr
	}
	if !isFunction(s) {
		return
	}
	if f.marksModes() {
		s.value &^= 1
	}
	if f.arch.Descriptors && f.flags&3 < 2 && f.inDescriptors(s) { // ELFv1
		if entry := f.descriptor(s.value); entry != 0 {
			// The symbol's section is that of the descriptor.
			s.value, s.shndx = entry, elf.SHN_ABS
		}
	}
}

// marksModes reports whether the lowest bit of a function's address is the mode in which
// its code runs: Thumb, microMIPS, MIPS16.
func (f *File) marksModes() bool { return f.arch.CodeMask&1 == 0 }

// descriptor returns the first word of a function descriptor, 0 where it
// cannot be read.
func (f *File) descriptor(addr uint64) uint64 {
	if f.memory != nil {
		var word [8]byte
		if f.ReadMemory(word[:], addr) != nil {
			return 0
		}
		return f.unrelocated(f.order.Uint64(word[:]))
	}
	if b, _, ok := f.at(addr); ok && len(b) >= 8 {
		return f.order.Uint64(b)
	}
	return 0
}

// inDescriptors reports whether a symbol lies outside of executable code: in
// .opd, the function descriptors of the ELFv1 ABI.
func (f *File) inDescriptors(s *rawSymbol) bool {
	if s.shndx != elf.SHN_ABS && uint64(s.shndx) < f.shnum {
		return f.section(int(s.shndx)).flags&elf.SHF_EXECINSTR == 0
	}
	p, ok := f.segmentAt(s.value)
	return ok && p.Flags&elf.PF_X == 0
}

func isFunction(s *rawSymbol) bool {
	return s.typ() == elf.STT_FUNC || s.typ() == elf.STT_GNU_IFUNC
}

// maxUndecided bounds the symbols that findSectionRelative looks at. In files that
// linkers write, the first function decides it.
const maxUndecided = 1 << 12

// findSectionRelative reports whether the values of symbols are relative to their
// sections though the file is not ET_REL (gABI, "Symbol Values"). Runtimes that make
// an ET_DYN of an object file, to register it with debuggers, often leave them so.
// The first function decides it with a value that is inside of its section in one
// interpretation and outside in the other.
func (f *File) findSectionRelative() (relative bool) {
	if f.typ != elf.ET_DYN && f.typ != elf.ET_EXEC || f.arch.Descriptors {
		return false // values are those of descriptors, which are in another section
	}
	f.noteFault(func() {
		left := maxUndecided
		f.symbolTables(func(t symbolTable, _ error) bool {
			size, info := f.symbolSize(), f.symbolInfo()
			for entries := t.entries; len(entries) >= size && left > 0; entries = entries[size:] {
				if left--; entries[info]&0xf != byte(elf.STT_FUNC) {
					continue
				}
				s := f.decodeSymbol(entries)
				if s.shndx == elf.SHN_UNDEF || s.shndx >= elf.SHN_LORESERVE || uint64(s.shndx) >= f.shnum {
					continue
				}
				section := f.section(int(s.shndx))
				if section.flags&(elf.SHF_ALLOC|elf.SHF_EXECINSTR) != elf.SHF_ALLOC|elf.SHF_EXECINSTR {
					continue
				}
				inside, insideByOffset := s.value-section.addr < section.size, s.value < section.size
				if inside != insideByOffset {
					relative, left = insideByOffset, 0
				}
			}
			return left > 0
		})
	})
	return relative
}
