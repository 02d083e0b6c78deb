// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"cmp"
	"debug/dwarf"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/number"
	"github.com/clewdev/clew/value/internal/spelling"
)

// Base returns a base type of C on Linux for a machine: "int", "unsigned long", "char",
// "double", "void", "__int128", and f32 and f64 of Rust. It returns nil for any other name.
func Base(m *arch.Machine, name string) *Type {
	name = cmp.Or(spell(name).base, name)
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
	case "float", "f32":
		t.kind, t.size, t.signed = Float, 4, false
	case "double", "f64":
		t.kind, t.size, t.signed = Float, 8, false
	case "long double":
		t.kind, t.size, t.signed = Float, cmp.Or(m.C.LongDoubleSize, 2*uint64(m.AddressSize)), false
		t.format = t.floatFormat(t.size, 0)
	default:
		return nil
	}
	return t
}

// spelled is the name of a type in the form that people write.
type spelled struct {
	name string
	tag  Kind   // Struct for "struct x" and "class x", Union, Enum; Unknown for a plain name
	base string // the shortest name of a base type of C, such as "unsigned long"; else ""
}

// spell parses the name of a type.
func spell(name string) spelled {
	words := strings.Fields(name)
	if len(words) == 0 {
		return spelled{}
	}
	tags := map[string]Kind{"struct": Struct, "class": Struct, "union": Union, "enum": Enum}
	if tag, ok := tags[words[0]]; ok {
		return spelled{name: strings.Join(words[1:], " "), tag: tag}
	}
	s := spelled{name: strings.Join(words, " ")}
	s.base = spelling.Base(words)
	if s.base != "" {
		s.name = s.base
	}
	return s
}

// fits reports whether t has the kind that the tag requires.
func (s spelled) fits(t *Type) bool {
	switch s.tag {
	case Struct:
		return t.kind == Struct || t.kind == Class
	case Union, Enum:
		return t.kind == s.tag
	}
	return t.language != C || t.kind != Struct && t.kind != Union && t.kind != Enum
}

// floatKind holds the properties of a base type that determine its format.
type floatKind struct {
	machine  *arch.Machine
	name     string
	language Language
	size     uint64 // bytes
	bits     int64  // DW_AT_bit_size, or 0
	ieee     bool   // long double has IEEE's format, which is not the machine's default
}

// format returns the format. Only for numbers of 16 bytes does a machine have several: on
// x86 those of the x87 and IEEE, on powerpc those of IBM and IEEE. DWARF has one encoding for
// all, DW_ATE_float, and no producer writes a DW_AT_bit_size. The long double of each language
// has the machine's format. Names distinguish the types that have IEEE's format everywhere.
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

// isQuad reports whether a type of 16 bytes has IEEE's format where long double has another:
// _Float128, __float128, __ieee128 and f128 by their names; on x86 all reals of Fortran except
// those of kind 10, which is long double; powerpc's _Float64x, which is wider than 8 bytes;
// and all types of Rust, which lacks long double.
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

// floatFormat returns the format of a base type, or of the parts of a complex one.
func (t *Type) floatFormat(size uint64, bits int64) arch.FloatFormat {
	k := floatKind{machine: t.machine, name: t.name, language: t.language, size: size, bits: bits}
	if t.info != nil && size == 16 {
		k.ieee = t.info.entries.IEEELongDouble(t.unit)
	}
	return k.format()
}

// decodeFloat reads a number in the type's format.
func (t *Type) decodeFloat(b []byte) number.Float { return number.DecodeFloat(t.machine, t.format, b) }

// FloatText returns the number whose bytes are b, of a Float or a part of a Complex, as gdb
// and Delve write it.
func (t *Type) FloatText(b []byte) string {
	if t.language == Go && len(b) == 8 {
		return strconv.FormatFloat(math.Float64frombits(t.machine.Order.Uint64(b)), 'f', -1, 64)
	}
	if t.language == Go && len(b) == 4 {
		return strconv.FormatFloat(float64(math.Float32frombits(t.machine.Order.Uint32(b))), 'f', -1, 32)
	}
	return t.decodeFloat(b).String()
}

// SaturatedFloat returns the number whose bytes are b without its fraction, or the nearest
// int64.
func (t *Type) SaturatedFloat(b []byte) int64 {
	f := t.decodeFloat(b)
	if !f.Finite() {
		if f.Negative && !f.NaN {
			return math.MinInt64
		}
		return math.MaxInt64
	}
	n, _ := f.Value.Int64() // the nearest
	return n
}

// maxScale bounds the exponent in the scale of a fixed-point type: 2^128 has 39 digits.
const maxScale = 256

// scaleOf returns the factor of the integers of a fixed-point type (DWARF 5 §5.1.1.2), or
// nil.
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
	numerator, hasNumerator := small.Number(dw.AttrGNUNumerator)
	denominator, hasDenominator := small.Number(dw.AttrGNUDenominator)
	if !hasNumerator || !hasDenominator || denominator == 0 {
		return nil
	}
	return big.NewRat(numerator, denominator)
}

// FixedInteger returns a fixed-point number without its fraction.
func (t *Type) FixedInteger(b []byte) *big.Int {
	n := new(big.Rat).SetInt(number.Integer(t.machine, b, t.signed))
	n.Mul(n, t.scale)
	return new(big.Int).Quo(n.Num(), n.Denom())
}

// FixedText returns a fixed-point number with up to 17 digits, as gdb does.
func (t *Type) FixedText(b []byte) string {
	n := new(big.Rat).SetInt(number.Integer(t.machine, b, t.signed))
	return new(big.Float).SetPrec(1024).SetRat(n.Mul(n, t.scale)).Text('g', 17)
}
