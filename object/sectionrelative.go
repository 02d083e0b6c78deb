// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import "debug/elf"

// maxUndecided is how many symbols are looked at for what their values are relative
// to. In files that linkers write, the first function decides it.
const maxUndecided = 1 << 12

// findSectionRelative reports whether the values of symbols are relative to their
// sections though the file is not ET_REL (gABI, "Symbol Values"). Runtimes that make
// an ET_DYN of an object file, to register it with debuggers, often leave them so.
// The first function decides it whose value is inside of its section by one reading
// and outside by the other.
func (f *File) findSectionRelative() (relative bool) {
	if f.typ != elf.ET_DYN && f.typ != elf.ET_EXEC || f.machine == elf.EM_PPC64 {
		return false // ELFv1: values are those of descriptors, which are in another section
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
