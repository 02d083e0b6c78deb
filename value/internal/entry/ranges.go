// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"slices"
	"sort"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
)

// unitRange is a range of addresses of one unit.
type unitRange struct {
	low, high uint64
	unit      *Unit
}

// UnitAt returns the unit that covers an address, or nil.
func (r *Reader) UnitAt(pc uint64) *Unit {
	if r.reader != nil {
		if h, known := r.reader.CodeAt(pc, r.lowest()); known {
			if h == nil {
				return nil
			}
			if u := r.UnitOf(h.First); u != nil {
				return r.withCode(u)
			}
			return nil
		}
	}
	if r.ranges == nil {
		r.readRanges()
	}
	// Ranges overlap in damaged files only: a few before the first that starts above pc
	// are compared.
	k := sort.Search(len(r.ranges), func(k int) bool { return r.ranges[k].low > pc })
	for n := k - 1; n >= 0 && n >= k-16; n-- {
		if pc < r.ranges[n].high {
			return r.withCode(r.ranges[n].unit)
		}
	}
	return nil
}

// withCode returns the unit with the entries of u, after reading its root.
func (r *Reader) withCode(u *Unit) *Unit {
	u = r.Code(u)
	_, _ = r.Root(u) // a root that cannot be read leaves the language unknown
	return u
}

func (r *Reader) readRanges() {
	r.ranges = []unitRange{}
	for _, u := range r.LinkedUnits() {
		c, err := r.reader.Coverage(u.Header)
		if c.Tag != dwarf.TagCompileUnit && c.Tag != dw.TagSkeletonUnit {
			continue
		}
		list := r.withoutDropped(c.Ranges)
		if len(list) == 0 && u.Version == 2 && c.Lines && r.Index(u) == nil {
			// It has code in several ranges, which DWARF 2 cannot express.
			for _, c := range u.Names.Code {
				list = append(list, [2]uint64{c.Low, c.High})
			}
		}
		if err != nil || r.Spend(1+len(list)) != nil {
			continue
		}
		for _, span := range list {
			r.ranges = append(r.ranges, unitRange{span[0], span[1], u})
		}
	}
	slices.SortFunc(r.ranges, func(a, b unitRange) int { return cmp.Compare(a.low, b.low) })
}

// Ranges returns the addresses that an entry covers, without those of code that the linker
// dropped.
func (r *Reader) Ranges(e *object.DebugEntry) (list [][2]uint64, err error) {
	err = r.EachRange(e, func(low, high uint64) { list = append(list, [2]uint64{low, high}) })
	if err != nil {
		return nil, err
	}
	return list, nil
}

// EachRange calls visit with the ranges that Ranges returns. With an error the ranges visited
// do not count.
func (r *Reader) EachRange(e *object.DebugEntry, visit func(low, high uint64)) error {
	if !e.Has(dwarf.AttrLowpc) && !e.Has(dwarf.AttrRanges) {
		return nil
	}
	n, lowest := 0, r.lowest()
	err := r.reader.Ranges(e, func(low, high uint64) {
		if n++; low < high && low >= lowest {
			visit(low, high)
		}
	})
	return cmp.Or(err, r.Spend(n))
}

// withoutDropped removes the ranges of code that the linker dropped.
func (r *Reader) withoutDropped(list [][2]uint64) [][2]uint64 {
	lowest := r.lowest()
	return slices.DeleteFunc(list, func(r [2]uint64) bool { return r[0] >= r[1] || r[0] < lowest })
}

// lowest returns the lowest address that code can have: linkers write 0 or 1 for code that
// they dropped.
func (r *Reader) lowest() uint64 {
	if r.object.Type() == elf.ET_REL {
		return 0
	}
	return 2
}
