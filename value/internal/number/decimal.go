// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package number

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
)

// decimalFormat describes the bits after the sign.
type decimalFormat struct {
	exponent uint // bits
	digits   int  // of the largest coefficient
	bias     int
}

// decimalFormats are the formats by size in bytes.
var decimalFormats = [...]decimalFormat{
	4:  {8, 7, 101},
	8:  {10, 16, 398},
	16: {14, 34, 6176},
}

// Decimal returns the text of a decimal number as in the General Decimal Arithmetic Specification
// ("to-scientific-string") and gdb: 1.50 is not 1.5.
func Decimal(m *arch.Machine, b []byte) string {
	if len(b) >= len(decimalFormats) || decimalFormats[len(b)].digits == 0 || m.C.PackedDecimals {
		return "<invalid float value>"
	}
	format := decimalFormats[len(b)]
	bits := Integer(m, b, false)
	width := uint(8 * len(b))
	sign := ""
	if bits.Bit(int(width)-1) != 0 {
		sign = "-"
	}
	field := func(from, count uint) uint64 {
		n := new(big.Int).Rsh(bits, from)
		return n.And(n, big.NewInt(1<<count-1)).Uint64()
	}
	below := func(count uint) *big.Int {
		mask := new(big.Int).Lsh(big.NewInt(1), count)
		return mask.And(mask.Sub(mask, big.NewInt(1)), bits)
	}
	limit := func(digits int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil) }
	stored := width - 1 - format.exponent // bits of the coefficient
	var coefficient *big.Int
	var exponent int
	switch {
	case field(width-6, 5) == 0b11110:
		return sign + "Infinity"
	case field(width-6, 5) == 0b11111:
		name := "NaN"
		if field(width-7, 1) != 0 {
			name = "sNaN"
		}
		// As for a coefficient, a number that is too large counts as 0.
		if payload := below(stored - 3); payload.Sign() != 0 && payload.Cmp(limit(format.digits-1)) < 0 {
			name += payload.String()
		}
		return sign + name
	case field(width-3, 2) == 0b11:
		// The coefficient begins with the bits 100, which are not stored.
		exponent = int(field(stored-2, format.exponent))
		coefficient = below(stored - 2)
		coefficient.SetBit(coefficient, int(stored), 1)
	default:
		exponent = int(field(stored, format.exponent))
		coefficient = below(stored)
	}
	if coefficient.Cmp(limit(format.digits)) >= 0 {
		coefficient.SetInt64(0)
	}
	return sign + scientific(coefficient.String(), exponent-format.bias)
}

// scientific returns the text of a coefficient and an exponent of ten. It omits the exponent if that
// adds at most five zeros, after the point.
func scientific(digits string, exponent int) string {
	adjusted := exponent + len(digits) - 1
	switch point := len(digits) + exponent; {
	case exponent == 0:
		return digits
	case exponent < 0 && point > 0:
		return digits[:point] + "." + digits[point:]
	case exponent < 0 && adjusted >= -6:
		return "0." + strings.Repeat("0", -point) + digits
	}
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	sign := "+"
	if adjusted < 0 {
		sign = "" // the number includes it
	}
	return digits + "E" + sign + strconv.Itoa(adjusted)
}

// Leading returns the integer at the start of a number's text, without its exponent and limited to 64
// bits. gdb uses it if the number is printed as a character or an address.
func Leading(text string) *big.Int {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && text[end] == '-') {
		end++
	}
	n, _ := strconv.ParseInt(text[:end], 10, 64) // 0 without digits, the nearest number if it is too large
	return big.NewInt(n)
}
