// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package number

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"slices"

	"github.com/clewdev/clew/arch"
)

// Uint returns the number in up to 8 bytes, and 0 for more.
func Uint(order binary.ByteOrder, b []byte) (v uint64) {
	switch {
	case len(b) == 8:
		return order.Uint64(b)
	case len(b) == 4:
		return uint64(order.Uint32(b))
	case len(b) > 8:
		return 0
	case order == binary.BigEndian:
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

// PutUint writes v to b, of any length: its low bytes, or zeros above it.
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

// SignExtend returns the signed number in the low 1 to 64 bits of v.
func SignExtend(v uint64, bits uint64) uint64 {
	if bits == 0 || bits >= 64 {
		return v
	}
	shift := 64 - bits
	return uint64(int64(v<<shift) >> shift)
}

// Low returns the n least significant bytes of a number, or all if it has fewer.
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

// CopyBits copies n bits. Bits are counted from the least significant one of the first byte, on
// big-endian machines from the most significant one.
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

// SetBits sets n bits, counted from the least significant one of each byte.
func SetBits(b []byte, at, n uint64) {
	for k := at; k < at+n; k++ {
		b[k/8] |= 1 << (k % 8)
	}
}

// Integer returns the number in bytes.
func Integer(m *arch.Machine, b []byte, signed bool) *big.Int {
	ordered := bytes.Clone(b)
	if !IsBigEndian(m) {
		slices.Reverse(ordered)
	}
	n := new(big.Int).SetBytes(ordered)
	if signed && len(ordered) > 0 && ordered[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(ordered))))
	}
	return n
}

// ExtendSign sets the bytes of a negative number above its low eight.
func ExtendSign(m *arch.Machine, b []byte) {
	for k := 8; k < len(b); k++ {
		if IsBigEndian(m) {
			b[len(b)-1-k] = 0xff
		} else {
			b[k] = 0xff
		}
	}
}
