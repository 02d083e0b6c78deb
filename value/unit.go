// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/spelling"
)

const relocatable = elf.ET_REL

// unit is a unit of entries.
type unit struct {
	start, end object.DebugOffset // [start, end), header included
	first      object.DebugOffset
	version    int
	is64       bool
	width      int // bytes of an address
	header     *object.DebugUnit

	entry        *object.DebugEntry // the root, nil before it is read
	language     Language
	gcc          bool       // the GNU compilers made it
	goCompiler   bool       // that of Go's own tools did
	goPlain      bool       // and did not optimize (-N)
	bare         bool       // its expressions end with a value where an address is expected: see evaluator.simple
	longDouble   longDouble // that its producer was asked for
	base         uint64     // default base of its location lists
	addrBase     uint64
	loclistsBase uint64

	lists    []byte // the section with its location lists, nil before it is read
	split    *unit  // the unit with the entries of a skeleton; itself where it is none
	splitErr error  // why that was not found

	enclosures      *enclosures // nil before they are asked for
	names           names
	indexed, nested bool
}

// addUnits makes units known. Their order is that of their offsets.
func (i *Info) addUnits(headers []*object.DebugUnit) (added []*unit) {
	for _, h := range headers {
		if w := h.Width; w != 2 && w != 4 && w != 8 {
			continue
		}
		added = append(added, &unit{
			start: h.Start, end: h.End, first: h.First, version: h.Version, is64: h.Is64, width: h.Width, header: h,
		})
	}
	// Those who go through the units keep the list that they began with.
	i.units = append(slices.Clone(i.units), added...)
	slices.SortFunc(i.units, func(a, b *unit) int { return compare(uint64(a.start), uint64(b.start)) })
	return added
}

// linkedUnits returns the units of the file itself.
func (i *Info) linkedUnits() []*unit {
	if i.linked == nil && i.reader != nil {
		i.linked = i.allUnits(i.reader.Units())
	}
	return i.linked
}

// allUnits returns the units with these headers.
func (i *Info) allUnits(headers []*object.DebugUnit) []*unit {
	i.addUnits(slices.DeleteFunc(slices.Clone(headers), func(h *object.DebugUnit) bool { return i.knownUnit(h.First) != nil }))
	list := make([]*unit, 0, len(headers))
	for _, h := range headers {
		if u := i.knownUnit(h.First); u != nil {
			list = append(list, u)
		}
	}
	return list
}

// isShared reports whether the unit has nothing but what others refer to: it is of
// a type, or dwz made it.
func (u *unit) isShared() bool {
	return u.header != nil && u.header.Type || u.entry != nil && u.entry.Tag == dwarf.TagPartialUnit
}

// code returns the unit with the entries of u: the split one of a skeleton. It is
// u where that cannot be had, which u.splitErr tells of.
func (i *Info) code(u *unit) *unit {
	if u.split == nil {
		u.split = u
		if u.header != nil {
			h, err := i.reader.Code(u.header)
			u.splitErr = err
			if h != u.header {
				if found := i.unitOf(h.First); found != nil {
					u.split = found
				}
			}
		}
	}
	return u.split
}

// sharedUnits returns the units that dwz moved to another file.
func (i *Info) sharedUnits() []*unit {
	if !i.sought && i.reader != nil {
		i.sought = true
		if headers, err := i.reader.Supplementary(); err == nil {
			i.shared = i.allUnits(headers)
		}
	}
	return i.shared
}

// maxSingleUnits is how many units are made known one by one: each time all are sorted.
const maxSingleUnits = 64

// unitOf returns the unit that an entry stands in, or nil.
func (i *Info) unitOf(off object.DebugOffset) *unit {
	if u := i.knownUnit(off); u != nil || i.reader == nil {
		return u
	}
	if len(i.units) >= maxSingleUnits && i.linked == nil {
		i.linkedUnits()
		return i.unitOf(off)
	}
	h := i.reader.UnitAt(off)
	if h == nil {
		return nil
	}
	if added := i.addUnits([]*object.DebugUnit{h}); len(added) > 0 {
		return added[0]
	}
	return nil
}

