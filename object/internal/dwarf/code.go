// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	stdlib "debug/dwarf"
	"maps"
	"slices"
	"sort"
)

// Reader returns a Reader of the same sections, which starts with everything that d has
// read so far. Both may be used at the same time.
func (d *Data) Reader() (*Reader, error) {
	src := d.sources[0]
	if len(src.MoreInfo) > 0 || len(src.Types) > 0 {
		return NewReader(src.Sections, d.files) // units that d does not have
	}
	of := newData(src.Sections, d.files)
	of.grow(src.Sections, len(src.Info)+len(src.RngLists))
	own := &source{Sections: src.Sections, tables: maps.Clone(src.tables), starts: src.starts, units: make([]*unit, len(src.units))}
	of.sources[0] = own
	of.index, of.highs, of.whole, of.loose = d.index, d.highs, d.whole, slices.Clone(d.loose)
	d.lent, of.lent = true, true
	units := make([]unit, len(src.units)) // copies, which the Reader changes
	for i, u := range src.units {
		units[i] = *u
		units[i].source, units[i].skeleton = own, nil
		own.units[i] = &units[i]
	}
	r := newReader(of)
	r.functions = make(map[uint64]functionTable, len(d.open))
	for start, o := range d.open {
		// The functions of a split unit are in another file, which may not be open yet.
		if o.err == nil && o.code == o.unit && o.root.split.class == other {
			r.functions[start] = o.functions
		}
	}
	return r, nil
}

// Functions returns the entries of a unit's functions with code, in their order. Functions
// that start below lowest were dropped by the linker. ok is false if they have more than
// most ranges, or if the Data of this Reader had not read the unit.
func (r *Reader) Functions(u *Unit, lowest uint64, most int) (list []Offset, ok bool) {
	t, ok := r.functions[u.unit.start]
	if !ok || u.unit.source.number != 0 || len(t.ranges) > most {
		return nil, false
	}
	for k := range t.ranges {
		if f := &t.ranges[k]; f.low >= lowest {
			list = append(list, Offset(f.entry))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), true
}

// CodeAt returns the unit with code at an address, nil if there is none. It reads no
// entries. Code that starts below lowest was dropped by the linker. False means unknown:
// the Reader does not come from a Data, or units do not list all their code.
func (r *Reader) CodeAt(addr, lowest uint64) (*Unit, bool) {
	if r.functions == nil {
		return nil, false
	}
	u := r.codeAt(addr, lowest)
	if u == nil && !r.d.whole {
		r.d.indexRest()
		r.d.sortIndex()
		u = r.codeAt(addr, lowest)
	}
	if u == nil {
		return nil, len(r.d.loose) == 0
	}
	return r.of(u), true
}

func (r *Reader) codeAt(addr, lowest uint64) *unit {
	index := r.d.index
	k := sort.Search(len(index), func(k int) bool { return index[k].low > addr })
	// Ranges overlap in damaged files only.
	for n := k - 1; n >= max(0, k-16); n-- {
		if in := &index[n]; addr < in.high && in.low >= lowest {
			if u := r.d.unitStartingAt(in.unit); u != nil && r.hasCode(u, addr) {
				return u
			}
		}
	}
	return nil
}

// hasCode reports whether a unit, which the index has for an address, lists code at the
// address itself, and is not a partial unit.
func (r *Reader) hasCode(u *unit, addr uint64) bool {
	if r.d.whole {
		return isCompiled(stdlib.Tag(u.tag))
	}
	c, err := r.Coverage(r.of(u))
	return err == nil && isCompiled(c.Tag) && slices.ContainsFunc(c.Ranges, func(p [2]uint64) bool { return p[0] <= addr && addr < p[1] })
}

func isCompiled(tag stdlib.Tag) bool {
	return tag == stdlib.TagCompileUnit || tag == stdlib.TagSkeletonUnit
}

// FunctionAt returns the entry of the function that contains an address; false if there is
// none, or if the Data of this Reader had not read its unit.
func (r *Reader) FunctionAt(addr, lowest uint64) (Offset, bool) {
	u := r.codeAt(addr, lowest)
	if u == nil {
		return 0, false
	}
	t, ok := r.functions[u.start]
	if !ok {
		return 0, false
	}
	f := t.find(addr)
	if f == nil || f.low < lowest {
		return 0, false
	}
	return Offset(f.entry), true
}
