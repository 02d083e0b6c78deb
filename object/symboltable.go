// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/clewdev/clew/internal/printable"
)

// symbolTable is a symbol table, as views of the file.
type symbolTable struct {
	entries, names []byte
	extended       []byte // SHT_SYMTAB_SHNDX
	versions       []byte // SHT_GNU_versym
	source         SymbolSource
}

// rawSymbol is an entry of a symbol table.
type rawSymbol struct {
	name  uint32
	info  byte
	other byte
	shndx elf.SectionIndex
	value uint64
	size  uint64

	hidden bool // see Symbol.Hidden
}

func (s *rawSymbol) typ() elf.SymType     { return elf.ST_TYPE(s.info) }
func (s *rawSymbol) binding() elf.SymBind { return elf.ST_BIND(s.info) }

func (f *File) symbolSize() int {
	if f.class == elf.ELFCLASS64 {
		return elf.Sym64Size
	}
	return elf.Sym32Size
}

// decodeSymbol decodes one entry; b holds all of it.
func (f *File) decodeSymbol(b []byte) (s rawSymbol) {
	if f.class == elf.ELFCLASS64 && f.header.data == elf.ELFDATA2LSB {
		// The fast path for most files makes no calls through an interface.
		o := binary.LittleEndian
		b = b[:elf.Sym64Size]
		return rawSymbol{
			name: o.Uint32(b), info: b[4], other: b[5], shndx: elf.SectionIndex(o.Uint16(b[6:])),
			value: o.Uint64(b[8:]), size: o.Uint64(b[16:]),
		}
	}
	o := f.order
	s.name = o.Uint32(b)
	if f.class == elf.ELFCLASS64 {
		s.info, s.other, s.shndx = b[4], b[5], elf.SectionIndex(o.Uint16(b[6:]))
		s.value, s.size = o.Uint64(b[8:]), o.Uint64(b[16:])
		return s
	}
	s.value, s.size = uint64(o.Uint32(b[4:])), uint64(o.Uint32(b[8:]))
	s.info, s.other, s.shndx = b[12], b[13], elf.SectionIndex(o.Uint16(b[14:]))
	return s
}

// hiddenVersion is the bit of a version that is not the default one.
const hiddenVersion = 0x8000

// maxSymbolTables bounds the searched tables of one type, since tables can overlap. The gABI
// allows one.
const maxSymbolTables = 4

// listedTable is a symbol table, or the part of it that could be read, with the error.
type listedTable struct {
	symbolTable
	err error
}

// symbolTables yields the tables of this file alone: .symtab, then .dynsym.
func (f *File) symbolTables(yield func(symbolTable, error) bool) {
	list := f.tableList.Load()
	if list == nil {
		list = f.listTables()
		f.tableList.Store(list)
	}
	for i := range *list {
		if t := &(*list)[i]; !yield(t.symbolTable, t.err) {
			return
		}
	}
}

func (f *File) listTables() *[]listedTable {
	var list []listedTable
	dynamic := false
	for _, want := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		n := 0
		for i := range f.sectionCount() {
			s := f.section(i)
			if s.typ != want {
				continue
			}
			if n++; n > maxSymbolTables {
				list = append(list, listedTable{err: fmt.Errorf("more than %d sections of type %v", maxSymbolTables, want)})
				break
			}
			t, err := f.sectionSymbols(i, s)
			dynamic = dynamic || t.source == DynamicSymbols && len(t.entries) > 0
			list = append(list, listedTable{t, err})
		}
	}
	if !dynamic && f.typ != elf.ET_REL {
		if t, err := f.dynamicSymbols(); len(t.entries) > 0 || err != nil {
			list = append(list, listedTable{t, err})
		}
	}
	return &list
}

func (f *File) sectionSymbols(i int, s sectionHeader) (t symbolTable, err error) {
	t.source = StaticSymbols
	if s.typ == elf.SHT_DYNSYM {
		t.source = DynamicSymbols
	}
	var problems problems
	t.entries, err = f.raw(s)
	problems.add(err)
	if uint64(s.link) < f.shnum {
		t.names, err = f.raw(f.section(int(s.link)))
		problems.add(err)
	}
	t.extended, err = f.beside(elf.SHT_SYMTAB_SHNDX, i)
	problems.add(err)
	if t.versions, err = f.beside(elf.SHT_GNU_VERSYM, i); err != nil {
		f.note(err) // few callers need versions
	}
	return t, problems.err()
}

