// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"cmp"
	"debug/dwarf"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/number"
	"github.com/clewdev/clew/value/internal/spelling"
)

// Base returns a base type of C for a machine: "int", "unsigned long", "char",
// "double", "void", "__int128". It returns nil for a name that C does not have.
// Sizes are those of Linux.
func Base(m *arch.Machine, name string) *Type {
	name = spell(name).base
	t := &Type{machine: m, language: C, name: name, kind: Int, sized: true, ready: true, signed: !strings.Contains(name, "unsigned")}
	switch name {
	case "void":
		return &Type{machine: m, language: C, name: name, kind: Void, ready: true}
	case "_Bool", "bool":
		t.kind, t.size, t.signed = Bool, 1, false
	case "char":
		// gcc's plain char is unsigned on arm, powerpc, s390 and riscv.
		t.kind, t.size, t.signed = Char, 1, !m.C.CharUnsigned
	case "signed char", "unsigned char":
		t.kind, t.size = Char, 1
	case "short", "unsigned short":
		t.size = 2
	case "int", "unsigned int":
		t.size = 4
	case "long", "unsigned long":
		t.size = uint64(m.AddressSize)
	case "long long", "unsigned long long":
		t.size = 8
	case "__int128", "unsigned __int128":
		t.size = 16
	case "float":
		t.kind, t.size, t.signed = Float, 4, false
	case "double":
		t.kind, t.size, t.signed = Float, 8, false
	case "long double":
		t.kind, t.size, t.signed = Float, cmp.Or(m.C.LongDoubleSize, 2*uint64(m.AddressSize)), false
		t.format = t.floatFormat(t.size, 0)
	default:
		return nil
	}
	return t
}

// spelled is the name of a type as a person writes it.
type spelled struct {
	name string
	tag  Kind   // Struct for "struct x" and "class x", Union, Enum; Unknown for a plain name
	base string // the shortest name of a base type of C: "unsigned long"; else ""
}

// spell reads the name of a type.
func spell(name string) spelled {
	words := strings.Fields(name)
	if len(words) == 0 {
		return spelled{}
	}
	rest := strings.Join(words[1:], " ")
	switch words[0] {
	case "struct", "class":
		return spelled{name: rest, tag: Struct}
	case "union":
		return spelled{name: rest, tag: Union}
	case "enum":
		return spelled{name: rest, tag: Enum}
	}
	s := spelled{name: strings.Join(words, " ")}
	s.base = spelling.Base(words)
	if s.base != "" {
		s.name = s.base
	}
	return s
}

// fits reports whether t is of the kind that was written.
func (s spelled) fits(t *Type) bool {
	switch s.tag {
	case Struct:
		return t.kind == Struct || t.kind == Class
	case Union, Enum:
		return t.kind == s.tag
	}
	if t.language == CPlusPlus {
		return true
	}
	return !slices.Contains([]Kind{Struct, Union, Enum}, t.kind) || t.language != C
}

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
// have IEEE's everywhere are distinguished by their names.
func (k *floatKind) format() arch.FloatFormat {
	fits := false
	format := k.machine.C.LongDouble
	switch format {
	case arch.X87:
		fits = k.size == 10 || k.size == 12 || k.size == 16 && k.bits != 128 && !k.isQuad()
	case arch.M68881:
		fits = k.size == 12
	case arch.DoubleDouble:
		fits = k.size == 16 && !k.isQuad()
	}
	if !fits {
		return arch.IEEE
	}
	return format
}

// isQuad reports whether a type of 16 bytes has IEEE's format where long double has
// another: _Float128, __float128, __ieee128 and f128 by their names; on x86 all reals of
// Fortran but those of kind 10, which are the long double; powerpc's _Float64x, which is
// wider than 8 bytes; and all types of Rust, which has no long double.
func (k *floatKind) isQuad() bool {
	has := func(text string) bool { return strings.Contains(k.name, text) }
	if k.machine.C.LongDouble == arch.DoubleDouble {
		return !has("ibm128") && (k.ieee || has("128") || has("_Float64x") || k.language == Rust)
	}
	if k.language == Fortran {
		return !has("10")
	}
	return has("128") || k.ieee && (has("long double") || has("_Float64x")) || k.language == Rust
}

// floatFormat returns the format of a base type, or of the two parts of a complex one.
func (t *Type) floatFormat(size uint64, bits int64) arch.FloatFormat {
	k := floatKind{machine: t.machine, name: t.name, language: t.language, size: size, bits: bits}
	if t.info != nil && size == 16 {
		k.ieee = t.info.entries.IEEELongDouble(t.unit)
	}
	return k.format()
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

// maxScale bounds the power of two or ten of a fixed-point type: 2^128 has 39 digits.
const maxScale = 256

// scaleOf returns what the integers of a fixed-point type are multiplied by (DWARF 5
// §5.1.1.2), nil where that is not known.
func (i *Info) scaleOf(e *object.DebugEntry) *big.Rat {
	power := func(base, n int64) *big.Rat {
		if n < -maxScale || n > maxScale {
			return nil
		}
		p := new(big.Int).Exp(big.NewInt(base), big.NewInt(max(n, -n)), nil)
		if n < 0 {
			return new(big.Rat).SetFrac(big.NewInt(1), p)
		}
		return new(big.Rat).SetInt(p)
	}
	if n, ok := e.Number(dwarf.AttrBinaryScale); ok {
		return power(2, n)
	}
	if n, ok := e.Number(dwarf.AttrDecimalScale); ok {
		return power(10, n)
	}
	off, ok := e.Reference(dwarf.AttrSmall)
	if !ok {
		return nil
	}
	small, err := i.entries.Read(off)
	if err != nil {
		return nil
	}
	numerator, ok := small.Number(dw.AttrGNUNumerator)
	denominator, both := small.Number(dw.AttrGNUDenominator)
	if !ok || !both || denominator == 0 {
		return nil
	}
	return big.NewRat(numerator, denominator)
}

// FixedInteger returns a fixed-point number without what is after its point.
func (t *Type) FixedInteger(b []byte) *big.Int {
	n := new(big.Rat).SetInt(number.Integer(t.machine, b, t.signed))
	n.Mul(n, t.scale)
	return new(big.Int).Quo(n.Num(), n.Denom())
}

// FixedText writes a fixed-point number with up to 17 digits, as gdb does.
func (t *Type) FixedText(b []byte) string {
	n := new(big.Rat).SetInt(number.Integer(t.machine, b, t.signed))
	return new(big.Float).SetPrec(1024).SetRat(n.Mul(n, t.scale)).Text('g', 17)
}
