// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/leb128"
)

// Landing is a range of calls with a landing pad, as a call site of a language-specific data area is.
// Before an exception's handler gets control at Pad, the unwinder removes Arguments bytes from the stack:
// the arguments that the caller has pushed (DW_CFA_GNU_args_size).
type Landing struct {
	Start, End, Pad uint64
	Arguments       int64
}

// Pieces are what is known about a function besides its code: blocks that the compiler has moved elsewhere
// ("f.cold"), and landing pads.
type Pieces struct {
	Cold     []Range
	Landings []Landing
}

// size returns the size of all code of a function. No two pieces may overlap.
func (p *Pieces) size(start, size uint64) (uint64, error) {
	all := append([]Range{{start, start + size}}, p.Cold...)
	slices.SortFunc(all, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	total := uint64(0)
	for i, r := range all {
		if r.End <= r.Start || i > 0 && r.Start < all[i-1].End {
			return 0, fmt.Errorf("%w: [%#x, %#x) is empty or overlaps another part", ErrCode, r.Start, r.End)
		}
		total = min(total, maxUnitSize) + (r.End - r.Start)
	}
	return total, nil
}

func (p *Pieces) landings() []landing {
	if len(p.Landings) == 0 {
		return nil
	}
	list := make([]landing, len(p.Landings))
	for i, l := range p.Landings {
		list[i] = landing{l.Start, l.End, l.Pad, l.Arguments}
	}
	slices.SortStableFunc(list, func(a, b landing) int { return cmp.Compare(a.start, b.start) })
	return list
}

// landing is a range of calls with a landing pad.
type landing struct {
	start, end, pad uint64
	arguments       int64 // of Synthesize; else the row has them
}

// maxLandings bounds the call sites of a function. The largest of libLLVM has a few hundred.
const maxLandings = 1 << 16

const (
	maxCallSites = 16 * maxLandings // bytes of a call-site table that are read
	maxHeader    = 64               // bytes, more than its header can have
)

// landings reads the call-site table of a language-specific data area (Itanium C++ ABI,
// "Exception Handling Tables"; its form is that of gcc's except.cc). It appends the call
// sites with a landing pad to dst. A damaged table ends early.
func (c *checker) landings(dst []landing, f *cfi.FDE) []landing {
	if f.LSDA.Address == 0 || f.LSDA.Indirect {
		return dst
	}
	base, r, ok := c.callSites(f)
	if !ok {
		return dst
	}
	e := cfi.Encoding(r.Uint8())
	size := r.ULEB128()
	table := f.LSDA.Address + r.Off
	if r.Err != nil || !c.spend(int(min(size, maxCallSites)/bytesPerJob)) {
		return dst
	}
	c.sites = c.read(c.sites, table, min(size, maxCallSites))
	r = leb128.Cursor{Data: c.sites, End: uint64(len(c.sites))}
	for n := 0; r.Off < r.End && r.Err == nil && n < maxLandings && c.spend(1); n++ {
		start, length, pad := pointer(&r, e, table), pointer(&r, e, table), pointer(&r, e, table)
		r.ULEB128()
		if r.Err == nil && pad != 0 {
			dst = append(dst, landing{start: f.Start + start, end: f.Start + start + length, pad: base + pad})
		}
	}
	byStart := func(a, b landing) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(dst, byStart) { // compilers sort them
		slices.SortStableFunc(dst, byStart)
	}
	return dst
}

// Landings returns the landing pads that an FDE describes, in its language-specific data area and rows.
func (s *Synthesizer) Landings(f *cfi.FDE) []Landing {
	c := &s.checker
	c.setBudget(f.End - f.Start)
	c.rules = c.rules[:0]
	found := c.landings(nil, f)
	if len(found) == 0 {
		return nil
	}
	rows := c.rows(nil, f)
	list := make([]Landing, len(found))
	for i, l := range found {
		list[i] = Landing{Start: l.start, End: l.end, Pad: l.pad}
		if n := rowAt(rows, l.start, -1); n >= 0 {
			list[i].Arguments = rows[n].arguments
		}
	}
	return list
}

// landingAt returns the landing pad of a call that ends at next, nil if it has none. The list is sorted.
func landingAt(list []landing, next uint64) *landing {
	n := sort.Search(len(list), func(i int) bool { return list[i].start > next-1 })
	if n > 0 && next-1 < list[n-1].end {
		return &list[n-1]
	}
	return nil
}

// callSites reads the header of a language-specific data area up to its call-site table. It
// returns the base of the landing pads.
func (c *checker) callSites(f *cfi.FDE) (base uint64, r leb128.Cursor, ok bool) {
	c.sites = c.read(c.sites, f.LSDA.Address, maxHeader)
	r = leb128.Cursor{Data: c.sites, End: uint64(len(c.sites))}
	base = f.Start
	if e := cfi.Encoding(r.Uint8()); e != cfi.EncOmit {
		base = pointer(&r, e, f.LSDA.Address)
	}
	if e := cfi.Encoding(r.Uint8()); e != cfi.EncOmit {
		r.ULEB128()
	}
	return base, r, r.Err == nil
}

// read reads up to size bytes at an address into a buffer. It returns fewer if not all can be
// read.
func (c *checker) read(buffer []byte, address, size uint64) []byte {
	buffer = resize(buffer, int(size))
	for len(buffer) > 0 && c.memory.ReadMemory(buffer, address) != nil {
		buffer = buffer[:len(buffer)/2]
	}
	return buffer
}

var errEncoding = errors.New("encoding that call-site tables do not have")

// pointer reads a number in one of the forms that call-site tables have, from data at an
// address.
func pointer(r *leb128.Cursor, e cfi.Encoding, address uint64) uint64 {
	at := address + r.Off
	var v uint64
	switch e & 0x0f {
	case cfi.EncULEB128:
		v = r.ULEB128()
	case cfi.EncUdata2:
		v = r.Uint(2)
	case cfi.EncUdata4:
		v = r.Uint(4)
	case cfi.EncSdata4:
		v = uint64(r.Int(4))
	case cfi.EncUdata8, cfi.EncSdata8, cfi.EncAbsptr:
		v = r.Uint(8)
	default:
		r.Fail(errEncoding)
	}
	switch e &^ 0x0f {
	case 0:
	case cfi.EncPCRel:
		v += at
	default:
		r.Fail(errEncoding)
	}
	return v
}
