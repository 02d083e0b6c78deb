// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/elf"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value/internal/number"
)

// floatKind is what is known of a base type.
type floatKind struct {
	machine  *arch.Machine
	name     string
	language Language
	size     uint64 // bytes
	bits     int64  // DW_AT_bit_size, 0 where it is not said
	ieee     bool   // long double is IEEE's, where the machine's is another
}

// format returns the format. Only numbers of 16 bytes have several on one machine: on
// x86 the x87's and IEEE's, on powerpc IBM's and IEEE's. DWARF has one encoding for all,
// DW_ATE_float, and no producer writes a DW_AT_bit_size: long double, which every
// language has under a name of its own, has the machine's format, and the types that
// have IEEE's everywhere are told by their names.
func (k *floatKind) format() number.Format {
	switch k.machine.ELF {
	case elf.EM_386, elf.EM_X86_64:
		if k.size == 10 || k.size == 12 || k.size == 16 && k.bits != 128 && !k.isQuad() {
			return number.X87
		}
	case elf.EM_68K:
		if k.size == 12 {
			return number.M68881
		}
	case elf.EM_PPC, elf.EM_PPC64:
		if k.size == 16 && !k.isQuad() {
			return number.DoubleDouble
		}
	}
	return number.IEEE
}

// isQuad reports whether a type of 16 bytes has IEEE's format where long double has
// another: _Float128, __float128, __ieee128 and f128 by their names; on x86 all reals of
// Fortran but those of kind 10, which are the long double; powerpc's _Float64x, which is
// wider than 8 bytes; and all types of Rust, which has no long double.
func (k *floatKind) isQuad() bool {
	has := func(text string) bool { return strings.Contains(k.name, text) }
	if k.machine.ELF == elf.EM_PPC || k.machine.ELF == elf.EM_PPC64 {
		return !has("ibm128") && (k.ieee || has("128") || has("_Float64x") || k.language == Rust)
	}
	if k.language == Fortran {
		return !has("10")
	}
	return has("128") || k.ieee && (has("long double") || has("_Float64x")) || k.language == Rust
}

// floatFormat returns the format of a base type, or of the two parts of a complex one.
func (t *Type) floatFormat(size uint64, bits int64) number.Format {
	k := floatKind{machine: t.machine, name: t.name, language: t.language, size: size, bits: bits}
	if t.info != nil && size == 16 {
		k.ieee = t.info.ieeeLongDouble(t.unit)
	}
	return k.format()
}

// longDouble is the format of C's long double, where it need not be the machine's.
type longDouble uint8

const (
	longDoubleUnknown longDouble = iota
	longDoubleIEEE
	longDoubleOther
)

// longDoubleOf reads the flags of gcc's that a unit's producer holds.
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

// ieeeLongDouble reports whether the long double of a unit is IEEE's where the machine
// has another format: the unit's producer was told so, or the object's attributes say so.
func (i *Info) ieeeLongDouble(u *unit) bool {
	if u.longDouble == longDoubleUnknown && (i.machine.ELF == elf.EM_PPC64 || i.machine.ELF == elf.EM_PPC) {
		if i.longDouble == longDoubleUnknown {
			i.longDouble = longDoubleOther
			if i.powerFloatABI()&attributeLongDouble == attributeLongDouble {
				i.longDouble = longDoubleIEEE
			}
		}
		return i.longDouble == longDoubleIEEE
	}
	return u.longDouble == longDoubleIEEE
}

// Of .gnu.attributes: its section type, and of the attribute Tag_GNU_Power_ABI_FP the bits
// that are all set where long double has IEEE's format (binutils: include/elf/ppc.h).
const (
	sectionGNUAttributes = 0x6ffffff5
	tagFile              = 1
	tagPowerFloat        = 4
	attributeLongDouble  = 0xc
)

// powerFloatABI returns the value of Tag_GNU_Power_ABI_FP, 0 where the object does not
// say it. A file's section of attributes is "A" and, for each vendor, a length, a name,
// and for the whole file a tag, a length, and pairs of a tag and a number.
func (i *Info) powerFloatABI() (value uint64) {
	for _, s := range i.object.Sections() {
		if s.Type != sectionGNUAttributes {
			continue
		}
		data, err := i.object.SectionData(s.Index)
		if err != nil {
			return 0
		}
		c := newCursor(faults(s.Name), data, i.machine.Order)
		c.seek(1)
		if length := c.Uint(4); length < 4 || string(c.Bytes(4)) != "gnu\x00" || c.Uint(1) != tagFile {
			return 0
		}
		c.Uint(4)
		for c.Err == nil && c.Off < uint64(len(data)) {
			tag, n := c.ULEB128(), uint64(0)
			if tag%2 != 0 {
				return 0 // a string, which none of powerpc is
			}
			if n = c.ULEB128(); tag == tagPowerFloat && c.Err == nil {
				return n
			}
		}
	}
	return 0
}

// decodeFloat reads a number in the type's format.
func (t *Type) decodeFloat(b []byte) number.Float { return number.DecodeFloat(t.machine, t.format, b) }

// FloatText returns the floating-point number of a type, or a part of a Complex, whose bytes
// are b, as gdb and Delve write it.
func (t *Type) FloatText(b []byte) string {
	if t.language == Go && len(b) == 8 {
		return strconv.FormatFloat(math.Float64frombits(t.machine.Order.Uint64(b)), 'f', -1, 64)
	}
	if t.language == Go && len(b) == 4 {
		return strconv.FormatFloat(float64(math.Float32frombits(t.machine.Order.Uint32(b))), 'f', -1, 32)
	}
	return t.decodeFloat(b).String()
}

// SaturatedFloat returns the floating-point number whose bytes are b without its fraction,
// or the nearest int64.
func (t *Type) SaturatedFloat(b []byte) int64 {
	f := t.decodeFloat(b)
	if !f.Finite() {
		if f.Negative && !f.NaN {
			return math.MinInt64
		}
		return math.MaxInt64
	}
	n, _ := f.Value.Int64() // the nearest there is
	return n
}
