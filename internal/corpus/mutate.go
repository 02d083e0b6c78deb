// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package corpus

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// Mutate returns a damaged copy of a section of call frame information. One to four times,
// it flips a bit, sets a byte to one with a meaning for decoders, truncates the section,
// copies a piece, writes an endless LEB128, or changes a word. Half of the changes are near
// the start of an entry, where lengths and CIE pointers are.
func Mutate(r *rand.Rand, section []byte, entries []uint64, order binary.ByteOrder) []byte {
	b := slices.Clone(section)
	for range 1 + r.IntN(4) {
		if len(b) < 8 {
			return b
		}
		at := r.IntN(len(b) - 4)
		if len(entries) > 0 && r.IntN(2) == 0 {
			at = min(int(entries[r.IntN(len(entries))])+4*r.IntN(5), len(b)-5)
		}
		switch r.IntN(8) {
		case 0, 1:
			b[at] ^= 1 << r.IntN(8)
		case 2:
			b[at] = []byte{0, 0x7f, 0x80, 0xff, 0x0a, 0x0b, 0x0f, 0x16, 0x1b, 0x50, 0x9b, 'z'}[r.IntN(12)]
		case 3:
			b = b[:at]
		case 4:
			n := min(1+r.IntN(64), len(b)-at)
			from := r.IntN(len(b) - n + 1)
			copy(b[at:at+n], b[from:from+n])
		case 5:
			for i := at; i < min(at+1+r.IntN(40), len(b)); i++ {
				b[i] = 0x80 | byte(r.IntN(2))
			}
		case 6:
			order.PutUint32(b[at:], []uint32{0, 1, 3, 4, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff}[r.IntN(8)])
		case 7:
			order.PutUint32(b[at:], order.Uint32(b[at:])+uint32(r.IntN(33))-16)
		}
	}
	return b
}
