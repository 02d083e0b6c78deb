// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package number

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/clewdev/clew/arch"
)

// Float is a floating-point number of any format.
type Float struct {
	Value    *big.Float // nil if it is not finite
	Negative bool
	NaN      bool
	Infinite bool
	payload  *big.Int // the bits of the fraction
	digits   int      // number of decimal digits to print, as in gdb
}

// Finite reports whether n is neither infinite nor a NaN, and valid.
func (n Float) Finite() bool { return n.Value != nil }

// Calculate returns the sum, difference or product of finite numbers.
func (n Float) Calculate(operator byte, m Float) *big.Float {
	result := new(big.Float).SetPrec(max(n.Value.Prec(), m.Value.Prec()))
	switch operator {
	case '+':
		return result.Add(n.Value, m.Value)
	case '-':
		return result.Sub(n.Value, m.Value)
	}
	return result.Mul(n.Value, m.Value)
}

// DecodeFloat reads a number of a format.
func DecodeFloat(m *arch.Machine, format arch.FloatFormat, b []byte) Float {
	switch {
	case format == arch.X87 && len(b) >= 10:
		return ieee(m, b[:10], 15, 63, integerOfX87)
	case format == arch.M68881 && len(b) == 12:
		return ieee(m, append(b[:2:2], b[4:]...), 15, 63, integerOfM68881) // 16 bits of padding follow the exponent
	case format == arch.DoubleDouble && len(b) == 16:
		return doubleDouble(m, b)
	}
	switch len(b) {
	case 2:
		return ieee(m, b, 5, 10, integerImplied)
	case 4:
		return ieee(m, b, 8, 23, integerImplied)
	case 8:
		return ieee(m, b, 11, 52, integerImplied)
	case 16:
		return ieee(m, b, 15, 112, integerImplied)
	}
	return Float{}
}

// doubleDouble reads the sum of two numbers of 8 bytes. The first is the sum rounded.
func doubleDouble(m *arch.Machine, b []byte) Float {
	const precision = 2 * 53
	high, low := ieee(m, b[:8], 11, 52, integerImplied), ieee(m, b[8:], 11, 52, integerImplied)
	high.digits = decimalDigits(precision)
	if high.Finite() && low.Finite() && high.Value.Sign() != 0 {
		sum := new(big.Float).SetPrec(precision)
		high.Value = sum.Add(high.Value, low.Value)
		high.Negative = sum.Signbit()
	}
	return high
}

// EncodeFloat writes a number to zeroed bytes. It returns false if no format has their size.
func EncodeFloat(m *arch.Machine, format arch.FloatFormat, b []byte, n float64) bool {
	// The formats with an exponent of 15 bits can hold every float64. significand has 64 bits,
	// the highest of which is the integer bit.
	fraction, exponent := math.Frexp(math.Abs(n))
	biased, significand := uint64(exponent-1+1<<14-1), 1<<63|math.Float64bits(fraction)<<11
	switch {
	case n == 0:
		biased, significand = 0, 0
	case math.IsInf(n, 0):
		biased, significand = 1<<15-1, 1<<63
	case math.IsNaN(n):
		biased, significand = 1<<15-1, 3<<62
	}
	if math.Signbit(n) {
		biased |= 1 << 15
	}
	switch size := len(b); {
	case size == 4:
		PutUint(m.Order, b, uint64(math.Float32bits(float32(n))))
	case size == 8 || size == 16 && format == arch.DoubleDouble:
		PutUint(m.Order, b[:8], math.Float64bits(n))
	case size >= 10 && format == arch.X87:
		PutUint(m.Order, b[:8], significand)
		PutUint(m.Order, b[8:10], biased)
	case size == 12 && format == arch.M68881:
		PutUint(m.Order, b[:2], biased)
		PutUint(m.Order, b[4:], significand)
	case size == 16:
		high, low := b[8:], b[:8]
		if IsBigEndian(m) {
			high, low = low, high
		}
		PutUint(m.Order, high, biased<<48|significand<<1>>16)
		PutUint(m.Order, low, significand<<49)
	default:
		return false
	}
	return true
}

