// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"bytes"
	"fmt"
)

// Tags and attributes that are looked at, DWARF 5 Tables 7.3 and 7.5.
const (
	tagFormalParameter   = 0x05
	tagArrayType         = 0x01
	tagEnumerationType   = 0x04
	tagSubroutineType    = 0x15
	tagInlinedSubroutine = 0x1d
	tagLexicalBlock      = 0x0b
	tagSubprogram        = 0x2e
	tagVariable          = 0x34
	tagCallSite          = 0x48
	tagGNUCallSite       = 0x4109

	attrSibling         = 0x01
	attrLocation        = 0x02
	attrName            = 0x03
	attrStmtList        = 0x10
	attrLowPC           = 0x11
	attrHighPC          = 0x12
	attrCompDir         = 0x1b
	attrProducer        = 0x25
	attrAbstractOrigin  = 0x31
	attrDeclaration     = 0x3c
	attrExternal        = 0x3f
	attrSpecification   = 0x47
	attrRanges          = 0x55
	attrCallColumn      = 0x57
	attrCallFile        = 0x58
	attrCallLine        = 0x59
	attrLinkageName     = 0x6e
	attrStrOffsetsBase  = 0x72
	attrAddrBase        = 0x73
	attrRnglistsBase    = 0x74
	attrCallAllCalls    = 0x7a
	attrCallAllTail     = 0x7c
	attrCallReturnPC    = 0x7d
	attrCallOrigin      = 0x7f
	attrCallPC          = 0x81
	attrCallTail        = 0x82
	attrMIPSLinkageName = 0x2007
	attrGNUTailCall     = 0x2115
	attrGNUAllTailCalls = 0x2116
	attrGNUAllCalls     = 0x2117
	attrGNUAddrBase     = 0x2133
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
}

// root is what the first entry of a unit says for all of it.
type root struct {
	name, dir      value
	producer       value
	language       uint64
	low            uint64 // what range lists are relative to
	line           value
	strOffsetsBase uint64
	addrBase       uint64
	rnglistsBase   uint64
	pc             span
}

// span is the extent of an entry as its attributes give it, unresolved.
type span struct {
	low, high, ranges value
}

// readUnits reads the headers of all units. A unit that cannot be read ends
// the list only where its length cannot be trusted.
func (d *Data) readUnits() {
	c := d.cursor(".debug_info", d.s.Info)
	for c.remain() > 0 && c.err == nil {
		u := unit{start: uint64(c.off)}
		n, is64 := c.length()
		if c.err == nil && n > uint64(c.remain()) {
			d.note(fmt.Errorf(".debug_info at %#x: unit of %#x bytes, %#x left", u.start, n, c.remain()))
			n = uint64(c.remain())
		}
		if c.err != nil {
			break
		}
		u.is64, u.end = is64, uint64(c.off)+n
		if n == 0 {
			continue
		}
		if err := d.readHeader(&u, c.off); err != nil {
			d.note(err)
		} else if !u.typeUnit {
			d.units = append(d.units, u)
		}
		c.off = int(u.end)
	}
	if c.err != nil {
		d.note(c.err)
	}
}

func (d *Data) readHeader(u *unit, off int) error {
	c := d.cursor(".debug_info", d.s.Info[:u.end])
	c.off = off
	u.version = c.u16()
	if c.err == nil && (u.version < 2 || u.version > 5) {
		return fmt.Errorf(".debug_info at %#x: DWARF version %d", u.start, u.version)
	}
	if u.version >= 5 {
		kind := c.u8()
		u.addressSize = int(c.u8())
		u.abbrev = c.offset(u.is64)
		switch kind {
		case 1, 3: // DW_UT_compile, DW_UT_partial
		case 4, 5: // DW_UT_skeleton, DW_UT_split_compile: the ID of the pair
			c.u64()
		default: // of types, or unknown
			u.typeUnit = true
		}
	} else {
		u.abbrev = c.offset(u.is64)
		u.addressSize = int(c.u8())
	}
	switch u.addressSize {
	case 1, 2, 4, 8:
	default:
		c.fail("addresses of %d bytes", u.addressSize)
	}
	u.first = uint64(c.off)
	return c.err
}

