// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"bytes"
	"fmt"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/internal/leb128"
)

// class says what the number u of a value means.
type class uint8

const (
	other    class = iota // none of the following; u is not set
	constant              // unsigned, or in two's complement
	address
	addressIndex  // an index in .debug_addr
	text          // an offset in the section where
	textIndex     // an index in .debug_str_offsets
	reference     // see Offset
	signature     // of a type unit
	sectionOffset // in the section that the attribute implies
	rangesIndex   // an index in the offsets of .debug_rnglists
	flag          // not 0 if set
	listOffset    // in the section of location lists; only in a Field
)

// value is a decoded attribute.
type value struct {
	class class
	where stringSection
	u     uint64
}

// isSet reports whether a value is a flag that is set.
func (v value) isSet() bool { return v.class == flag && v.u != 0 }

// stringSection is a section that holds strings.
type stringSection uint8

const (
	inInfo stringSection = iota
	inStr
	inLineStr
	inLine
	inSupplementary // .debug_str of the supplementary file
)

// read decodes an attribute of unit u at c.
func (u *unit) read(c *cursor, at attribute) value {
	form := at.form
	if form == dw.FormIndirect {
		// The form comes before the value. It is not itself indirect or implicit (DWARF 5
		// §7.5.3).
		form = uint32(c.ULEB128())
	}
	switch form {
	case dw.FormAddr:
		return value{class: address, u: c.sized(u.addressSize)}
	case dw.FormData1:
		return value{class: constant, u: uint64(c.Uint8())}
	case dw.FormData2:
		return value{class: constant, u: uint64(c.Uint16())}
	case dw.FormData4:
		return u.offsetOrConstant(at, uint64(c.Uint32()))
	case dw.FormData8:
		return u.offsetOrConstant(at, c.Uint64())
	case dw.FormUdata:
		return value{class: constant, u: c.ULEB128()}
	case dw.FormSdata:
		return value{class: constant, u: uint64(c.SLEB128())}
	case dw.FormImplicitConst:
		return value{class: constant, u: uint64(at.implicit)}
	case dw.FormFlag:
		return value{class: flag, u: uint64(c.Uint8())}
	case dw.FormFlagPresent:
		return value{class: flag, u: 1}
	case dw.FormString:
		start := c.Off
		c.skipString()
		return value{class: text, where: inInfo, u: start}
	case dw.FormStrp:
		return value{class: text, where: inStr, u: c.offset(u.is64)}
	case dw.FormLineStrp:
		return value{class: text, where: inLineStr, u: c.offset(u.is64)}
	case dw.FormStrx, dw.FormGNUStrIndex:
		return value{class: textIndex, u: c.ULEB128()}
	case dw.FormStrx1:
		return value{class: textIndex, u: uint64(c.Uint8())}
	case dw.FormStrx2:
		return value{class: textIndex, u: uint64(c.Uint16())}
	case dw.FormStrx3:
		return value{class: textIndex, u: uint64(c.u24())}
	case dw.FormStrx4:
		return value{class: textIndex, u: uint64(c.Uint32())}
	case dw.FormAddrx, dw.FormGNUAddrIndex:
		return value{class: addressIndex, u: c.ULEB128()}
	case dw.FormAddrx1:
		return value{class: addressIndex, u: uint64(c.Uint8())}
	case dw.FormAddrx2:
		return value{class: addressIndex, u: uint64(c.Uint16())}
	case dw.FormAddrx3:
		return value{class: addressIndex, u: uint64(c.u24())}
	case dw.FormAddrx4:
		return value{class: addressIndex, u: uint64(c.Uint32())}
	case dw.FormRef1:
		return u.reference(uint64(c.Uint8()))
	case dw.FormRef2:
		return u.reference(uint64(c.Uint16()))
	case dw.FormRef4:
		return u.reference(uint64(c.Uint32()))
	case dw.FormRef8:
		return u.reference(c.Uint64())
	case dw.FormRefUdata:
		return u.reference(c.ULEB128())
	case dw.FormRefAddr:
		if u.version == 2 { // DWARF 2 §7.5.4: the size of an address
			return u.sourceReference(u.source.number, u.part.info+c.sized(u.addressSize))
		}
		return u.sourceReference(u.source.number, u.part.info+c.offset(u.is64))
	case dw.FormSecOffset:
		return value{class: sectionOffset, u: c.offset(u.is64)}
	case dw.FormRnglistx:
		return value{class: rangesIndex, u: c.ULEB128()}
	}
	return u.readOther(c, at.name, form)
}

// readOther is read for references to other units and files, and for forms that are
// skipped.
func (u *unit) readOther(c *cursor, name, form uint32) value {
	switch form {
	case dw.FormLoclistx:
		c.ULEB128()
	case dw.FormBlock1:
		c.Bytes(uint64(c.Uint8()))
	case dw.FormBlock2:
		c.Bytes(uint64(c.Uint16()))
	case dw.FormBlock4:
		c.Bytes(uint64(c.Uint32()))
	case dw.FormBlock, dw.FormExprloc:
		c.Bytes(c.ULEB128())
	case dw.FormData16:
		c.Bytes(16)
	case dw.FormRefSig8:
		return value{class: signature, u: c.Uint64()}
	case dw.FormRefSup4:
		return u.sourceReference(supplementaryNumber, uint64(c.Uint32()))
	case dw.FormRefSup8:
		return u.sourceReference(supplementaryNumber, c.Uint64())
	case dw.FormGNURefAlt:
		return u.sourceReference(supplementaryNumber, c.offset(u.is64))
	case dw.FormStrpSup, dw.FormGNUStrpAlt:
		return value{class: text, where: inSupplementary, u: c.offset(u.is64)}
	default:
		c.fail("attribute %#x has the unknown form %#x", name, form)
	}
	return value{}
}

