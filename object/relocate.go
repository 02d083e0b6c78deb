// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"sort"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object/internal/relocation"
)

// relocationsOf returns the index of the section that holds the relocations of
// section i. Section groups bring several sections of one name; each has its own.
func (f *File) relocationsOf(i int) (index int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.relocated == nil {
		f.relocated = make(map[uint32]int)
		for k := range f.sectionCount() {
			s := f.section(k)
			if s.typ == elf.SHT_REL || s.typ == elf.SHT_RELA {
				if _, ok := f.relocated[s.info]; !ok {
					f.relocated[s.info] = k
				}
			}
		}
	}
	index, ok = f.relocated[uint32(i)]
	return index, ok
}

// relocate applies the relocations in section number index to data, the content of s. It
// returns the offsets, ascending, of the places that it could not relocate.
func (f *File) relocate(data []byte, s sectionHeader, index int) (skipped []uint64, err error) {
	table := f.section(index)
	entries, err := f.raw(table)
	if err != nil {
		return nil, err
	}
	size := f.relocationSize(table.typ)
	var problems problems
	skip := func(r Relocation, err error) {
		problems.add(err)
		if r.Offset < uint64(len(data)) && len(skipped) < len(data) {
			skipped = append(skipped, r.Offset)
		}
	}
	defer func() {
		slices.Sort(skipped)
		skipped = slices.Compact(skipped)
	}()
	symbols, known, err := f.relocationSymbols(table)
	if err != nil {
		for ; len(entries) >= size; entries = entries[size:] {
			skip(f.decodeRelocation(entries, table.typ), nil)
		}
		return skipped, err
	}
	symbolSize := f.symbolSize()
	addendInPlace := table.typ == elf.SHT_REL || f.arch.InPlaceAddend
	for ; len(entries) >= size; entries = entries[size:] {
		r := f.decodeRelocation(entries, table.typ)
		op := known[r.Type]
		switch {
		case !op.IsKnown() && s.flags&elf.SHF_EXECINSTR != 0:
			continue // of an instruction
		case !op.IsKnown():
			skip(r, fmt.Errorf("relocation at %#x: type %d of %s is not one of data", r.Offset, r.Type, f.arch.Name))
			continue
		case op.IsNone():
			continue
		case r.Offset > uint64(len(data)) || uint64(len(data))-r.Offset < uint64(op.Size()):
			skip(r, fmt.Errorf("relocation at %#x: the section has %#x bytes", r.Offset, len(data)))
			continue
		}
		value := uint64(r.Addend)
		if r.Symbol != 0 {
			if uint64(r.Symbol) >= uint64(len(symbols)/symbolSize) {
				skip(r, fmt.Errorf("relocation at %#x: symbol %d of %d", r.Offset, r.Symbol, len(symbols)/symbolSize))
				continue
			}
			sym := f.decodeSymbol(symbols[int(r.Symbol)*symbolSize:])
			value += sym.value
			if i := int(sym.shndx); i < f.sectionCount() && sym.shndx < elf.SHN_LORESERVE {
				value += f.section(i).addr
			}
		}
		op.Apply(data[r.Offset:], f.order, s.addr+r.Offset, value, addendInPlace)
	}
	return skipped, problems.err()
}

// relocationSymbols returns the symbol table of a section of relocations, and the machine's
// operations.
func (f *File) relocationSymbols(table sectionHeader) (symbols []byte, known map[uint32]relocation.Operation, err error) {
	if int64(table.link) >= int64(f.shnum) {
		return nil, nil, fmt.Errorf("%s: symbol table is section %d of %d", f.sectionName(table), table.link, f.shnum)
	}
	if symbols, err = f.raw(f.section(int(table.link))); err != nil {
		return nil, nil, err
	}
	known, ok := relocation.Operations(f.arch)
	if !ok {
		return nil, nil, fmt.Errorf("%s: relocations of %s are not known", f.sectionName(table), f.arch.Name)
	}
	return symbols, known, nil
}

func (f *File) relocationSize(t elf.SectionType) int {
	if t == elf.SHT_RELA {
		return 3 * f.wordSize()
	}
	return 2 * f.wordSize()
}

func (f *File) decodeRelocation(b []byte, t elf.SectionType) (r Relocation) {
	o := f.order
	if f.class != elf.ELFCLASS64 {
		info := o.Uint32(b[4:])
		r.Offset, r.Symbol, r.Type = uint64(o.Uint32(b)), info>>8, info&0xff
		if t == elf.SHT_RELA {
			r.Addend = int64(int32(o.Uint32(b[8:])))
		}
		return r
	}
	r.Offset = o.Uint64(b)
	if f.arch.ShortTypes {
		r.Symbol, r.Type = o.Uint32(b[8:]), uint32(b[15])
	} else {
		info := o.Uint64(b[8:])
		r.Symbol, r.Type = uint32(info>>32), uint32(info)
	}
	if t == elf.SHT_RELA {
		r.Addend = int64(o.Uint64(b[16:]))
	}
	return r
}

