// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/clewdev/clew/arch"
)

// floatNumber is a floating-point number of any format.
type floatNumber struct {
	value    *big.Float // nil for what is no number
	negative bool
	nan      bool
	infinite bool
	payload  *big.Int // the fraction's bits
	digits   int      // decimal digits that tell it apart, as gdb counts them
}

func (n floatNumber) finite() bool { return n.value != nil }

// isExtended reports whether a number of size bytes is in the x87 format.
func isExtended(m *arch.Machine, size int) bool {
	return strings.Contains(m.Name, "86") && (size == 16 || size == 12 || size == 10)
}

// decodeFloat reads the IEEE 754 formats of 2, 4, 8 and 16 bytes and the x87
// one, which is that of 10, 12 and 16 bytes on x86.
func decodeFloat(m *arch.Machine, b []byte) floatNumber {
	if isExtended(m, len(b)) {
		return ieee(m, b[:10], 15, 63, true)
	}
	switch len(b) {
	case 2:
		return ieee(m, b, 5, 10, false)
	case 4:
		return ieee(m, b, 8, 23, false)
	case 8:
		return ieee(m, b, 11, 52, false)
	case 16:
		return ieee(m, b, 15, 112, false)
	}
	return floatNumber{}
}

// ieee reads a number with an exponent and a fraction of so many bits; explicit
// says that the leading one is stored.
func ieee(m *arch.Machine, b []byte, exponentBits, fractionBits uint, explicit bool) floatNumber {
	bits := new(big.Int)
	ordered := make([]byte, len(b))
	for k := range b {
		if isBigEndian(m) {
			ordered[k] = b[k]
		} else {
			ordered[len(b)-1-k] = b[k]
		}
	}
	bits.SetBytes(ordered)
	stored := fractionBits
	if explicit {
		stored++
	}
	mask := func(n uint) *big.Int { return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(1)) }
	fraction := new(big.Int).And(bits, mask(stored))
	exponent := int(new(big.Int).And(new(big.Int).Rsh(bits, stored), mask(exponentBits)).Int64())
	n := floatNumber{negative: bits.Bit(int(stored+exponentBits)) != 0, payload: fraction}
	// gdb prints two digits more than the precision holds.
	n.digits = 2 + int(fractionBits+1)*30103/100000
	if explicit && exponent != 0 && fraction.Bit(int(fractionBits)) == 0 {
		return floatNumber{} // what processors since the 80387 refuse
	}
	if exponent == 1<<exponentBits-1 {
		n.payload = new(big.Int).And(fraction, mask(fractionBits))
		n.infinite = n.payload.Sign() == 0
		n.nan = !n.infinite
		n.payload = fraction
		return n
	}
	switch {
	case explicit:
	case exponent == 0:
		exponent = 1
	default:
		fraction.SetBit(fraction, int(fractionBits), 1)
	}
	if explicit && exponent == 0 {
		exponent = 1
	}
	n.value = new(big.Float).SetPrec(fractionBits + 1).SetInt(fraction)
	n.value.SetMantExp(n.value, exponent-(1<<(exponentBits-1)-1)-int(fractionBits))
	if n.negative {
		n.value.Neg(n.value)
	}
	return n
}

// String writes the number as printf's %g does with its digits.
func (n floatNumber) String() string {
	sign := ""
	if n.negative {
		sign = "-"
	}
	switch {
	case n.nan:
		return fmt.Sprintf("%snan(%#x)", sign, n.payload)
	case n.infinite:
		return sign + "inf"
	case n.value == nil:
		return "<invalid float value>"
	}
	return n.value.Text('g', n.digits)
}
