// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import "strconv"

// hexDigits holds the two digits of each byte.
var hexDigits = func() (t [256][2]byte) {
	const digits = "0123456789abcdef"
	for i := range t {
		t[i] = [2]byte{digits[i>>4], digits[i&15]}
	}
	return t
}()

// appendHex appends the low size bytes of v as twice as many digits.
func appendHex(dst []byte, v uint64, size int) []byte {
	var d [16]byte
	for i := 14; i >= 0; i -= 2 {
		h := &hexDigits[byte(v)]
		d[i], d[i+1] = h[0], h[1]
		v >>= 8
	}
	return append(dst, d[16-2*min(size, 8):]...)
}

// appendSigned appends v with its sign, also where that is a plus.
func appendSigned(dst []byte, v int64) []byte {
	if v >= 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, v, 10)
}

const spaces = "                    "

// appendPadding appends spaces until what follows from has width bytes.
func appendPadding(dst []byte, from, width int) []byte {
	if n := width - (len(dst) - from); n > 0 {
		dst = append(dst, spaces[:n]...)
	}
	return dst
}

// maxCell bounds the offsets whose cell has a table: those that fit, with a
// letter, a sign and a space, in six bytes.
const maxCell = 999

// cellText is the sign and digits of a small offset, padded, as a row shows it
// behind its letter.
var cellText = func() (t [2*maxCell + 1][5]byte) {
	for i := range t {
		copy(t[i][:], spaces)
		appendSigned(t[i][:0], int64(i)-maxCell)
	}
	return t
}()

// appendCell appends a letter and an offset, at least five bytes wide, and a space.
func appendCell(dst []byte, letter byte, offset int64) []byte {
	if i := offset + maxCell; uint64(i) < uint64(len(cellText)) {
		c := &cellText[i]
		return append(dst, letter, c[0], c[1], c[2], c[3], c[4])
	}
	from := len(dst)
	dst = appendSigned(append(dst, letter), offset)
	return append(appendPadding(dst, from, 5), ' ')
}
