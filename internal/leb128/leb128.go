// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package leb128 reads and writes LEB128, the numbers of variable length of DWARF
// (DWARF 5 §7.6), with one rule for those that do not fit in 64 bits.
//
// A number may be padded, as assemblers do that reserve bytes for it, up to MaxSize
// bytes. Bits after the 64th must repeat the sign, or be zero where the number is
// unsigned. One more form of a negative number is read: old versions of gas shifted
// in zeros, so that -7 became f9 ff ff ff ff ff ff ff ff 01.
//
// A Cursor reads such numbers, and those of fixed size, from untrusted data.
//
// Its functions allocate nothing, unless they append to a slice that is full.
package leb128

import (
	"errors"
	"fmt"
	"math/bits"
)

// MaxSize bounds the bytes of a number: ten hold 64 bits, and assemblers pad them a
// little. Without it input that has a long number read many times would take time far
// beyond its size.
const MaxSize = 32

// The errors of Uint and Int.
var (
	ErrTruncated = errors.New("LEB128 without end")
	ErrUnsigned  = errors.New("unsigned LEB128 wider than 64 bits")
	ErrSigned    = errors.New("signed LEB128 wider than 64 bits")
	ErrTooLong   = fmt.Errorf("LEB128 longer than %d bytes", MaxSize)
)

// Uint reads the unsigned number at the start of b and returns how many bytes it
// has: on an error those up to the one that is wrong, of ErrTruncated all of b.
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

// Int reads the signed number at the start of b, and returns what Uint does.
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

// tooShort is the error of n bytes that do not end a number.
func tooShort(n int) error {
	if n == MaxSize {
		return ErrTooLong
	}
	return ErrTruncated
}

// Len returns how many bytes of b the number at its start has, whatever its value;
// 0 where it has no end within MaxSize bytes.
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

// PutUint replaces the number at the start of b by v, in as many bytes as it has:
// bits that do not fit are lost. It returns false where b holds no number.
func PutUint(b []byte, v uint64) bool {
	n := Len(b)
	for i := range n {
		b[i] = b[i]&0x80 | byte(v)&0x7f
		v >>= 7
	}
	return n > 0
}