// knownUnit is unitOf for units that were asked for before.
func (i *Info) knownUnit(off object.DebugOffset) *unit {
	k := sort.Search(len(i.units), func(k int) bool { return i.units[k].end > off })
	if k < len(i.units) && i.units[k].first <= off {
		return i.units[k]
	}
	return nil
}

// root reads the entry of a unit, and what it says of the unit.
func (i *Info) root(u *unit) (*object.DebugEntry, error) {
	if u.entry != nil {
		return u.entry, nil
	}
	e, err := i.read(u.first)
	if err != nil {
		return nil, err
	}
	e.Limit(64)
	if language, ok := e.Number(dwarf.AttrLanguage); ok {
		u.language = languageOf(language)
		i.using = u.language
	} else if e.Tag == dwarf.TagPartialUnit {
		u.language = i.using // dwz leaves it to the units that it is a part of
	}
	if producer, ok := e.Text(dwarf.AttrProducer); ok {
		u.gcc = strings.HasPrefix(producer, "GNU ")
		u.goCompiler = strings.HasPrefix(producer, "Go cmd/compile")
		u.goPlain = u.goCompiler && slices.Contains(strings.Fields(producer), "-N")
		u.bare = u.version < 4 && strings.Contains(producer, "clang")
		u.longDouble = longDoubleOf(producer)
	}
	u.base, u.addrBase, u.loclistsBase = i.reader.Bases(u.header)
	u.entry = e
	return e, nil
}

// read reads the entry at an offset of .debug_info, and leaves the reader after it.
func (i *Info) read(off object.DebugOffset) (*object.DebugEntry, error) {
	if i.unitOf(off) == nil && i.reader == nil {
		return nil, fmt.Errorf("%w: %v is in no unit", ErrDebugInfo, off)
	}
	if err := i.reader.Seek(off); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDebugInfo, err)
	}
	e := new(struct {
		object.DebugEntry
		room [8]object.DebugField // most have fewer
	})
	_, ok, err := i.nextIn(&e.DebugEntry, e.room[:0])
	if err == nil && (!ok || e.Tag == 0) {
		err = fmt.Errorf("%w: %v: no entry", ErrDebugInfo, off)
	}
	if err != nil {
		return nil, err
	}
	return &e.DebugEntry, nil
}

// nextIn reads the entry after that which was read last to e, and its attributes to
// room, which it returns; ok is false at the end of the section.
func (i *Info) nextIn(e *object.DebugEntry, room []object.DebugField) (_ []object.DebugField, ok bool, err error) {
	if room, ok, err = i.reader.NextIn(e, room); err != nil {
		return room, ok, fmt.Errorf("%w: %w", ErrDebugInfo, err)
	}
	return room, ok, i.spend(1 + e.Len())
}

// nextTo is nextIn with the room that e has already.
func (i *Info) nextTo(e *object.DebugEntry) (ok bool, err error) {
	if ok, err = i.reader.NextTo(e); err != nil {
		return ok, fmt.Errorf("%w: %w", ErrDebugInfo, err)
	}
	return ok, i.spend(1 + e.Len())
}

// skip skips the children of e, which was read last. The reader's own
// SkipChildren recurses as deep as entries nest.
func (i *Info) skip(e *object.DebugEntry, u *unit) error {
	if !e.Children {
		return nil
	}
	if sibling, ok := e.Reference(dwarf.AttrSibling); ok && sibling > e.Offset && sibling < u.end {
		return i.reader.Seek(sibling)
	}
	var passed object.DebugEntry
	for depth := 1; depth > 0; {
		e := &passed
		n, ok, err := i.reader.Pass(e)
		if err == nil {
			err = i.spend(1 + n)
		} else {
			err = fmt.Errorf("%w: %w", ErrDebugInfo, err)
		}
		switch {
		case err != nil:
			return err
		case !ok || e.Offset >= u.end && e.Tag != 0:
			return nil
		case e.Tag == 0:
			depth--
		case e.Children:
			depth++
		}
	}
	return nil
}

