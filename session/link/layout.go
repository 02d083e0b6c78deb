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

// The program's memory is one reservation, so that every part of it reaches
// every other with 32 bits: a page that nobody may touch, the regions in this
// order, each from a page's start, and another such page.
type regionIndex uint8

const (
	textRegion     regionIndex = iota // R-X: code, then the stubs
	constantRegion                    // R--
	relroRegion                       // R-- once it is relocated: constructors, thread-local template, GOT
	dataRegion                        // RW-: data, then what starts as 0
	regionCount
)

// region is a part of the program's memory with permissions of its own.
type region struct {
	sections   []*section
	start, end uint64 // from the start of the program's memory
}

// maxMemory is less than 32-bit offsets reach, for all of a program.
const maxMemory = 1<<31 - 1<<20

// bounds are the sections of one name that is an identifier of C; they lie side by
// side.
type bounds struct{ first, last *section }

// arrange puts the mapped sections into regions, in their order.
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
		r, again := l.runs[s.name]
		if !again {
			r.first = s
		}
		r.last = s
		l.runs[s.name] = r
	}
	// What starts as 0 behind what does not; the thread-local variables side by side.
	for i := range l.regions {
		slices.SortStableFunc(l.regions[i].sections, func(a, b *section) int { return cmp.Compare(a.order(), b.order()) })
	}
	l.got = section{name: "GOT", region: relroRegion, align: 8, mapped: true, flags: elf.SHF_ALLOC | elf.SHF_WRITE}
	l.stubs = section{name: "stubs", region: textRegion, align: 16, mapped: true, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR}
	l.add(&l.got)
	l.add(&l.stubs)
}

func (s *section) order() int {
	tls, zero := s.flags&elf.SHF_TLS != 0, s.typ == elf.SHT_NOBITS
	switch {
	case tls && !zero:
		return 0
	case tls:
		return 1
	case !zero:
		return 2
	}
	return 3
}

func (l *linker) add(s *section) {
	s.region = s.belongs()
	r := &l.regions[s.region]
	r.sections = append(r.sections, s)
}

// belongs returns the region of a section: by its flags, and by its name where
// it is constant once it is relocated.
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
		if rest, ok := strings.CutPrefix(s.name, name); ok && (rest == "" || rest[0] == '.') {
			return relroRegion
		}
	}
	return dataRegion
}

// place gives every mapped section its offset in the program's memory, and the
// memory its size.
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
				return fmt.Errorf("%w: section %s of %#x bytes makes the program larger than the %#x that code reaches", ErrTooLarge, s.place(0), s.size, maxMemory)
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

// settle gives every mapped section its address.
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

// isIdentifier reports whether a name can be one of C.
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