// beside returns the content of the first section of a type that belongs to section i.
func (f *File) beside(typ elf.SectionType, i int) ([]byte, error) {
	for k := range f.sectionCount() {
		if x := f.section(k); x.typ == typ && x.link == uint32(i) {
			return f.raw(x)
		}
	}
	return nil, nil
}

// kinds are the types of symbols to look at, a bit each.
type kinds uint16

const (
	code   kinds = 1<<elf.STT_NOTYPE | 1<<elf.STT_FUNC | 1<<elf.STT_GNU_IFUNC
	object kinds = 1 << elf.STT_OBJECT
)

// scan calls visit with every defined symbol of some kinds in t, except mapping symbols, until
// visit returns false. The values of the symbols are addresses.
func (f *File) scan(t symbolTable, want kinds, visit func(*rawSymbol) bool) {
	var s rawSymbol // one for all calls, because it escapes to visit
	size, info := f.symbolSize(), f.symbolInfo()
	entries := t.entries
	for i := 0; len(entries) >= size; i, entries = i+1, entries[size:] {
		if want>>(entries[info]&0xf)&1 != 0 && f.defined(t, i, entries, &s) && !visit(&s) {
			return
		}
	}
}

// scanNear is scan for the symbols for which near, by value and size, returns true.
func (f *File) scanNear(t symbolTable, want kinds, near func(value, size uint64) bool, visit func(*rawSymbol) bool) {
	if f.movesSymbols() {
		f.scan(t, want, visit)
		return
	}
	var s rawSymbol
	size, info := f.symbolSize(), f.symbolInfo()
	most := f.class == elf.ELFCLASS64 && f.header.data == elf.ELFDATA2LSB
	entries := t.entries
	for i := 0; len(entries) >= size; i, entries = i+1, entries[size:] {
		if want>>(entries[info]&0xf)&1 == 0 {
			continue
		}
		var value, length uint64
		if most {
			value, length = binary.LittleEndian.Uint64(entries[8:]), binary.LittleEndian.Uint64(entries[16:])
		} else {
			raw := f.decodeSymbol(entries)
			value, length = raw.value, raw.size
		}
		if near(value, length) && f.defined(t, i, entries, &s) && !visit(&s) {
			return
		}
	}
}

// scanNamed is scan for the symbols with a name. One byte of most names shows that their
// length is another.
func (f *File) scanNamed(t symbolTable, want kinds, name string, visit func(*rawSymbol)) {
	var s rawSymbol
	little, names := f.header.data == elf.ELFDATA2LSB, t.names
	size, info := f.symbolSize(), f.symbolInfo()
	entries := t.entries
	for i := 0; len(entries) >= size; i, entries = i+1, entries[size:] {
		if want>>(entries[info]&0xf)&1 == 0 {
			continue
		}
		at := uint64(binary.LittleEndian.Uint32(entries))
		if !little {
			at = uint64(f.order.Uint32(entries))
		}
		if end := at + uint64(len(name)); end < uint64(len(names)) && names[end] == 0 && string(names[at:end]) == name && f.defined(t, i, entries, &s) {
			visit(&s)
		}
	}
}

// scanAt is scan for the symbols at an address.
func (f *File) scanAt(t symbolTable, want kinds, addr uint64, visit func(*rawSymbol) bool) {
	if f.movesSymbols() {
		f.scan(t, want, func(s *rawSymbol) bool { return s.value != addr || visit(s) })
		return
	}
	// Most symbols are at other addresses and need not be decoded.
	size, info, long := f.symbolSize(), f.symbolInfo(), f.class == elf.ELFCLASS64
	var at [8]byte
	value := uint64(0)
	switch {
	case long:
		f.order.PutUint64(at[:], addr)
		value = binary.NativeEndian.Uint64(at[:])
	case addr > math.MaxUint32:
		return
	default:
		f.order.PutUint32(at[:], uint32(addr))
		value = uint64(binary.NativeEndian.Uint32(at[:]))
	}
	entries := t.entries
	for i := 0; len(entries) >= size; i, entries = i+1, entries[size:] {
		if long && binary.NativeEndian.Uint64(entries[8:]) != value || !long && uint64(binary.NativeEndian.Uint32(entries[4:])) != value {
			continue
		}
		if want>>(entries[info]&0xf)&1 == 0 {
			continue
		}
		if s := new(rawSymbol); f.defined(t, i, entries, s) && s.value == addr && !visit(s) {
			return
		}
	}
}

