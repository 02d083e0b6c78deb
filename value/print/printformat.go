// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
)

// formatted writes a scalar in the format of a letter.
func (w *printing) formatted(t *value.Type, b []byte) {
	size := len(b)
	unsigned, signed := number.Integer(t.Machine(), b, false), number.Integer(t.Machine(), b, true)
	if t.Kind() == value.Fixed { // without the fraction, as in gdb
		signed = t.FixedInteger(b)
		unsigned = new(big.Int).And(signed, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*size)), big.NewInt(1)))
	}
	width := uint64(8 * size)
	// gdb prints the number as a character or an address, and the bytes in other formats.
	n := unsigned
	if t.Signed() {
		n = signed
	}
	if t.Kind() == value.Float {
		n = big.NewInt(t.SaturatedFloat(b))
	}
	if t.Kind() == value.Decimal {
		n = number.Leading(number.Decimal(t.Machine(), b))
	}
	if w.Format == 'c' || w.Format == 'a' {
		switch {
		case t.Kind() == value.Complex || t.Kind() == value.Set:
			//lint:ignore ST1005 gdb's own sentence
			w.fail(fmt.Errorf("%w: Value can't be converted to integer.", value.ErrType))
			return
		case t.Kind() != value.Float && t.Kind() != value.Decimal && size > 8:
			//lint:ignore ST1005 gdb's own sentence
			w.fail(fmt.Errorf("%w: That operation is not available on integers of more than 8 bytes.", value.ErrType))
			return
		}
	}
	low := new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1)).Uint64()
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
		if low &= 0xff; t.Signed() || t.Kind() == value.Float || t.Kind() == value.Decimal {
			w.add(strconv.Itoa(int(int8(low))))
		} else {
			w.add(strconv.FormatUint(low, 10))
		}
		if t.Language() == value.Pascal {
			w.add(" ")
			w.literal(value.Pascal, low)
			return
		}
		w.add(" '")
		if t.Language() == value.Ada {
			if low >= 0x80 && (t.Signed() || t.Kind() == value.Float) {
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
		if t.Kind() != value.Float && size == 16 {
			t = value.Base(t.Machine(), "long double") // for gdb a type of that size
		}
		if t.Kind() == value.Float || size == 4 || size == 8 {
			w.add(t.FloatText(b))
			return
		}
		w.add(number.Integer(t.Machine(), b, t.Signed()).String())
	default:
		w.add("<format " + strconv.QuoteRune(rune(w.Format)) + " is not known>")
	}
}
