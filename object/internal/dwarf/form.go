// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

// Attribute forms, DWARF 5 Table 7.6, with the GNU extensions before it.
const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
)

// class is what a value means, as far as it matters here.
type class uint8

const (
	other         class = iota // not kept
	constant                   // u, or the two's complement in u
	address                    // u
	addressIndex               // u in .debug_addr
	text                       // u in the section where
	textIndex                  // u in .debug_str_offsets
	reference                  // u in the source that its upper bits tell
	signature                  // u of a type unit
	sectionOffset              // u in the section that the attribute implies
	rangesIndex                // u in the offsets of .debug_rnglists
	flag                       // u: 0 or not
	listOffset                 // u in the section of location lists; of a Field only
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
	if form == formIndirect {
		// DWARF 5 §7.5.3: the form stands before the value; it is not itself
		// indirect or implicit.
		form = uint32(c.uleb())
	}
	switch form {
	case formAddr:
		return value{class: address, u: c.sized(u.addressSize)}
	case formData1:
		return value{class: constant, u: uint64(c.u8())}
	case formData2:
		return value{class: constant, u: uint64(c.u16())}
	case formData4:
		return u.offsetOrConstant(at, uint64(c.u32()))
	case formData8:
		return u.offsetOrConstant(at, c.u64())
	case formUdata:
		return value{class: constant, u: c.uleb()}
	case formSdata:
		return value{class: constant, u: uint64(c.sleb())}
	case formImplicitConst:
		return value{class: constant, u: uint64(at.implicit)}
	case formFlag:
		return value{class: flag, u: uint64(c.u8())}
	case formFlagPresent:
		return value{class: flag, u: 1}
	case formString:
		start := c.off
		c.skipString()
		return value{class: text, where: inInfo, u: uint64(start)}
	case formStrp:
		return value{class: text, where: inStr, u: c.offset(u.is64)}
	case formLineStrp:
		return value{class: text, where: inLineStr, u: c.offset(u.is64)}
	case formStrx, formGNUStrIndex:
		return value{class: textIndex, u: c.uleb()}
	case formStrx1:
		return value{class: textIndex, u: uint64(c.u8())}
	case formStrx2:
		return value{class: textIndex, u: uint64(c.u16())}
	case formStrx3:
		return value{class: textIndex, u: uint64(c.u24())}
	case formStrx4:
		return value{class: textIndex, u: uint64(c.u32())}
	case formAddrx, formGNUAddrIndex:
		return value{class: addressIndex, u: c.uleb()}
	case formAddrx1:
		return value{class: addressIndex, u: uint64(c.u8())}
	case formAddrx2:
		return value{class: addressIndex, u: uint64(c.u16())}
	case formAddrx3:
		return value{class: addressIndex, u: uint64(c.u24())}
	case formAddrx4:
		return value{class: addressIndex, u: uint64(c.u32())}
	case formRef1:
		return u.reference(uint64(c.u8()))
	case formRef2:
		return u.reference(uint64(c.u16()))
	case formRef4:
		return u.reference(uint64(c.u32()))
	case formRef8:
		return u.reference(c.u64())
	case formRefUdata:
		return u.reference(c.uleb())
	case formRefAddr:
		if u.version == 2 { // DWARF 2 §7.5.4: the size of an address
			return u.sourceReference(u.source.number, u.part.info+c.sized(u.addressSize))
		}
		return u.sourceReference(u.source.number, u.part.info+c.offset(u.is64))
	case formSecOffset:
		return value{class: sectionOffset, u: c.offset(u.is64)}
	case formRnglistx:
		return value{class: rangesIndex, u: c.uleb()}
	case formLoclistx:
		c.uleb()
	case formBlock1:
		c.take(uint64(c.u8()))
	case formBlock2:
		c.take(uint64(c.u16()))
	case formBlock4:
		c.take(uint64(c.u32()))
	case formBlock, formExprloc:
		c.take(c.uleb())
	case formData16:
		c.take(16)
	case formRefSig8:
		return value{class: signature, u: c.u64()}
	case formRefSup4:
		return u.sourceReference(supplementaryNumber, uint64(c.u32()))
	case formRefSup8:
		return u.sourceReference(supplementaryNumber, c.u64())
	case formGNURefAlt:
		return u.sourceReference(supplementaryNumber, c.offset(u.is64))
	case formStrpSup, formGNUStrpAlt:
		return value{class: text, where: inSupplementary, u: c.offset(u.is64)}
	default:
		c.fail("attribute %#x has the unknown form %#x", at.name, form)
	}
	return value{}
}

// pass reads past the attributes of an entry, which t declares as a.
func (u *unit) pass(c *cursor, t *abbreviations, a *abbreviation) {
	if !a.size.varies {
		offset := 4
		if u.is64 {
			offset = 8
		}
		n := int(a.size.bytes) + int(a.size.offsets)*offset + int(a.size.addresses)*u.addressSize
		if n <= c.remain() {
			c.off += n
			return
		}
	}
	for _, at := range t.of(a) {
		if u.read(c, at); c.err != nil {
			return
		}
	}
}

// offsetOrConstant tells the two meanings of DW_FORM_data4 and data8 apart:
// before DWARF 4 they also held offsets of sections.
func (u *unit) offsetOrConstant(at attribute, v uint64) value {
	if u.version < 4 && (at.name == attrStmtList || at.name == attrRanges) {
		return value{class: sectionOffset, u: v}
	}
	return value{class: constant, u: v}
}

// reference returns a reference that counts from the start of the unit.
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

// offset returns the offset that tells an entry of the unit from those of other
// sources; local is its inverse.
func (u *unit) offset(off int) uint64 { return u.source.base() + uint64(off) }

func (u *unit) local(offset uint64) int { return int(offset & (1<<sourceBits - 1)) }

// holds reports whether an offset lies in the unit, not before a place in it.
func (u *unit) holds(offset uint64, from int) bool {
	return offset >= u.offset(from) && offset < u.offset(int(u.end))
}