// symbolInfo returns the offset of st_info in an entry.
func (f *File) symbolInfo() int {
	if f.class == elf.ELFCLASS64 {
		return 4
	}
	return 12
}

// defined decodes entry i of a table, and reports whether the file defines the symbol.
func (f *File) defined(t symbolTable, i int, entry []byte, s *rawSymbol) bool {
	*s = f.decodeSymbol(entry)
	if s.shndx == elf.SHN_UNDEF || s.shndx == elf.SHN_COMMON || s.name == 0 || uint64(s.name) >= uint64(len(t.names)) {
		return false
	}
	if s.shndx == elf.SHN_XINDEX {
		if 4*i+4 <= len(t.extended) {
			s.shndx = elf.SectionIndex(f.order.Uint32(t.extended[4*i:]))
		}
	} else if s.shndx >= elf.SHN_LORESERVE {
		s.shndx = elf.SHN_ABS
	}
	if s.typ() == elf.STT_NOTYPE && f.isMark(t.names, s.name) {
		return false
	}
	s.hidden = 2*i+2 <= len(t.versions) && f.order.Uint16(t.versions[2*i:])&hiddenVersion != 0
	f.toAddress(s)
	return true
}

// isMark reports whether assemblers made a symbol, by its name: a mapping symbol ("$x",
// "$d.12"; arm, arm64, riscv) or a local label (".L5").
func (f *File) isMark(names []byte, name uint32) bool {
	if uint64(name)+1 >= uint64(len(names)) {
		return true
	}
	switch a, b := names[name], names[name+1]; a {
	case 0:
		return true
	case '.':
		return b == 'L'
	case '$':
		return f.arch.MappingSymbols && (b == 'a' || b == 'd' || b == 't' || b == 'x')
	}
	return false
}

func (t *symbolTable) symbol(s *rawSymbol) Symbol { return t.symbolCut(s, printable.MaxName) }

// symbolCut returns a symbol with a name that is cut at longest bytes.
func (t *symbolTable) symbolCut(s *rawSymbol, longest int) Symbol {
	// Names can be long and overlap.
	names := t.names[:min(uint64(len(t.names)), uint64(s.name)+uint64(longest)+1)]
	symbol := Symbol{
		Name:    printable.Shortened(string(cString(names, uint64(s.name))), longest),
		Address: s.value, Size: s.size, Type: s.typ(), Binding: s.binding(), Source: t.source,
		Hidden: s.hidden,
	}
	if s.shndx != elf.SHN_ABS {
		symbol.Section = int(s.shndx)
	}
	return symbol
}

// tables calls yield with every symbol table for this file and the file that contains it,
// best first: .symtab, the debug file's .symtab, .dynsym, .gnu_debugdata. An error says
// that a table cannot be read, or only a part of it.
func (f *File) tables(yield func(*File, symbolTable, error) bool) {
	more := true
	pass := func(in *File, source SymbolSource) func(symbolTable, error) bool {
		return func(t symbolTable, err error) bool {
			if t.source == StaticSymbols {
				t.source = source
			}
			more = yield(in, t, err)
			return more
		}
	}
	debugged := false
	debug := func() {
		if d := f.debug.Load(); d != nil && !debugged && more {
			d.symbolTables(func(t symbolTable, err error) bool {
				return t.source != StaticSymbols || pass(d, DebugSymbols)(t, err)
			})
		}
		debugged = true
	}
	f.symbolTables(func(t symbolTable, err error) bool {
		if t.source == DynamicSymbols {
			if debug(); !more {
				return false
			}
		}
		return pass(f, StaticSymbols)(t, err)
	})
	if debug(); !more {
		return
	}
	mini, err := f.mini()
	if err != nil {
		yield(f, symbolTable{}, err)
	} else if mini != nil {
		mini.symbolTables(pass(mini, MiniDebugSymbols))
	}
}