// maxOrigins bounds how many entries an instance or a definition leads through.
const maxOrigins = 16

// having returns e, or the first of what it is an instance or the definition of (DWARF 5
// §3.3.8.2, §2.13.2), that has an attribute; nil where none has.
func (i *Info) having(a dwarf.Attr, e *object.DebugEntry) (*object.DebugEntry, error) {
	for range maxOrigins {
		if e.Has(a) {
			return e, nil
		}
		off, ok := origin(e)
		if !ok {
			return nil, nil
		}
		var err error
		if e, err = i.read(off); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: %v: %w", ErrDebugInfo, e.Offset, errLoop)
}

func origin(e *object.DebugEntry) (object.DebugOffset, bool) {
	if off, ok := e.Reference(dwarf.AttrAbstractOrigin); ok {
		return off, true
	}
	off, ok := e.Reference(dwarf.AttrSpecification)
	return off, ok
}

// origins yields e and the entries that it refers to as its origin, in turn.
func (i *Info) origins(e *object.DebugEntry) iter.Seq[*object.DebugEntry] {
	return func(yield func(*object.DebugEntry) bool) {
		var met [maxOrigins]object.DebugOffset
		for n := 0; e != nil && yield(e); n++ {
			met[n] = e.Offset
			e = i.originOf(e, met[:n+1])
		}
	}
}

// originOf returns the entry that e refers to as its origin, unless that was met; nil
// where there is none, or one too many.
func (i *Info) originOf(e *object.DebugEntry, met []object.DebugOffset) *object.DebugEntry {
	off, ok := origin(e)
	if !ok || len(met) == maxOrigins || slices.Contains(met, off) {
		return nil
	}
	next, err := i.read(off)
	if err != nil {
		return nil
	}
	return next
}

// attribute is a location or a value that an entry says: bytes of its own, or
// the offset of a location list.
type attribute struct {
	bytes  []byte // of a block or an expression, a copy
	number int64  // of a constant
	list   uint64 // offset in .debug_loc or .debug_loclists
	text   string
	kind   attributeKind
}

type attributeKind uint8

const (
	attributeAbsent attributeKind = iota
	attributeBlock
	attributeConstant
	attributeList
	attributeText
	attributeEntry // list is the offset of an entry
	attributeDamaged
)

// valueOf returns what an entry of a unit has as DW_AT_location, DW_AT_const_value,
// DW_AT_frame_base and such.
func (i *Info) valueOf(e *object.DebugEntry, a dwarf.Attr, u *unit) attribute {
	if !e.Has(a) {
		return attribute{}
	}
	if b, ok := e.Block(a); ok {
		return attribute{kind: attributeBlock, bytes: bytes.Clone(b)}
	}
	if n, ok := e.ListIndex(a); ok {
		list, err := i.listOffset(u, n)
		if err != nil {
			return attribute{kind: attributeDamaged}
		}
		return attribute{kind: attributeList, list: list}
	}
	if offset, ok := e.List(a); ok {
		return attribute{kind: attributeList, list: offset}
	}
	if n, ok := e.Number(a); ok {
		// DWARF 2 and 3 have no form of its own for the offset of a list.
		if a == dwarf.AttrLocation || a == dwarf.AttrFrameBase {
			return attribute{kind: attributeList, list: uint64(n)}
		}
		return attribute{kind: attributeConstant, number: n}
	}
	if address, ok := e.Address(a); ok {
		return attribute{kind: attributeConstant, number: int64(address)}
	}
	if s, ok := e.Text(a); ok {
		return attribute{kind: attributeText, text: s}
	}
	return attribute{kind: attributeDamaged}
}

// Language is the source language of a unit, as far as it matters to how names are
// made, where arrays begin and how values are printed.
type Language uint8

const (
	OtherLanguage Language = iota // not known
	C
	CPlusPlus
	Go
	Rust
	D
	Fortran
	Ada
	Pascal
	Modula2
	ZeroBased // any other language whose arrays begin at 0: Java, Swift, OCaml
	OneBased  // any other language whose arrays begin at 1: COBOL, PL/I, Julia
)

// languages are those of the DW_LANG_ codes.
var languages = map[int64]Language{
	dw.LangC89: C, dw.LangC: C, dw.LangC99: C, dw.LangC11: C,
	dw.LangC17: C, dw.LangC23: C,
	dw.LangCPlusPlus: CPlusPlus, dw.LangCPlusPlus03: CPlusPlus, dw.LangCPlusPlus11: CPlusPlus, dw.LangCPlusPlus14: CPlusPlus,
	dw.LangCPlusPlus17: CPlusPlus, dw.LangCPlusPlus20: CPlusPlus, dw.LangCPlusPlus23: CPlusPlus,
	dw.LangGo:        Go,
	dw.LangRust:      Rust,
	dw.LangD:         D,
	dw.LangFortran77: Fortran, dw.LangFortran90: Fortran, dw.LangFortran95: Fortran, dw.LangFortran03: Fortran,
	dw.LangFortran08: Fortran, dw.LangFortran18: Fortran, dw.LangFortran23: Fortran,
	dw.LangAda83: Ada, dw.LangAda95: Ada, dw.LangAda2005: Ada, dw.LangAda2012: Ada,
	dw.LangPascal83: Pascal,
	dw.LangModula2:  Modula2,
	dw.LangJava:     ZeroBased, dw.LangObjC: ZeroBased, dw.LangObjCPlusPlus: ZeroBased, dw.LangUPC: ZeroBased,
	dw.LangPython: ZeroBased, dw.LangOpenCL: ZeroBased, dw.LangHaskell: ZeroBased, dw.LangOCaml: ZeroBased,
	dw.LangSwift: ZeroBased, dw.LangRenderScript: ZeroBased, dw.LangBLISS: ZeroBased, dw.LangKotlin: ZeroBased,
	dw.LangZig: ZeroBased, dw.LangCrystal: ZeroBased, dw.LangHIP: ZeroBased, dw.LangAssembly: ZeroBased,
	dw.LangCSharp: ZeroBased, dw.LangMojo: ZeroBased, dw.LangMipsAssembler: ZeroBased,
	dw.LangCobol74: OneBased, dw.LangCobol85: OneBased, dw.LangPLI: OneBased, dw.LangModula3: OneBased,
	dw.LangJulia: OneBased,
}

// languageOf returns the language of a DW_LANG_ code.
func languageOf(code int64) Language { return languages[code] }

// lowerBound returns where the arrays of a language begin that do not say it; false where
// the language is not known (DWARF 5 §5.13, table 7.17).
func (l Language) lowerBound() (int64, bool) {
	switch l {
	case OtherLanguage:
		return 0, false
	case Fortran, Ada, Pascal, Modula2, OneBased:
		return 1, true
	}
	return 0, true
}

// hasScopes reports whether names stand in namespaces and structures, as in
// "ns::f".
func (l Language) hasScopes() bool { return l == CPlusPlus || l == Rust }

// qualifies reports whether the name of an enclosing scope can be a part of a name:
// Fortran has modules, and of a language that is not known it is not known.
func (l Language) qualifies() bool { return l != C && l != Go && l != D }

// AdaName returns a name as the source has it that GNAT has encoded: "pkg__child__proc" is
// pkg.child.proc, "pkg__Oadd" is pkg."+", "_ada_main" is main, and "pkg__workerTB" is the
// body of the task pkg.worker. A name that GNAT has made for itself is returned between "<"
// and ">", as in gdb.
func AdaName(encoded string) string { return spelling.Ada(encoded) }
