// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/style"
)

// Names provides the names of functions. *object.File implements it.
type Names interface {
	FindSymbols(addrs []uint64) ([]object.Symbol, error)
	FindCode(s *cfi.Section, pointers, addresses []uint64) ([]object.Code, error)
	Symbols() iter.Seq[object.Symbol]
	Sections() []object.Section
}

// Selection selects the functions of a listing: those that match one of the patterns or
// cover one of the addresses. Without patterns and addresses it selects all functions.
type Selection struct {
	Functions []style.Pattern
	Addresses []uint64 // without load bias
	CIEs      bool     // also list the CIEs of these functions
}

// All reports whether the selection selects all functions.
func (s *Selection) All() bool { return len(s.Functions)+len(s.Addresses) == 0 }

// Listing is the entries of sections of call frame information, in order, with the names of
// their functions. Concurrent use is allowed.
type Listing struct {
	entries  []listed
	symbols  []object.Symbol // by number of the FDE
	codes    []object.Code   // instead of symbols, if the sections of code overlap
	sections []object.Section
	regions  []region
	matched  map[uint64]string // by address: symbols that match patterns
}

// listed is an entry of a section. It is decoded again for printing, so that it takes only a
// small multiple of the entry's size in the file.
type listed struct {
	section    *cfi.Section
	offset     uint64
	start, end uint64
	symbol     int32 // index in symbols
	kind       entryKind
}

type entryKind uint8

const (
	fdeEntry entryKind = iota
	cieEntry
	terminatorEntry
	faultyEntry
)

// List reads the sections and names the functions of the selected entries. It lists CIEs,
// terminators and malformed entries only if all functions are selected. names may be nil. After
// an error some names are missing, but the listing is usable. The sections can belong to a
// mapped file: see [object.Guard].
func List(sections []*cfi.Section, names Names, selection Selection) (*Listing, error) {
	l := &Listing{}
	var matched []uint64
	if names != nil {
		l.sections = names.Sections()
		var disjoint bool
		l.regions, disjoint = codeRegions(l.sections)
		if !disjoint {
			l.codes = []object.Code{}
		} else if len(selection.Functions) > 0 {
			l.matched = make(map[uint64]string)
			for s := range names.Symbols() {
				if selection.matches(s.Name) && l.matched[s.Address] == "" {
					l.matched[s.Address] = s.Name
				}
			}
			matched = slices.Sorted(maps.Keys(l.matched))
		}
	}
	// A few addresses need no list of all entries.
	byAddress := !selection.All() && len(selection.Functions) == 0
	for _, s := range sections {
		before := len(l.entries)
		for e, err := range s.Entries() {
			if n := len(l.entries) - before; n == 1<<10 {
				// Assume that the following entries are as dense, and grow once.
				l.entries = slices.Grow(l.entries, int(uint64(n)*uint64(len(s.Data))/e.Offset))
			}
			entry := listed{section: s, offset: e.Offset}
			switch {
			case err != nil:
				entry.kind = faultyEntry
			case e.FDE != nil:
				entry.start, entry.end = e.FDE.Start, e.FDE.End
			case e.CIE != nil:
				entry.kind = cieEntry
			default:
				entry.kind = terminatorEntry
			}
			if byAddress && entry.kind != cieEntry && (entry.kind != fdeEntry || !selection.covers(&entry)) {
				continue
			}
			l.entries = append(l.entries, entry)
		}
	}
	if byAddress {
		l.keep(selection, selection.covers)
	}
	err := l.name(names)
	if len(selection.Functions) > 0 {
		l.keep(selection, func(e *listed) bool {
			i, _ := slices.BinarySearch(matched, e.start)
			return i < len(matched) && matched[i] < e.end || selection.covers(e) ||
				selection.matches(l.symbol(e).Name) && l.symbol(e).Address == e.start
		})
	}
	return l, err
}

func (s *Selection) matches(symbol string) bool {
	return slices.ContainsFunc(s.Functions, func(p style.Pattern) bool { return p.Match(symbol) })
}

func (s *Selection) covers(e *listed) bool {
	return slices.ContainsFunc(s.Addresses, func(a uint64) bool { return e.start <= a && a < e.end })
}

// keep removes all entries except the wanted FDEs and, if the selection includes CIEs, their
// CIEs.
func (l *Listing) keep(selection Selection, wanted func(*listed) bool) {
	type place struct {
		section *cfi.Section
		offset  uint64
	}
	cies := make(map[place]bool)
	for i := range l.entries {
		e := &l.entries[i]
		if e.kind != fdeEntry {
			continue
		}
		if !wanted(e) {
			e.kind = faultyEntry
			continue
		}
		var fde cfi.FDE
		if selection.CIEs && e.section.FDEAt(e.offset, &fde) == nil {
			cies[place{e.section, fde.CIE.Offset}] = true
		}
	}
	l.entries = slices.DeleteFunc(l.entries, func(e listed) bool {
		return e.kind != fdeEntry && !(e.kind == cieEntry && cies[place{e.section, e.offset}])
	})
}

