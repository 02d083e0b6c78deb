// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/leb128"
)

// landing is a range of calls with a landing pad.
type landing struct{ start, end, pad uint64 }

// maxLandings bounds the call sites of a function. The largest of libLLVM has a few hundred.
const maxLandings = 1 << 16

// landings reads the call-site table of a language-specific data area (Itanium C++ ABI,
// "Exception Handling Tables"; its form is that of gcc's except.cc). It appends the call
// sites with a landing pad to dst. A damaged table ends early.
func (c *checker) landings(dst []landing, f *cfi.FDE) []landing {
	if f.LSDA.Address == 0 || f.LSDA.Indirect {
		return dst
	}
	r := byteReader{memory: c.memory, at: f.LSDA.Address}
	base := f.Start
	if e := cfi.Encoding(r.byte()); e != cfi.EncOmit {
		base = r.pointer(e)
	}
	if e := cfi.Encoding(r.byte()); e != cfi.EncOmit {
		r.uleb()
	}
	e := cfi.Encoding(r.byte())
	size := r.uleb()
	end := r.at + size
	for n := 0; r.at < end && !r.failed && n < maxLandings && c.spend(1); n++ {
		start, length, pad := r.pointer(e), r.pointer(e), r.pointer(e)
		r.uleb()
		if !r.failed && pad != 0 && r.at <= end {
			dst = append(dst, landing{f.Start + start, f.Start + start + length, base + pad})
		}
	}
	byStart := func(a, b landing) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(dst, byStart) { // compilers sort them
		slices.SortStableFunc(dst, byStart)
	}
	return dst
}

// landingAt returns the landing pad of a call that ends at next. The list is sorted.
func landingAt(list []landing, next uint64) (uint64, bool) {
	n := sort.Search(len(list), func(i int) bool { return list[i].start > next-1 })
	if n > 0 && next-1 < list[n-1].end {
		return list[n-1].pad, true
	}
	return 0, false
}

// byteReader reads memory byte by byte, in blocks.
type byteReader struct {
	memory cfi.Memory
	at     uint64
	failed bool
	block  [64]byte
	filled []byte // the bytes of block from at on
}

func (r *byteReader) byte() byte {
	if len(r.filled) == 0 && !r.failed {
		r.filled = r.block[:]
		for r.memory.ReadMemory(r.filled, r.at) != nil {
			if len(r.filled) == 1 {
				r.failed, r.filled = true, nil
				break
			}
			r.filled = r.filled[:len(r.filled)/2]
		}
	}
	if r.failed {
		return 0
	}
	b := r.filled[0]
	r.filled = r.filled[1:]
	r.at++
	return b
}

func (r *byteReader) uleb() uint64 {
	var b [leb128.MaxSize]byte
	for n := range b {
		if b[n] = r.byte(); b[n]&0x80 == 0 {
			v, _, err := leb128.Uint(b[:n+1])
			r.failed = r.failed || err != nil
			return v
		}
	}
	r.failed = true
	return 0
}

// pointer reads a number in one of the forms that call-site tables have.
func (r *byteReader) pointer(e cfi.Encoding) uint64 {
	at := r.at
	var v uint64
	switch e & 0x0f {
	case cfi.EncULEB128:
		v = r.uleb()
	case cfi.EncUdata2:
		v = r.fixed(2)
	case cfi.EncUdata4:
		v = r.fixed(4)
	case cfi.EncSdata4:
		v = uint64(int64(int32(r.fixed(4))))
	case cfi.EncUdata8, cfi.EncSdata8, cfi.EncAbsptr:
		v = r.fixed(8)
	default:
		r.failed = true
	}
	switch e &^ 0x0f {
	case 0:
	case cfi.EncPCRel:
		v += at
	default:
		r.failed = true
	}
	return v
}

func (r *byteReader) fixed(n int) uint64 {
	var b [8]byte
	for i := range n {
		b[i] = r.byte()
	}
	return binary.LittleEndian.Uint64(b[:])
}
