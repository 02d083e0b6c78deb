// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// saturate cuts a floating-point number to an integer.
func saturate(f floatNumber) int64 {
	if !f.finite() {
		if f.negative && !f.nan {
			return math.MinInt64
		}
		return math.MaxInt64
	}
	n, _ := f.value.Int64() // the nearest there is
	return n
}

// formatted writes a scalar in the format of a letter.
func (w *printing) formatted(v Value, t *Type, b []byte) {
	size := len(b)
	unsigned, signed := integer(t, b, false), integer(t, b, true)
	width := uint64(8 * size)
	// As a character or an address gdb takes the number, as all else the bytes.
	number := unsigned
	if t.Signed() {
		number = signed
	}
	if t.kind == Float {
		f := decodeFloat(t.machine, b)
		number = new(big.Int).SetInt64(saturate(f))
	}
	if t.kind == Decimal {
		number = leading(decimalText(t.machine, b))
	}
	if w.Format == 'c' || w.Format == 'a' {
		switch {
		case t.kind == Complex:
			//lint:ignore ST1005 gdb's own sentence
			w.fail(fmt.Errorf("%w: Value can't be converted to integer.", ErrType))
			return
		case t.kind != Float && t.kind != Decimal && size > 8:
			//lint:ignore ST1005 gdb's own sentence
			w.fail(fmt.Errorf("%w: That operation is not available on integers of more than 8 bytes.", ErrType))
			return
		}
	}
	low := new(big.Int).And(number, new(big.Int).SetUint64(1<<64-1)).Uint64()
	switch w.Format {
	case 'x':
		w.add("0x" + unsigned.Text(16))
	case 'z':
		digits := unsigned.Text(16)
		w.add("0x" + strings.Repeat("0", max(0, int(width+3)/4-len(digits))) + digits)
	case 'o':
		if unsigned.Sign() == 0 {
			w.add("0")
		} else {
			w.add("0" + unsigned.Text(8))
		}
	case 't':
		w.add(unsigned.Text(2))
	case 'u':
		w.add(unsigned.String())
	case 'd':
		w.add(signed.String())
	case 'c':
		if low &= 0xff; t.Signed() || t.kind == Float || t.kind == Decimal {
			w.add(strconv.Itoa(int(int8(low))))
		} else {
			w.add(strconv.FormatUint(low, 10))
		}
		w.add(" '")
		w.appendChar(low, 1, '\'')
		w.add("'")
	case 'a':
		w.address(low, true)
	case 'f':
		if t.kind == Float || size == 4 || size == 8 || size == 16 {
			w.add(floatText(t, b))
			return
		}
		w.add(integer(t, b, t.Signed()).String())
	default:
		w.add("<format " + strconv.QuoteRune(rune(w.Format)) + " is not known>")
	}
}