// EncodeBig is EncodeFloat for a finite number of more bits than a float64 has.
func EncodeBig(m *arch.Machine, format arch.FloatFormat, b []byte, n *big.Float) bool {
	isX87 := format == arch.X87 && len(b) >= 10
	if !isX87 && (len(b) != 16 || format == arch.DoubleDouble) || n.Sign() == 0 {
		f, _ := n.Float64()
		return EncodeFloat(m, format, b, f)
	}
	precision, bias := 113, 1<<14-1
	if isX87 {
		precision = 64
	}
	mantissa := new(big.Float).SetPrec(uint(precision)).Abs(n)
	exponent := mantissa.MantExp(mantissa) // the mantissa is at least 0.5 and less than 1
	biased := exponent - 1 + bias
	if biased >= 1<<15-1 {
		return EncodeFloat(m, format, b, math.Inf(n.Sign()))
	}
	shift := precision
	if biased <= 0 { // a number that is not normalized
		shift, biased = precision+biased-1, 0
	}
	significand, _ := mantissa.SetMantExp(mantissa, shift).Int(nil)
	if biased > 0 && !isX87 {
		significand.SetBit(significand, precision-1, 0) // the exponent implies it
	}
	if n.Signbit() {
		biased |= 1 << 15
	}
	words := new(big.Int).Lsh(big.NewInt(int64(biased)), uint(8*len(b)-16))
	if isX87 {
		words.Lsh(big.NewInt(int64(biased)), 64)
	}
	words.Or(words, significand).FillBytes(b)
	if !IsBigEndian(m) {
		slices.Reverse(b)
	}
	return true
}

// decimalDigits returns the number of digits that gdb prints for a significand: two more than it
// can hold.
func decimalDigits(bits uint) int { return 2 + int(bits)*30103/100000 }

// integerBit is how a format stores the integer bit of the significand.
type integerBit uint8

const (
	integerImplied  integerBit = iota // not stored: the exponent implies it
	integerOfX87                      // stored; the exponents 0 and 1 mean the same
	integerOfM68881                   // stored, and ignored in infinities; the exponent 0 is less than 1
)

// ieee reads a number with an exponent and a fraction of given sizes.
func ieee(m *arch.Machine, b []byte, exponentBits, fractionBits uint, integer integerBit) Float {
	bits := Integer(m, b, false)
	stored := fractionBits
	if integer != integerImplied {
		stored++
	}
	mask := func(n uint) *big.Int { return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(1)) }
	fraction := new(big.Int).And(bits, mask(stored))
	exponent := int(new(big.Int).And(new(big.Int).Rsh(bits, stored), mask(exponentBits)).Int64())
	n := Float{Negative: bits.Bit(int(stored+exponentBits)) != 0, payload: fraction}
	n.digits = decimalDigits(fractionBits + 1)
	if integer == integerOfX87 && exponent != 0 && fraction.Bit(int(fractionBits)) == 0 {
		return Float{} // processors since the 80387 reject it
	}
	if exponent == 1<<exponentBits-1 {
		n.Infinite = new(big.Int).And(fraction, mask(fractionBits)).Sign() == 0
		n.NaN = !n.Infinite
		return n
	}
	switch {
	case integer == integerImplied && exponent != 0:
		fraction.SetBit(fraction, int(fractionBits), 1)
	case integer != integerOfM68881 && exponent == 0:
		exponent = 1
	}
	n.Value = new(big.Float).SetPrec(fractionBits + 1).SetInt(fraction)
	n.Value.SetMantExp(n.Value, exponent-(1<<(exponentBits-1)-1)-int(fractionBits))
	if n.Negative {
		n.Value.Neg(n.Value)
	}
	return n
}

// String returns the number as printf's %g writes it.
func (n Float) String() string {
	sign := ""
	if n.Negative {
		sign = "-"
	}
	switch {
	case n.NaN:
		return fmt.Sprintf("%snan(%#x)", sign, n.payload)
	case n.Infinite:
		return sign + "inf"
	case n.Value == nil:
		return "<invalid float value>"
	}
	return n.Value.Text('g', n.digits)
}