// unitAt returns the unit that holds an offset of .debug_info.
func (d *Data) unitAt(offset uint64) *unit {
	lo, hi := 0, len(d.units)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if d.units[mid].start <= offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 || offset < d.units[lo-1].first || offset >= d.units[lo-1].end {
		return nil
	}
	return &d.units[lo-1]
}

// readRoot reads the first entry of u.
func (d *Data) readRoot(u *unit) (r root, err error) {
	c := d.entryCursor(u, u.first)
	code := c.uleb()
	if c.err != nil || code == 0 {
		return r, c.err
	}
	table, err := d.rootAbbreviations(u.abbrev, code)
	if err != nil {
		return r, err
	}
	a, ok := table.find(code)
	if !ok {
		return r, fmt.Errorf(".debug_info at %#x: abbreviation %d is not declared", u.first, code)
	}
	if d.steps -= len(table.of(a)); d.steps < 0 {
		return r, errTooMuch
	}
	var low value
	for _, at := range table.of(a) {
		v := u.read(&c, at)
		switch at.name {
		case attrName:
			r.name = v
		case attrCompDir:
			r.dir = v
		case attrProducer:
			r.producer = v
		case attrLanguage:
			r.language = v.u
		case attrStmtList:
			r.line = v
		case attrLowPC:
			low = v
			r.pc.low = v
		case attrHighPC:
			r.pc.high = v
		case attrRanges:
			r.pc.ranges = v
		case attrStrOffsetsBase:
			r.strOffsetsBase = v.u
		case attrAddrBase, attrGNUAddrBase:
			r.addrBase = v.u
		case attrRnglistsBase:
			r.rnglistsBase = v.u
		}
		if c.err != nil {
			return r, c.err
		}
	}
	r.low, _ = d.address(u, &r, low)
	return r, nil
}

// entryCursor returns a cursor at an offset that ends with the unit.
func (d *Data) entryCursor(u *unit, offset uint64) cursor {
	c := d.cursor(".debug_info", d.s.Info[:u.end])
	c.off = int(offset)
	return c
}

// address resolves a value of an address.
func (d *Data) address(u *unit, r *root, v value) (addr uint64, ok bool) {
	switch v.class {
	case address:
		return v.u, true
	case addressIndex:
		size := uint64(u.addressSize)
		if v.u > uint64(len(d.s.Addr)) {
			return 0, false
		}
		c := d.cursor(".debug_addr", d.s.Addr)
		off := r.addrBase + v.u*size
		if off > uint64(len(d.s.Addr)) {
			return 0, false
		}
		c.off = int(off)
		addr = c.sized(u.addressSize)
		return addr, c.err == nil
	}
	return 0, false
}

// text resolves a value of a string, as a view of its section. It is cut off at
// maxText: no name or path is longer, and views are copied.
func (d *Data) text(u *unit, r *root, v value) []byte {
	if v.class == textIndex {
		size := uint64(4)
		if u.is64 {
			size = 8
		}
		off := r.strOffsetsBase + v.u*size
		if v.u > uint64(len(d.s.StrOffsets)) || off > uint64(len(d.s.StrOffsets)) {
			return nil
		}
		c := d.cursor(".debug_str_offsets", d.s.StrOffsets)
		c.off = int(off)
		v = value{class: text, where: inStr, u: c.offset(u.is64)}
		if c.err != nil {
			return nil
		}
	}
	if v.class != text {
		return nil
	}
	var b []byte
	switch v.where {
	case inInfo:
		b = d.s.Info
	case inStr:
		b = d.s.Str
	case inLineStr:
		b = d.s.LineStr
	case inLine:
		b = d.s.Line
	}
	if v.u >= uint64(len(b)) {
		return nil
	}
	b = b[v.u:]
	b = b[:min(len(b), maxText)]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return b
}

const maxText = 64 << 10
