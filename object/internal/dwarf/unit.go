// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"bytes"
	"fmt"

	"github.com/clewdev/clew/internal/dw"
)

// unit is the header of a unit (DWARF 5 §7.5.1).
type unit struct {
	start, end  uint64 // in .debug_info
	first       uint64 // its first entry
	abbrev      uint64
	version     uint16
	is64        bool
	typeUnit    bool
	addressSize int
	source      *source
	id          uint64 // of the pair of a skeleton and a split unit
	signature   uint64 // of a type unit
	typeOffset  uint64 // of a type unit: the offset of its type's entry from start

	tag      uint32 // of the first entry, after indexUnit
	language uint64 // if rooted is set
	rooted   bool

	cut error // says how much is missing; nil for a whole unit

	skeleton *openUnit    // of a split unit
	part     contribution // of a unit in a package
}

// root holds the attributes of the first entry of a unit.
type root struct {
	name, dir      value
	producer       value
	tag            uint32
	language       uint64
	low            uint64 // the base of range lists
	line           value
	strOffsetsBase uint64
	addrBase       uint64
	rnglistsBase   uint64
	pc             span

	// For split units.
	split           value // in a skeleton: the name of the file
	id              value
	loclistsBase    uint64
	rangesBase      uint64 // the base of DW_AT_ranges of DWARF 4
	splitRangesBase uint64 // in a skeleton: the rangesBase of the split unit
}

// span is the extent of an entry as its attributes give it, unresolved.
type span struct {
	low, high, ranges value
}

func (d *Data) readHeader(u *unit, off uint64) error {
	c := d.cursor(u.source.section(debugInfo), u.source.Info[:u.end])
	c.Off = off
	u.version = c.Uint16()
	if c.Err == nil && (u.version < 2 || u.version > 5) {
		return fmt.Errorf("%s at %#x: DWARF version %d", c.section(), u.start, u.version)
	}
	if u.version >= 5 {
		kind := c.Uint8()
		u.addressSize = int(c.Uint8())
		u.abbrev = u.part.abbrev + c.offset(u.is64)
		switch kind {
		case dw.UTCompile, dw.UTPartial:
		case dw.UTSkeleton, dw.UTSplitCompile: // the ID of the pair
			u.id = c.Uint64()
		case dw.UTType, dw.UTSplitType:
			u.readType(&c)
		default: // unknown
			u.typeUnit = true
		}
	} else {
		u.abbrev = u.part.abbrev + c.offset(u.is64)
		u.addressSize = int(c.Uint8())
		if u.source.types {
			u.readType(&c)
		}
	}
	switch u.addressSize {
	case 1, 2, 4, 8:
	default:
		c.fail("addresses of %d bytes", u.addressSize)
	}
	u.first = c.Off
	return c.Err
}

// readType reads the additional fields in the header of a type unit.
func (u *unit) readType(c *cursor) {
	u.typeUnit = true
	u.signature = c.Uint64()
	u.typeOffset = c.offset(u.is64)
}

// readRoot reads the first entry of u.
func (d *Data) readRoot(u *unit) (r root, err error) {
	c := d.entryCursor(u, u.first)
	code := c.ULEB128()
	if c.Err != nil || code == 0 {
		return r, c.Err
	}
	table, err := d.rootAbbreviations(u, code)
	if err != nil {
		return r, err
	}
	a, ok := table.find(code)
	if !ok {
		return r, fmt.Errorf("%s at %#x: abbreviation %d is not declared", c.section(), u.first, code)
	}
	if d.steps -= len(table.of(a)); d.steps < 0 {
		return r, errTooMuch
	}
	u.setDefaults(&r)
	r.tag = a.tag
	var low value
	for _, at := range table.of(a) {
		v := u.read(&c, at)
		switch at.name {
		case dw.AttrName:
			r.name = v
		case dw.AttrCompDir:
			r.dir = v
		case dw.AttrProducer:
			r.producer = v
		case dw.AttrLanguage:
			r.language = v.u
		case dw.AttrStmtList:
			r.line = v
		case dw.AttrLowPC:
			low = v
			r.pc.low = v
		case dw.AttrHighPC:
			r.pc.high = v
		case dw.AttrRanges:
			r.pc.ranges = v
		case dw.AttrStrOffsetsBase:
			r.strOffsetsBase = v.u
		case dw.AttrAddrBase, dw.AttrGNUAddrBase:
			r.addrBase = v.u
		case dw.AttrRnglistsBase:
			r.rnglistsBase = v.u
		case dw.AttrDwoName, dw.AttrGNUDwoName:
			r.split = v
		case dw.AttrGNUDwoID:
			r.id = v
		case dw.AttrGNURangesBase:
			r.splitRangesBase = v.u
		case dw.AttrLoclistsBase:
			r.loclistsBase = v.u
		}
		if c.Err != nil {
			return r, c.Err
		}
	}
	u.inherit(&r)
	if low.class != other {
		r.low, _ = d.address(u, &r, low)
	}
	return r, nil
}