// Code is a place in the code of a relocatable file.
type Code struct {
	Section int    // index in [File.Sections]; 0 if unknown
	Symbol  Symbol // the symbol that covers the place; its Name is "" if none does
}

// FindCode returns the places in code to which pointers of a section of call frame
// information lead in a relocatable file. Every section of such a file may start at
// address 0, so that only the relocation of a pointer identifies its section. The section
// s must come from this File. Pointers are offsets in s, and addresses their relocated
// values. A pointer without a relocation has the zero Code. The error joins all errors.
func (f *File) FindCode(s *cfi.Section, pointers, addresses []uint64) ([]Code, error) {
	list := make([]Code, len(pointers))
	var problems problems
	fault := Guard(func() error {
		at := make(map[uint64]int, len(pointers))
		for i, p := range pointers {
			at[p] = i
		}
		table, err := f.relocationTargets(s, func(offset uint64, section int) {
			if i, ok := at[offset]; ok && list[i].Section == 0 {
				list[i].Section = section
			}
		})
		problems.add(err)
		f.nameCode(table, list, addresses)
		return nil
	})
	problems.add(fault)
	if err := problems.err(); err != nil {
		return list, fmt.Errorf("%s: relocations of %s: %w", f.name, s.Name, err)
	}
	return list, nil
}

// relocationTargets calls yield with the offset of each relocation of s and the section of
// its symbol, and returns the symbol table.
func (f *File) relocationTargets(s *cfi.Section, yield func(offset uint64, section int)) (t symbolTable, err error) {
	for i := range f.sectionCount() {
		if _, ok := f.cfiKind(f.section(i)); !ok {
			continue
		}
		// Several sections can share a name. s is the one with the same bytes.
		data, err := f.content(i)
		if err != nil || len(data) != len(s.Data) || len(data) == 0 || &data[0] != &s.Data[0] {
			continue
		}
		index, ok := f.relocationsOf(i)
		if !ok {
			return t, nil
		}
		table := f.section(index)
		entries, err := f.raw(table)
		if err != nil {
			return t, err
		}
		if uint64(table.link) >= f.shnum {
			return t, fmt.Errorf("symbol table is section %d of %d", table.link, f.shnum)
		}
		if t, err = f.sectionSymbols(int(table.link), f.section(int(table.link))); err != nil {
			return t, err
		}
		size, symbolSize := f.relocationSize(table.typ), f.symbolSize()
		for ; len(entries) >= size; entries = entries[size:] {
			r := f.decodeRelocation(entries, table.typ)
			at := uint64(r.Symbol) * uint64(symbolSize)
			if at+uint64(symbolSize) > uint64(len(t.entries)) {
				continue
			}
			symbol := f.decodeSymbol(t.entries[at:])
			section := uint64(symbol.shndx)
			if symbol.shndx == elf.SHN_XINDEX && 4*uint64(r.Symbol)+4 <= uint64(len(t.extended)) {
				section = uint64(f.order.Uint32(t.extended[4*uint64(r.Symbol):]))
			} else if symbol.shndx >= elf.SHN_LORESERVE {
				continue
			}
			if section > 0 && section < f.shnum {
				yield(r.Offset, int(section))
			}
		}
		return t, nil
	}
	return t, nil
}

// nameCode finds the symbols of a table that cover the addresses, each within
// its section.
func (f *File) nameCode(t symbolTable, list []Code, addresses []uint64) {
	order := make([]int, 0, len(list))
	for i := range list {
		if list[i].Section != 0 {
			order = append(order, i)
		}
	}
	compare := func(section int, address uint64, i int) int {
		return cmp.Or(cmp.Compare(list[i].Section, section), cmp.Compare(addresses[i], address))
	}
	slices.SortFunc(order, func(a, b int) int { return compare(list[b].Section, addresses[b], a) })
	best := make([]rawSymbol, len(list))
	// Symbols that all cover all addresses would cost the product.
	work := 64<<20 + 64*len(t.entries)/f.symbolSize()
	f.scan(t, code, func(s *rawSymbol) bool {
		section := int(s.shndx)
		// A symbol without a size covers its own address only.
		end := s.value + max(s.size, 1)
		i := sort.Search(len(order), func(i int) bool { return compare(section, s.value, order[i]) >= 0 })
		for ; i < len(order) && list[order[i]].Section == section && addresses[order[i]] < end; i++ {
			if work--; work < 0 {
				return false
			}
			old := &best[order[i]]
			if old.name == 0 || s.value > old.value || s.value == old.value && rankOf(s.info) > rankOf(old.info) {
				*old = *s
			}
		}
		return true
	})
	names := maxNames
	for _, i := range order {
		if best[i].name == 0 {
			continue
		}
		if list[i].Symbol = t.symbol(&best[i]); names < len(list[i].Symbol.Name) {
			list[i].Symbol = Symbol{}
			return
		}
		names -= len(list[i].Symbol.Name)
	}
}
