// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"slices"
	"strings"

	"github.com/clewdev/clew/arch"
)

// longDouble is the format of C's long double, where flags of the compiler choose it.
type longDouble uint8

const (
	longDoubleUnknown longDouble = iota
	longDoubleIEEE
	longDoubleOther
)

// longDoubleOf returns the format that the flags of gcc in DW_AT_producer choose.
func longDoubleOf(producer string) longDouble {
	flags := strings.Fields(producer)
	switch {
	case slices.Contains(flags, "-mlong-double-128"), slices.Contains(flags, "-mabi=ieeelongdouble"):
		return longDoubleIEEE
	case slices.Contains(flags, "-mabi=ibmlongdouble"):
		return longDoubleOther
	}
	return longDoubleUnknown
}

// IEEELongDouble reports whether the long double of a unit has IEEE's format on a machine with
// another default: a flag of the compiler or an attribute of the object chooses it.
func (r *Reader) IEEELongDouble(u *Unit) bool {
	if u.longDouble == longDoubleUnknown && r.Machine.C.LongDouble == arch.DoubleDouble {
		if r.longDouble == longDoubleUnknown {
			r.longDouble = longDoubleOther
			if r.powerFloatABI()&attributeLongDouble == attributeLongDouble {
				r.longDouble = longDoubleIEEE
			}
		}
		return r.longDouble == longDoubleIEEE
	}
	return u.longDouble == longDoubleIEEE
}

// The section type of .gnu.attributes, and the bits of Tag_GNU_Power_ABI_FP that are all set
// where long double has IEEE's format (binutils: include/elf/ppc.h).
const (
	sectionGNUAttributes = 0x6ffffff5
	tagFile              = 1
	tagPowerFloat        = 4
	attributeLongDouble  = 0xc
)

// powerFloatABI returns the value of Tag_GNU_Power_ABI_FP, or 0. A section of attributes is
// "A" and, for each vendor, a length, a name, and for the whole file a tag, a length, and
// pairs of a tag and a number.
func (r *Reader) powerFloatABI() (value uint64) {
	for _, s := range r.object.Sections() {
		if s.Type != sectionGNUAttributes {
			continue
		}
		data, err := r.object.SectionData(s.Index)
		if err != nil {
			return 0
		}
		c := NewCursor(SectionName(s.Name), data, r.Machine.Order)
		c.seek(1)
		if length := c.Uint(4); length < 4 || string(c.Bytes(4)) != "gnu\x00" || c.Uint(1) != tagFile {
			return 0
		}
		c.Uint(4)
		for c.Err == nil && c.Off < uint64(len(data)) {
			tag, n := c.ULEB128(), uint64(0)
			if tag%2 != 0 {
				return 0 // a string; powerpc has only numbers
			}
			if n = c.ULEB128(); tag == tagPowerFloat && c.Err == nil {
				return n
			}
		}
	}
	return 0
}
