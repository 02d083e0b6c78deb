// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// hexDigits returns the eight digits of v as the bytes of a number. The first digit is the
// least significant byte.
func hexDigits(v uint32) uint64 {
	// Spread the nibbles to bytes.
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	// Adding 6 to a nibble above 9, which becomes a letter, carries into the upper half.
	letters := (x + 0x0606060606060606) >> 4 & 0x0101010101010101
	return bits.ReverseBytes64(x + 0x3030303030303030 + letters*('a'-'0'-10))
}

// putHex writes the 16 digits of v.
func putHex(dst []byte, v uint64) {
	_ = dst[15]
	binary.LittleEndian.PutUint64(dst, hexDigits(uint32(v>>32)))
	binary.LittleEndian.PutUint64(dst[8:], hexDigits(uint32(v)))
}

// appendHex appends the low size bytes of v, at most eight, with two digits for each byte.
func appendHex(dst []byte, v uint64, size int) []byte {
	var d [16]byte
	putHex(d[:], v)
	return append(dst, d[16-2*min(size, 8):]...)
}

// appendSigned appends v with a sign, '+' or '-'.
func appendSigned(dst []byte, v int64) []byte {
	if v >= 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, v, 10)
}

const spaces = "                    "

// appendPadding appends spaces until dst[from:] has width bytes.
func appendPadding(dst []byte, from, width int) []byte {
	if n := width - (len(dst) - from); n > 0 {
		dst = append(dst, spaces[:n]...)
	}
	return dst
}