// name looks up all functions in one pass over the symbols.
func (l *Listing) name(names Names) error {
	if names == nil {
		return nil
	}
	addrs := make([]uint64, 0, l.Functions())
	for i := range l.entries {
		if e := &l.entries[i]; e.kind == fdeEntry {
			e.symbol = int32(len(addrs))
			addrs = append(addrs, e.start)
		}
	}
	if l.codes != nil {
		return l.nameRelocatable(names)
	}
	var err error
	l.symbols, err = names.FindSymbols(addrs)
	return err
}

// nameRelocatable names the functions of an object file section by section.
func (l *Listing) nameRelocatable(names Names) error {
	var errs []error
	var pointers, addresses []uint64
	for i := 0; i < len(l.entries); {
		s := l.entries[i].section
		pointers, addresses = pointers[:0], addresses[:0]
		for ; i < len(l.entries) && l.entries[i].section == s; i++ {
			e := &l.entries[i]
			var fde cfi.FDE
			if e.kind != fdeEntry {
				continue
			}
			if s.FDEAt(e.offset, &fde) != nil {
				e.kind = faultyEntry
				continue
			}
			e.symbol = int32(len(l.codes) + len(pointers))
			pointers, addresses = append(pointers, startPointer(&fde)), append(addresses, e.start)
		}
		codes, err := names.FindCode(s, pointers, addresses)
		if err != nil {
			errs = append(errs, err)
		}
		l.codes = append(l.codes, codes...)
	}
	return errors.Join(errs...)
}

// startPointer returns the offset in the section of an FDE's pointer to its function, after
// the length, the CIE pointer and the segment selector.
func startPointer(fde *cfi.FDE) uint64 {
	length, id := uint64(4), uint64(4)
	if fde.DWARF64 {
		length = 12
		if fde.CIE.Section.Kind == cfi.DebugFrame {
			id = 8
		}
	}
	return fde.Offset + length + id + uint64(fde.CIE.SegmentSize)
}

func (l *Listing) symbol(e *listed) object.Symbol {
	switch {
	case e.kind != fdeEntry:
	case int(e.symbol) < len(l.symbols):
		return l.symbols[e.symbol]
	case int(e.symbol) < len(l.codes):
		return l.codes[e.symbol].Symbol
	}
	return object.Symbol{}
}

// Len returns the number of entries.
func (l *Listing) Len() int { return len(l.entries) }

// Functions returns the number of entries that are FDEs.
func (l *Listing) Functions() (n int) {
	for i := range l.entries {
		if l.entries[i].kind == fdeEntry {
			n++
		}
	}
	return n
}

// All yields the functions in the order of the listing. Each FDE is valid until the next
// iteration.
func (l *Listing) All() iter.Seq[Function] {
	return func(yield func(Function) bool) {
		var fde cfi.FDE
		for i := range l.entries {
			e := &l.entries[i]
			if e.kind == fdeEntry && e.section.FDEAt(e.offset, &fde) == nil && !yield(l.function(e, &fde)) {
				return
			}
		}
	}
}

// Nearest returns the last function that ends at or before an address, and the first that
// starts after it, or nil.
func (l *Listing) Nearest(pc uint64) (before, after *Function) {
	var b, a *listed
	for i := range l.entries {
		e := &l.entries[i]
		switch {
		case e.kind != fdeEntry || e.start == e.end:
		case e.end <= pc && (b == nil || e.end > b.end):
			b = e
		case e.start > pc && (a == nil || e.start < a.start):
			a = e
		}
	}
	decode := func(e *listed) *Function {
		if e == nil {
			return nil
		}
		var fde cfi.FDE
		if e.section.FDEAt(e.offset, &fde) != nil {
			return nil
		}
		f := l.function(e, &fde)
		return &f
	}
	return decode(b), decode(a)
}

// Covering yields the functions that cover an address (without load bias), in the order of
// the listing. The caller may keep their FDEs.
func (l *Listing) Covering(pc uint64) iter.Seq[Function] {
	return func(yield func(Function) bool) {
		for i := range l.entries {
			e := &l.entries[i]
			if e.kind != fdeEntry || pc < e.start || pc >= e.end {
				continue
			}
			fde := new(cfi.FDE)
			if e.section.FDEAt(e.offset, fde) == nil && !yield(l.function(e, fde)) {
				return
			}
		}
	}
}

// fault returns the error of an entry that could not be decoded.
func (e *listed) fault() error {
	var fde cfi.FDE
	err := e.section.FDEAt(e.offset, &fde)
	if err == nil {
		return fmt.Errorf("%s+%#x: the entry changed while it was read", e.section.Name, e.offset)
	}
	if errors.Is(err, cfi.ErrFDE) {
		if _, cieErr := e.section.CIEAt(e.offset); cieErr != nil && !errors.Is(cieErr, cfi.ErrCIE) {
			return cieErr
		}
	}
	return err
}
