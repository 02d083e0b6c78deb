// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"math/big"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/number"
)

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
	small, err := i.read(off)
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
