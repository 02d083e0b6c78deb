// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"
	"strings"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
)

// Unit is a unit of entries.
type Unit struct {
	Start, End object.DebugOffset // [Start, End), header included
	First      object.DebugOffset // of its root
	Version    int
	Width      int // bytes of an address
	Header     *object.DebugUnit

	// Set by Reader.Root.
	Entry        *object.DebugEntry // the root, nil before
	Language     Language
	GCC          bool   // the GNU compilers made it
	GoCompiler   bool   // the compiler of Go's own tools made it
	GoPlain      bool   // and did not optimize (-N)
	Bare         bool   // expressions that should leave an address leave the value: see value's evaluator.simple
	Base         uint64 // default base of its location lists
	AddrBase     uint64
	LoclistsBase uint64
	longDouble   longDouble // that the producer's flags choose

	Names    Names // set by Reader.Index
	SplitErr error // why the unit with the entries of a skeleton was not found

	Lists      []byte      // the section with its location lists, nil before it is read
	split      *Unit       // the unit with the entries of a skeleton; the unit itself otherwise; nil before
	enclosures *enclosures // nil before
	is64       bool
	indexed    bool
	Nested     bool // functions within functions were added to Names
}

// addUnits adds units, and keeps the list in the order of their offsets.
func (r *Reader) addUnits(headers []*object.DebugUnit) (added []*Unit) {
	for _, h := range headers {
		if w := h.Width; w != 2 && w != 4 && w != 8 {
			continue
		}
		added = append(added, &Unit{
			Start: h.Start, End: h.End, First: h.First, Version: h.Version, is64: h.Is64, Width: h.Width, Header: h,
		})
	}
	// A caller that iterates over the units keeps the list that it began with.
	r.Units = append(slices.Clone(r.Units), added...)
	slices.SortFunc(r.Units, func(a, b *Unit) int { return cmp.Compare(uint64(a.Start), uint64(b.Start)) })
	return added
}

// LinkedUnits returns the units of the file itself.
func (r *Reader) LinkedUnits() []*Unit {
	if r.linked == nil && r.reader != nil {
		r.linked = r.allUnits(r.reader.Units())
	}
	return r.linked
}

// allUnits returns the units with these headers.
func (r *Reader) allUnits(headers []*object.DebugUnit) []*Unit {
	r.addUnits(slices.DeleteFunc(slices.Clone(headers), func(h *object.DebugUnit) bool { return r.knownUnit(h.First) != nil }))
	list := make([]*Unit, 0, len(headers))
	for _, h := range headers {
		if u := r.knownUnit(h.First); u != nil {
			list = append(list, u)
		}
	}
	return list
}

// IsShared reports whether the unit has only entries that other units refer to: it is a type
// unit, or dwz made it.
func (u *Unit) IsShared() bool {
	return u.Header != nil && u.Header.Type || u.Entry != nil && u.Entry.Tag == dwarf.TagPartialUnit
}

// Code returns the unit with the entries of u: the split unit of a skeleton. It returns u
// where the split unit cannot be read, and sets u.SplitErr.
func (r *Reader) Code(u *Unit) *Unit {
	if u.split == nil {
		u.split = u
		if u.Header != nil {
			h, err := r.reader.Code(u.Header)
			u.SplitErr = err
			if h != u.Header {
				if found := r.UnitOf(h.First); found != nil {
					u.split = found
				}
			}
		}
	}
	return u.split
}

// FileName returns the path of a file in the line table of a unit, "" if it is unknown.
func (r *Reader) FileName(u *Unit, file int) string { return r.reader.FileName(u.Header, file) }

// sharedUnits returns the units that dwz moved to another file.
func (r *Reader) sharedUnits() []*Unit {
	if !r.sought && r.reader != nil {
		r.sought = true
		if headers, err := r.reader.Supplementary(); err == nil {
			r.shared = r.allUnits(headers)
		}
	}
	return r.shared
}

// maxSingleUnits is how many units are added one by one. Each addition sorts them all.
const maxSingleUnits = 64

// UnitOf returns the unit that an entry is in, or nil.
func (r *Reader) UnitOf(off object.DebugOffset) *Unit {
	if u := r.knownUnit(off); u != nil || r.reader == nil {
		return u
	}
	if len(r.Units) >= maxSingleUnits && r.linked == nil {
		r.LinkedUnits()
		return r.UnitOf(off)
	}
	h := r.reader.UnitAt(off)
	if h == nil {
		return nil
	}
	if added := r.addUnits([]*object.DebugUnit{h}); len(added) > 0 {
		return added[0]
	}
	return nil
}

// knownUnit is UnitOf for units that were added before.
func (r *Reader) knownUnit(off object.DebugOffset) *Unit {
	k := sort.Search(len(r.Units), func(k int) bool { return r.Units[k].End > off })
	if k < len(r.Units) && r.Units[k].First <= off {
		return r.Units[k]
	}
	return nil
}

// Root reads the root of a unit, and sets the fields of the unit that the root determines.
func (r *Reader) Root(u *Unit) (*object.DebugEntry, error) {
	if u.Entry != nil {
		return u.Entry, nil
	}
	e, err := r.Read(u.First)
	if err != nil {
		return nil, err
	}
	e.Limit(64)
	if language, ok := e.Number(dwarf.AttrLanguage); ok {
		u.Language = languageOf(language)
		r.Using = u.Language
	} else if e.Tag == dwarf.TagPartialUnit {
		u.Language = r.Using // dwz leaves it to the units that it is a part of
	}
	if producer, ok := e.Text(dwarf.AttrProducer); ok {
		u.GCC = strings.HasPrefix(producer, "GNU ")
		u.GoCompiler = strings.HasPrefix(producer, "Go cmd/compile")
		u.GoPlain = u.GoCompiler && slices.Contains(strings.Fields(producer), "-N")
		u.Bare = u.Version < 4 && strings.Contains(producer, "clang")
		u.longDouble = longDoubleOf(producer)
	}
	u.Base, u.AddrBase, u.LoclistsBase = r.reader.Bases(u.Header)
	u.Entry = e
	return e, nil
}

// Description describes a unit.
type Description struct {
	Language  Language
	Producer  string // the compiler and its options, "" if unknown
	Directory string // in which it was compiled, "" if unknown
	Version   int    // of DWARF
	HasMacros bool
}

// DescriptionAt returns the description of the unit that covers an address, and false if there is none.
func (r *Reader) DescriptionAt(pc uint64) (d Description, ok bool, err error) {
	u := r.UnitAt(pc)
	if u == nil {
		return d, false, nil
	}
	root, err := r.Root(u)
	if err != nil {
		return d, false, err
	}
	d = Description{Language: u.Language, Version: u.Version, HasMacros: root.Has(dw.AttrMacros) || root.Has(dw.AttrGNUMacros)}
	d.Producer, _ = root.Text(dwarf.AttrProducer)
	d.Directory, _ = root.Text(dwarf.AttrCompDir)
	return d, true, nil
}

// ReferenceWidth returns the size in bytes of a reference into .debug_info in an expression of
// u, where it is not cfi's four, and else 0.
func (u *Unit) ReferenceWidth() int {
	switch {
	case u == nil:
	case u.is64:
		return 8
	case u.Version == 2 && u.Width != 4:
		return u.Width // as DW_FORM_ref_addr was
	}
	return 0
}
