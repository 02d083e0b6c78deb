// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package amend

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/internal/leb128"
)

// Types of sections that package debug/elf lacks (LLVM's BinaryFormat/ELF.h).
const (
	shtLLVMAddressSignificant = elf.SectionType(0x6fff4c03) // SHT_LLVM_ADDRSIG
	shtLLVMCallGraphProfile   = elf.SectionType(0x6fff4c09) // SHT_LLVM_CALL_GRAPH_PROFILE
	shtCrel                   = elf.SectionType(0x40000014) // SHT_CREL
)

// symbols is the symbol table of an object file.
type symbols struct {
	e      *editor
	index  int
	first  uint32 // the first symbol that is not local
	global []byte
	local  []byte
}

// openSymbols finds the symbol table.
func (e *editor) openSymbols() (*symbols, error) {
	index := slices.IndexFunc(e.sections, func(s section) bool { return s.typ == elf.SHT_SYMTAB })
	if index < 0 {
		return nil, fmt.Errorf("%w: no symbol table", ErrDamaged)
	}
	t := &e.sections[index]
	content, err := e.content(index)
	if err != nil {
		return nil, err
	}
	n := uint64(len(content)) / symbolSize
	if t.entry != symbolSize || uint64(len(content))%symbolSize != 0 || n == 0 || uint64(t.info) > n || t.info == 0 {
		return nil, fmt.Errorf("%w: symbol table of %d bytes with entries of %d bytes, %d of them local", ErrDamaged, len(content), t.entry, t.info)
	}
	at := uint64(t.info) * symbolSize
	return &symbols{e: e, index: index, first: t.info, local: content[:at:at], global: content[at:]}, nil
}

// ofSections returns the number of a symbol for the start of each section, by the section's index.
// Assemblers leave out the symbols of sections that no relocation needs. They are added after the
// other local symbols, which come before all others (gABI, "Symbol Table").
func (t *symbols) ofSections(sections []int) (map[int]uint32, error) {
	numbers := make(map[int]uint32)
	for i := range t.first {
		b := t.local[uint64(i)*symbolSize:]
		section := int(little.Uint16(b[6:]))
		if elf.ST_TYPE(b[4]) == elf.STT_SECTION && little.Uint64(b[8:]) == 0 && section < int(elf.SHN_LORESERVE) {
			if _, ok := numbers[section]; !ok {
				numbers[section] = i
			}
		}
	}
	added := make([]byte, 0, symbolSize)
	for _, section := range sections {
		if _, ok := numbers[section]; ok {
			continue
		}
		if section >= int(elf.SHN_LORESERVE) {
			return nil, fmt.Errorf("section %d has no symbol, and its number is not less than %d: %w", section, int(elf.SHN_LORESERVE), errors.ErrUnsupported)
		}
		numbers[section] = t.first + uint32(len(added)/symbolSize)
		var b [symbolSize]byte
		b[4] = elf.ST_INFO(elf.STB_LOCAL, elf.STT_SECTION)
		little.PutUint16(b[6:], uint16(section))
		added = append(added, b[:]...)
	}
	if len(added) == 0 {
		return numbers, nil
	}
	n := uint32(len(added) / symbolSize)
	if err := t.renumber(n); err != nil {
		return nil, err
	}
	s := &t.e.sections[t.index]
	s.set(t.local, added, t.global)
	s.info += n
	return numbers, nil
}

// renumber adds n to the numbers of symbols that are not local, in all sections that have such
// numbers.
func (t *symbols) renumber(n uint32) error {
	e := t.e
	moved := func(symbol uint32) uint32 {
		if symbol >= t.first {
			return symbol + n
		}
		return symbol
	}
	for i := range e.sections {
		s := &e.sections[i]
		if int(s.link) != t.index || s.typ == elf.SHT_NULL {
			continue
		}
		content, err := e.content(i)
		if err != nil {
			return err
		}
		switch s.typ {
		case elf.SHT_RELA, elf.SHT_REL:
			size := relocationSize
			if s.typ == elf.SHT_REL {
				size = 16
			}
			if s.entry != uint64(size) || len(content)%size != 0 {
				return fmt.Errorf("%w: section %s: %d bytes of relocations with entries of %d bytes", ErrDamaged, e.nameOf(i), len(content), s.entry)
			}
			content = slices.Clone(content)
			for at := 0; at < len(content); at += size {
				symbol := content[at+12:] // the upper half of r_info
				little.PutUint32(symbol, moved(little.Uint32(symbol)))
			}
			s.set(content)
		case elf.SHT_GROUP: // the symbol is the signature
			s.info = moved(s.info)
		case elf.SHT_SYMTAB_SHNDX:
			at := min(4*int(t.first), len(content))
			s.set(content[:at], make([]byte, 4*n), content[at:])
		case shtLLVMAddressSignificant:
			var list []byte
			for len(content) > 0 {
				symbol, size, err := leb128.Uint(content)
				if err != nil || symbol > 1<<32-1 {
					return fmt.Errorf("%w: section %s: not a list of symbols", ErrDamaged, e.nameOf(i))
				}
				list = leb128.AppendUint(list, uint64(moved(uint32(symbol))))
				content = content[size:]
			}
			s.set(list)
		case shtLLVMCallGraphProfile: // its relocations name the symbols
		default:
			return fmt.Errorf("section %s of type %v refers to symbols in an unknown way: %w", e.nameOf(i), s.typ, errors.ErrUnsupported)
		}
	}
	return nil
}