// pass skips the attributes of an entry, which t declares as a.
func (u *unit) pass(c *cursor, t *abbreviations, a *abbreviation) {
	if !a.size.varies {
		n := int(a.size.bytes) + int(a.size.offsets)*int(u.offsetSize()) + int(a.size.addresses)*u.addressSize
		if n <= c.remain() {
			c.Off += uint64(n)
			return
		}
	}
	for _, at := range t.of(a) {
		if u.read(c, at); c.Err != nil {
			return
		}
	}
}

// offsetOrConstant returns the value of a DW_FORM_data4 or data8. Before DWARF 4 they
// also held offsets in sections.
func (u *unit) offsetOrConstant(at attribute, v uint64) value {
	if u.version < 4 && (at.name == dw.AttrStmtList || at.name == dw.AttrRanges) {
		return value{class: sectionOffset, u: v}
	}
	return value{class: constant, u: v}
}

// reference returns a reference to an offset from the start of the unit.
func (u *unit) reference(n uint64) value {
	return u.sourceReference(u.source.number, u.start+n)
}

// sourceReference returns the reference to an offset of a source.
func (u *unit) sourceReference(number int, offset uint64) value {
	if offset >= 1<<sourceBits {
		return value{}
	}
	return value{class: reference, u: uint64(number)<<sourceBits | offset}
}

// offset adds the number of the unit's source to the offset of an entry; local removes it.
func (u *unit) offset(off uint64) uint64 { return u.source.base() + off }

func (u *unit) local(offset uint64) uint64 { return offset & (1<<sourceBits - 1) }

// holds reports whether an offset is in the unit, at from or after it.
func (u *unit) holds(offset, from uint64) bool {
	return offset >= u.offset(from) && offset < u.offset(u.end)
}

// cursor reads a section.
type cursor struct{ leb128.Cursor }

// section returns the section that the cursor reads.
func (c *cursor) section() sectionName { return c.Source.(sectionName) }

// sectionName is the name of a section. It is a number because millions of cursors are
// made, and each would allocate a string.
type sectionName uint8

const (
	debugAbbrev sectionName = iota
	debugAddr
	debugAranges
	debugCUIndex
	debugInfo
	debugLine
	debugLineStr
	debugRanges
	debugRngLists
	debugStr
	debugStrOffsets
	debugTUIndex
	debugTypes

	inSplit sectionName = 1 << 7 // in a file with split units: the name ends in ".dwo"
)

var sectionNames = [...]string{".debug_abbrev", ".debug_addr", ".debug_aranges", ".debug_cu_index", ".debug_info", ".debug_line",
	".debug_line_str", ".debug_ranges", ".debug_rnglists", ".debug_str", ".debug_str_offsets", ".debug_tu_index", ".debug_types"}

func (n sectionName) String() string {
	name := sectionNames[n&^inSplit]
	if n&inSplit != 0 {
		name += ".dwo"
	}
	return name
}

// Fault implements leb128.Source.
func (n sectionName) Fault(offset uint64, err error) error {
	return fmt.Errorf("%v at %#x: %w", n, offset, err)
}

func newCursor(section sectionName, data []byte, big bool) cursor {
	return cursor{leb128.Cursor{Data: data, End: uint64(len(data)), Big: big, Source: section}}
}

func (c *cursor) fail(format string, args ...any) { c.Fail(fmt.Errorf(format, args...)) }

func (c *cursor) remain() int { return int(c.End - c.Off) }

func (c *cursor) u24() uint32 {
	b := c.Bytes(3)
	if b == nil {
		return 0
	}
	if c.Big {
		return uint32(b[2]) | uint32(b[1])<<8 | uint32(b[0])<<16
	}
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
}

// sized reads an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) sized(n int) uint64 {
	switch n {
	case 1:
		return uint64(c.Uint8())
	case 2:
		return uint64(c.Uint16())
	case 4:
		return uint64(c.Uint32())
	case 8:
		return c.Uint64()
	}
	c.fail("numbers of %d bytes", n)
	return 0
}

// offset reads a section offset of the 32-bit or the 64-bit format.
func (c *cursor) offset(is64 bool) uint64 {
	if is64 {
		return c.Uint64()
	}
	return uint64(c.Uint32())
}

// length reads an initial length (DWARF 5 §7.4).
func (c *cursor) length() (n uint64, is64 bool) {
	switch v := c.Uint32(); {
	case v == 0xffffffff:
		return c.Uint64(), true
	case v >= 0xfffffff0:
		c.fail("reserved length %#x", v)
		return 0, false
	default:
		return uint64(v), false
	}
}

// skipString skips a NUL-terminated string.
func (c *cursor) skipString() {
	i := bytes.IndexByte(c.Data[c.Off:c.End], 0)
	if i < 0 {
		c.fail("string without end")
		return
	}
	c.Off += uint64(i) + 1
}
