// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"fmt"
	"slices"
)

// This file is for linkers, which need unchanged relocations and symbols, undefined
// symbols and those of sections too.

// Relocation is an entry of a relocation table.
type Relocation struct {
	Offset uint64 // in its section in a relocatable file, else an address
	Symbol uint32 // index in the symbol table, 0 for none
	Type   uint32
	Addend int64 // 0 if the table has no addends (SHT_REL)
}

// RelocationTable is a relocation table. It is a view of the file: see [Guard].
type RelocationTable struct {
	Section int // index of the section that it relocates
	Symbols int // index of the section with its symbol table

	file    *File
	typ     elf.SectionType
	size    int
	entries []byte
}

// RelocationTable returns the table in the section with an index of [File.Sections]. The
// type of the section must be SHT_REL or SHT_RELA. If there is an error, t contains the part
// of the table that could be read.
func (f *File) RelocationTable(index int) (t RelocationTable, err error) {
	s, err := f.sectionOfType(index, elf.SHT_RELA, elf.SHT_REL)
	if err != nil {
		return t, err
	}
	t = RelocationTable{Section: int(s.info), Symbols: int(s.link), file: f, typ: s.typ, size: f.relocationSize(s.typ)}
	t.entries, err = f.raw(s)
	return t, f.named(err)
}

// Len returns the number of relocations.
func (t *RelocationTable) Len() int {
	if t.size == 0 {
		return 0
	}
	return len(t.entries) / t.size
}

// At returns relocation i of 0 to Len()-1.
func (t *RelocationTable) At(i int) Relocation {
	return t.file.decodeRelocation(t.entries[i*t.size:], t.typ)
}

// SymbolEntry is an entry of a symbol table.
type SymbolEntry struct {
	NameOffset uint32           // in the table of names: see [SymbolTable.Name]
	Section    int              // index in [File.Sections], possibly out of range; 0 if undefined or Special
	Special    elf.SectionIndex // SHN_ABS, SHN_COMMON and other indexes without a section; else 0
	Value      uint64           // as in the file
	Size       uint64           // bytes
	Type       elf.SymType
	Binding    elf.SymBind
	Other      byte // st_other: visibility and bits of the machine
}

// SymbolTable is a symbol table. It is a view of the file: see [Guard].
type SymbolTable struct {
	file  *File
	table symbolTable
}

// SymbolTable returns the table in the section with an index of [File.Sections]. The type of
// the section must be SHT_SYMTAB or SHT_DYNSYM. If there is an error, t contains the part of
// the table that could be read.
func (f *File) SymbolTable(index int) (t SymbolTable, err error) {
	s, err := f.sectionOfType(index, elf.SHT_SYMTAB, elf.SHT_DYNSYM)
	if err != nil {
		return t, err
	}
	t.file = f
	t.table, err = f.sectionSymbols(index, s)
	return t, f.named(err)
}

// Len returns the number of entries.
func (t *SymbolTable) Len() int {
	if t.file == nil {
		return 0
	}
	return len(t.table.entries) / t.file.symbolSize()
}

// At returns entry i of 0 to Len()-1; entry 0 is empty.
func (t *SymbolTable) At(i int) SymbolEntry {
	s := t.file.decodeSymbol(t.table.entries[i*t.file.symbolSize():])
	e := SymbolEntry{
		NameOffset: s.name, Value: s.value, Size: s.size, Type: s.typ(), Binding: s.binding(), Other: s.other,
	}
	switch {
	case s.shndx == elf.SHN_XINDEX:
		if 4*i+4 <= len(t.table.extended) {
			e.Section = int(t.file.order.Uint32(t.table.extended[4*i:]))
		}
	case s.shndx >= elf.SHN_LORESERVE:
		e.Special = s.shndx
	default:
		e.Section = int(s.shndx)
	}
	return e
}

// Name returns the name of an entry of the table, a view of the file. Names of a hostile
// file can be long and overlap: callers that read many names should bound the sum of
// their lengths.
func (t *SymbolTable) Name(e *SymbolEntry) []byte {
	return cString(t.table.names, uint64(e.NameOffset))
}

// StoredData returns the content of the section with an index of [File.Sections],
// decompressed but not relocated. If the section is not compressed the content is a view
// of the file: see [Guard]. Otherwise the caller owns it. A content of more than limit
// bytes is an error.
func (f *File) StoredData(index int, limit uint64) (data []byte, err error) {
	s, err := f.sectionAt(index)
	if err != nil {
		return nil, err
	}
	fault := Guard(func() (err error) {
		if data, err = f.raw(s); err != nil {
			return err
		}
		size, compressed := uint64(len(data)), f.isCompressed(s, data)
		if compressed {
			_, size, _, err = f.compression(s, data)
		}
		switch {
		case err != nil:
			data = nil
		case size > limit:
			data, err = nil, fmt.Errorf("%d bytes, at most %d expected", size, limit)
		case compressed:
			data, err = f.decompress(s, data)
		}
		if err != nil {
			return fmt.Errorf("section %s: %w", f.sectionName(s), err)
		}
		return nil
	})
	return data, f.named(fault)
}

func (f *File) sectionOfType(index int, types ...elf.SectionType) (s sectionHeader, err error) {
	if s, err = f.sectionAt(index); err == nil && !slices.Contains(types, s.typ) {
		err = fmt.Errorf("%s: section %s: type %v, %v expected", f.name, f.sectionName(s), s.typ, types[0])
	}
	return s, err
}
