// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package number

import (
	"bytes"
	"encoding/binary"
	"math/big"

	"github.com/clewdev/clew/arch"
)

// Uint returns the number that 1 to 8 bytes are, 0 for any other count.
func Uint(order binary.ByteOrder, b []byte) (v uint64) {
	if len(b) > 8 {
		return 0
	}
	if len(b) == 8 {
		return order.Uint64(b)
	}
	if order == binary.BigEndian {
		for _, c := range b {
			v = v<<8 | uint64(c)
		}
		return v
	}
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// PutUint fills b, of any length, with the low bytes of v and zeros above.
func PutUint(order binary.ByteOrder, b []byte, v uint64) {
	if len(b) == 8 {
		order.PutUint64(b, v)
		return
	}
	for i := range b {
		k := i
		if order == binary.BigEndian {
			k = len(b) - 1 - i
		}
		b[k] = 0
		if i < 8 {
			b[k] = byte(v >> (8 * i))
		}
	}
}

// SignExtend returns the number of the low bits of v, of which there are 1 to 64.
func SignExtend(v uint64, bits uint64) uint64 {
	if bits == 0 || bits >= 64 {
		return v
	}
	shift := 64 - bits
	return uint64(int64(v<<shift) >> shift)
}

// Low returns the n least significant of the bytes of a number, or all.
func Low(m *arch.Machine, b []byte, n int) []byte {
	if n >= len(b) {
		return b
	}
	if IsBigEndian(m) {
		return b[len(b)-n:]
	}
	return b[:n]
}

func IsBigEndian(m *arch.Machine) bool { return m.Order == binary.BigEndian }

// CopyBits copies n bits. Bits count from the least significant one of the
// first byte on, on big-endian machines from the most significant one.
func CopyBits(m *arch.Machine, dst []byte, to uint64, src []byte, from, n uint64) {
	if to%8 == 0 && from%8 == 0 && n%8 == 0 {
		copy(dst[to/8:], src[from/8:(from+n)/8])
		return
	}
	big := IsBigEndian(m)
	for k := range n {
		s, d := (from+k)%8, (to+k)%8
		if big {
			s, d = 7-s, 7-d
		}
		bit := src[(from+k)/8] >> s & 1
		dst[(to+k)/8] = dst[(to+k)/8]&^(1<<d) | bit<<d
	}
}

// SetBits sets n bits from the bit at on.
func SetBits(b []byte, at, n uint64) {
	for k := at; k < at+n; k++ {
		b[k/8] |= 1 << (k % 8)
	}
}

// Integer returns the number that bytes are.
func Integer(m *arch.Machine, b []byte, signed bool) *big.Int {
	ordered := bytes.Clone(b)
	if !IsBigEndian(m) {
		for i, j := 0, len(ordered)-1; i < j; i, j = i+1, j-1 {
			ordered[i], ordered[j] = ordered[j], ordered[i]
		}
	}
	n := new(big.Int).SetBytes(ordered)
	if signed && len(ordered) > 0 && ordered[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(ordered))))
	}
	return n
}

// ExtendSign fills the bytes of a number above its low eight.
func ExtendSign(m *arch.Machine, b []byte) {
	for k := 8; k < len(b); k++ {
		if IsBigEndian(m) {
			b[len(b)-1-k] = 0xff
		} else {
			b[k] = 0xff
		}
	}
}
