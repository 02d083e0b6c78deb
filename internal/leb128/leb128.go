// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package leb128 reads and writes LEB128, the numbers of variable length of DWARF
// (DWARF 5 §7.6), with one rule for those that do not fit in 64 bits.
//
// A number may be padded to at most MaxSize bytes, as by assemblers that reserve bytes for
// it. Bits after the 64th must repeat the sign, or be zero in an unsigned number. One more
// form of a negative number is valid: old versions of gas shifted in zeros, so that -7
// became f9 ff ff ff ff ff ff ff ff 01.
//
// A Cursor reads LEB128s and numbers of fixed size from untrusted data. The functions
// allocate nothing, unless they append to a full slice.
package leb128

import (
	"errors"
	"fmt"
	"math/bits"
)

// MaxSize bounds the bytes of a number: ten hold 64 bits, and assemblers add a little
// padding. Without a bound, input that leads to many reads of one long number would take
// far too much time.
const MaxSize = 32

// The errors of Uint and Int.
var (
	ErrTruncated = errors.New("LEB128 without end")
	ErrUnsigned  = errors.New("unsigned LEB128 wider than 64 bits")
	ErrSigned    = errors.New("signed LEB128 wider than 64 bits")
	ErrTooLong   = fmt.Errorf("LEB128 longer than %d bytes", MaxSize)
)

// Uint reads the unsigned number at the start of b and returns its number of bytes n. On an
// error n is the number of bytes up to the invalid one, and len(b) for ErrTruncated.
func Uint(b []byte) (v uint64, n int, err error) {
	for shift := uint(0); n < len(b); shift += 7 {
		if n == MaxSize {
			return 0, n, ErrTooLong
		}
		c := b[n]
		n++
		if d := uint64(c & 0x7f); shift < 64 && d<<shift>>shift == d {
			v |= d << shift
		} else if d != 0 {
			return 0, n, ErrUnsigned
		}
		if c < 0x80 {
			return v, n, nil
		}
	}
	return 0, n, tooShort(n)
}

// Int is Uint for a signed number.
func Int(b []byte) (v int64, n int, err error) {
	for shift := uint(0); n < len(b); shift += 7 {
		if n == MaxSize {
			return 0, n, ErrTooLong
		}
		c := b[n]
		n++
		d := int64(c & 0x7f)
		switch {
		case shift < 63:
			v |= d << shift
		case shift == 63 && (d == 0 || d == 0x7f || c == 1): // 1: old gas
			v |= d << shift
		case shift > 63 && d == v>>63&0x7f:
		default:
			return 0, n, ErrSigned
		}
		if c < 0x80 {
			if shift < 57 && c&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v, n, nil
		}
	}
	return 0, n, tooShort(n)
}

// tooShort returns the error for n bytes without the end of a number.
func tooShort(n int) error {
	if n == MaxSize {
		return ErrTooLong
	}
	return ErrTruncated
}

// Len returns the number of bytes of the number at the start of b, whatever its value; 0 if
// it does not end within MaxSize bytes.
func Len(b []byte) int {
	for i, c := range b[:min(len(b), MaxSize)] {
		if c < 0x80 {
			return i + 1
		}
	}
	return 0
}

// Size returns the bytes that AppendUint appends.
func Size(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// AppendUint appends the shortest unsigned form of v.
func AppendUint(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// AppendInt appends the shortest signed form of v.
func AppendInt(dst []byte, v int64) []byte {
	for v >= 0x40 || v < -0x40 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v)&0x7f)
}

// PutUint replaces the number at the start of b by v and keeps its number of bytes: bits that
// do not fit are lost. It returns false if b does not start with a number.
func PutUint(b []byte, v uint64) bool {
	n := Len(b)
	for i := range n {
		b[i] = b[i]&0x80 | byte(v)&0x7f
		v >>= 7
	}
	return n > 0
}
