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
)

// Code is where the code of a relocatable file lies that a pointer leads to.
type Code struct {
	Section int    // index in [File.Sections]; 0 where it is not known
	Symbol  Symbol // that covers the code; an empty Name where none does
}

// FindCode tells what pointers of a section of call frame information lead to
// in a relocatable file. There every section of code may start at 0, so that an
// address names nothing; what names it is the pointer's relocation. A pointer
// is given by its offset in s, which comes from this File, and by the address
// that it holds once relocated. Nothing is known of a pointer without a
// relocation. The error joins what could not be read.
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
		problems.addAll(err)
		f.nameCode(table, list, addresses)
		return nil
	})
	problems.addAll(fault)
	if err := problems.err(); err != nil {
		return list, fmt.Errorf("%s: relocations of %s: %w", f.name, s.Name, err)
	}
	return list, nil
}

// relocationTargets calls yield with the offset of each relocation of s and the
// section of the symbol that it refers to, and returns the symbols.
func (f *File) relocationTargets(s *cfi.Section, yield func(offset uint64, section int)) (t symbolTable, err error) {
	for i := range f.sectionCount() {
		if _, ok := f.cfiKind(f.section(i)); !ok {
			continue
		}
		// Several sections can have one name: s is the one whose bytes it has.
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
			at := uint64(r.symbol) * uint64(symbolSize)
			if at+uint64(symbolSize) > uint64(len(t.entries)) {
				continue
			}
			symbol := f.decodeSymbol(t.entries[at:])
			section := uint64(symbol.shndx)
			if symbol.shndx == elf.SHN_XINDEX && 4*uint64(r.symbol)+4 <= uint64(len(t.extended)) {
				section = uint64(f.order.Uint32(t.extended[4*uint64(r.symbol):]))
			} else if symbol.shndx >= elf.SHN_LORESERVE {
				continue
			}
			if section > 0 && section < f.shnum {
				yield(r.offset, int(section))
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
