// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// regionIndex is the index of a region. The program's memory is one reservation, so that 32-bit offsets
// reach all of it: an inaccessible page, the regions in the order of their indexes, each from the start
// of a page, and another inaccessible page.
type regionIndex uint8

const (
	textRegion     regionIndex = iota // R-X: code, then the stubs
	constantRegion                    // R--
	relroRegion                       // R-- after relocation: constructors, thread-local template, GOT
	dataRegion                        // RW-: data, then zeros
	regionCount
)

// region is a part of the program's memory with equal permissions.
type region struct {
	sections   []*section
	start, end uint64 // from the start of the program's memory
}

// maxMemory is the maximum size of a program, less than the reach of 32-bit offsets.
const maxMemory = 1<<31 - 1<<20

// bounds are the first and last of adjacent sections with the same name, an identifier of C.
type bounds struct{ first, last *section }

// arrange assigns the mapped sections to regions and sorts them.
func (l *linker) arrange() {
	var named []*section
	for _, in := range l.inputs {
		for i := range in.sections {
			s := &in.sections[i]
			switch {
			case !s.mapped:
			case isIdentifier(s.name) && s.flags&elf.SHF_TLS == 0:
				named = append(named, s)
			default:
				l.add(s)
			}
		}
		if in.common.mapped {
			l.add(&in.common)
		}
	}
	slices.SortStableFunc(named, func(a, b *section) int { return strings.Compare(a.name, b.name) })
	l.runs = make(map[string]bounds)
	for _, s := range named {
		l.add(s)
		r, ok := l.runs[s.name]
		if !ok {
			r.first = s
		}
		r.last = s
		l.runs[s.name] = r
	}
	for i := range l.regions {
		slices.SortStableFunc(l.regions[i].sections, func(a, b *section) int { return cmp.Compare(a.order(), b.order()) })
	}
	l.got = section{name: "GOT", region: relroRegion, align: 8, mapped: true, flags: elf.SHF_ALLOC | elf.SHF_WRITE}
	l.stubs = section{name: "stubs", region: textRegion, align: 16, mapped: true, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR}
	l.add(&l.got)
	l.add(&l.stubs)
}

// order sorts the sections of a region: thread-local variables are adjacent, and zeros come after
// content.
func (s *section) order() int {
	order := 0
	if s.flags&elf.SHF_TLS == 0 {
		order = 2
	}
	if s.typ == elf.SHT_NOBITS {
		order++
	}
	return order
}

func (l *linker) add(s *section) {
	s.region = s.belongs()
	r := &l.regions[s.region]
	r.sections = append(r.sections, s)
}

// belongs returns the region of a section, by its flags. The name decides whether it is constant after
// relocation.
func (s *section) belongs() regionIndex {
	switch {
	case s.flags&elf.SHF_EXECINSTR != 0:
		return textRegion
	case s.flags&elf.SHF_TLS != 0:
		return relroRegion
	case s.flags&elf.SHF_WRITE == 0:
		return constantRegion
	}
	if s.owner == nil || s.typ == elf.SHT_INIT_ARRAY || s.typ == elf.SHT_FINI_ARRAY || s.typ == elf.SHT_PREINIT_ARRAY {
		return relroRegion
	}
	for _, name := range []string{".data.rel.ro", ".init_array", ".fini_array", ".preinit_array"} {
		if suffix, ok := strings.CutPrefix(s.name, name); ok && (suffix == "" || suffix[0] == '.') {
			return relroRegion
		}
	}
	return dataRegion
}

// place sets the offset of every mapped section in the program's memory, and the size of the memory.
func (l *linker) place(page uint64) error {
	l.got.size = 8 * uint64(len(l.slots))
	l.stubs.size = uint64(l.machine.stubSize) * uint64(len(l.stubSymbols))
	l.align = page
	at := page
	for i := range l.regions {
		r := &l.regions[i]
		r.start = at
		for _, s := range r.sections {
			if s.flags&elf.SHF_TLS != 0 {
				l.template.add(s)
			}
		}
		for k, s := range r.sections {
			align := s.align
			if s.flags&elf.SHF_TLS != 0 && k == 0 {
				align = l.template.align
			}
			l.align = max(l.align, align)
			at = roundUp(at, align)
			s.offset = at
			if s.size > maxMemory || at+s.size > maxMemory {
				return fmt.Errorf("%w: with section %s of %#x bytes the program exceeds the limit of %#x bytes", errTooLarge, s.place(0), s.size, maxMemory)
			}
			at += s.size
		}
		r.end = roundUp(at, page)
		at = r.end
	}
	l.size = at + page
	if t := &l.template; len(t.sections) > 0 {
		first := t.sections[0]
		last := t.sections[len(t.sections)-1]
		t.start, t.size = first.offset, last.offset+last.size-first.offset
	}
	return nil
}

// settle sets the address of every mapped section.
func (l *linker) settle(base uint64) {
	l.base = base
	for i := range l.regions {
		for _, s := range l.regions[i].sections {
			s.address = base + s.offset
		}
	}
	if g := l.moduleBase; g != nil {
		g.value = l.template.start - uint64(l.template.offset) - g.section.offset
	}
}

// threadSection returns the first section of thread-local variables, or nil.
func (l *linker) threadSection() *section {
	if list := l.regions[relroRegion].sections; len(list) > 0 && list[0].flags&elf.SHF_TLS != 0 {
		return list[0]
	}
	return nil
}

func roundUp(n, align uint64) uint64 { return (n + align - 1) &^ (align - 1) }

// isIdentifier reports whether a name is an identifier of C.
func isIdentifier(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_', 'a' <= c|0x20 && c|0x20 <= 'z', i > 0 && '0' <= c && c <= '9':
		default:
			return false
		}
	}
	return name != ""
}
