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
	if t.kind == Fixed { // gdb takes what is before the point
		signed = t.fixedInteger(b)
		unsigned = new(big.Int).And(signed, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*size)), big.NewInt(1)))
	}
	width := uint64(8 * size)
	// As a character or an address gdb takes the number, as all else the bytes.
	number := unsigned
	if t.Signed() {
		number = signed
	}
	if t.kind == Float {
		f := t.decodeFloat(b)
		number = new(big.Int).SetInt64(saturate(f))
	}
	if t.kind == Decimal {
		number = leading(decimalText(t.machine, b))
	}
	if w.Format == 'c' || w.Format == 'a' {
		switch {
		case t.kind == Complex || t.kind == Set:
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
		if t.language == Pascal {
			w.add(" ")
			w.literal(Pascal, low)
			return
		}
		w.add(" '")
		if t.language == Ada {
			if low >= 0x80 && (t.Signed() || t.kind == Float) {
				low |= 0xffffff00 // a character is a number of 32 bits to gdb
			}
			w.adaChar(low, 1, '\'')
		} else {
			w.appendChar(low, 1, '\'')
		}
		w.add("'")
	case 'a':
		w.address(low, true)
	case 'f':
		if t.kind != Float && size == 16 {
			t = Base(t.machine, "long double") // for gdb a type of that size
		}
		if t.kind == Float || size == 4 || size == 8 {
			w.add(floatText(t, b))
			return
		}
		w.add(integer(t, b, t.Signed()).String())
	default:
		w.add("<format " + strconv.QuoteRune(rune(w.Format)) + " is not known>")
	}
}