// entryCursor returns a cursor from an offset to the end of the unit.
func (d *Data) entryCursor(u *unit, offset uint64) cursor {
	c := d.cursor(u.source.section(debugInfo), u.source.Info[:u.end])
	c.Off = uint64(int(offset & (1<<sourceBits - 1)))
	return c
}

// offsetSize returns the size in bytes of an offset in the unit's format (DWARF 5 §7.4).
func (u *unit) offsetSize() uint64 {
	if u.is64 {
		return 8
	}
	return 4
}

// address resolves a value of an address.
func (d *Data) address(u *unit, r *root, v value) (addr uint64, ok bool) {
	switch v.class {
	case address:
		return v.u, true
	case addressIndex:
		c := d.cursor(debugAddr, u.source.Addr)
		off := r.addrBase + v.u*uint64(u.addressSize)
		if size := uint64(len(c.Data)); v.u > size || off > size {
			return 0, false
		}
		c.Off = off
		addr = c.sized(u.addressSize)
		return addr, c.Err == nil
	}
	return 0, false
}

// text resolves a value of a string, as a view of its section. The string is cut at
// maxText, which is longer than any name or path, because callers copy it.
func (d *Data) text(u *unit, r *root, v value) []byte { return d.textUpTo(maxText, u, r, v) }

// textUpTo is text with another maximal size.
func (d *Data) textUpTo(size int, u *unit, r *root, v value) []byte {
	if v.class == textIndex {
		off := r.strOffsetsBase + v.u*u.offsetSize()
		c := d.cursor(u.source.section(debugStrOffsets), u.source.StrOffsets)
		if size := uint64(len(c.Data)); v.u > size || off > size || size-off < u.offsetSize() {
			d.cutAt(c.section(), c.Data, off)
			return nil
		}
		c.Off = off
		v = value{class: text, where: inStr, u: c.offset(u.is64)}
	}
	if v.class != text {
		return nil
	}
	src := u.source
	var section sectionName
	var whole []byte
	switch v.where {
	case inInfo:
		section, whole = debugInfo, u.source.Info
	case inStr:
		section, whole = debugStr, u.source.Str
	case inLineStr:
		section, whole = debugLineStr, u.source.LineStr
	case inLine:
		section, whole = debugLine, u.source.Line
	case inSupplementary:
		if src = d.supplementary(); src == nil {
			return nil // d.missing says why
		}
		section, whole = debugStr, src.Str
	}
	if v.u >= uint64(len(whole)) {
		d.cutAt(src.section(section), whole, v.u)
		return nil
	}
	b := whole[v.u:]
	b = b[:min(len(b), size)]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	if len(b) < size {
		d.cutAt(src.section(section), whole, v.u)
	}
	return b
}

// cutAt records a string, or the offset of one, that exceeds its section.
func (d *Data) cutAt(section sectionName, data []byte, at uint64) {
	if d.cut == nil {
		d.cut = fmt.Errorf("%s at %#x: a string ends beyond the section, which has %#x bytes", section, at, len(data))
	}
}

const maxText = 64 << 10
