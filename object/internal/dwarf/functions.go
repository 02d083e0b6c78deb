// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"cmp"
	"slices"
	"sort"

	"github.com/clewdev/clew/internal/dw"
)

// functionTable is the functions of a unit.
type functionTable struct {
	ranges []functionRange // by low
	lists  bool            // a variable has a list of locations

	scattered bool // a function, block or inlined call has several ranges

	complete []bool // by number of the function: it has an entry for each of its tail calls

	parts map[int32][]int32 // of functions with several ranges: their indexes in ranges
}

// functionRange is one range of a function's code.
type functionRange struct {
	low, high uint64
	entry     uint64 // offset of the function in .debug_info
	function  int32
	part      int32 // the number of ranges before it in the function's list
}

// grown returns list with capacity for one more element. It doubles the capacity if
// necessary: append grows large lists by a quarter, and copies them four times as often.
func grown[T any](list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return append(make([]T, 0, max(2*len(list), 4)), list...)
}

// find returns the function at addr, nil if there is none.
func (t *functionTable) find(addr uint64) *functionRange {
	i := sort.Search(len(t.ranges), func(i int) bool { return t.ranges[i].low > addr }) - 1
	// On some machines a nested function is inside another one's range.
	for tries := 0; i >= 0 && tries < 64; i, tries = i-1, tries+1 {
		if addr < t.ranges[i].high {
			return &t.ranges[i]
		}
	}
	return nil
}

// entry returns the first instruction of the function with the range r.
func (t *functionTable) entry(r *functionRange) uint64 {
	if list := t.parts[r.function]; len(list) > 0 {
		return t.ranges[list[0]].low
	}
	return r.low
}

// matters reports whether readFunctions or readBody needs attributes of an entry.
func (a *abbreviation) matters() bool {
	switch a.tag {
	case dw.TagSubprogram, dw.TagInlinedSubroutine, dw.TagCallSite, dw.TagGNUCallSite, dw.TagLexicalBlock:
		return true
	}
	return a.children && isWithoutCode(a.tag)
}

// readFunctions returns the functions of a unit. With an error come the functions before it.
func (d *Data) readFunctions(u *unit, r *root) (t functionTable, err error) {
	w, err := d.walk(u, u.first)
	if err != nil {
		return t, err
	}
	t.ranges = d.functionBuffer[:0]
	var around []int32 // the function that contains each open entry
	function := int32(-1)
	for w.next() {
		if w.a == nil {
			function = around[w.depth]
			continue
		}
		t.lists = t.lists || u.version <= w.a.lists
		inner, sibling := function, value{}
		if !w.a.matters() {
			w.pass()
		} else {
			var e entry
			if w.read(&e); w.c.Err != nil {
				break
			}
			sibling = e.sibling
			switch w.a.tag {
			case dw.TagSubprogram:
				inner = w.addFunction(&t, r, &e)
			case dw.TagInlinedSubroutine, dw.TagLexicalBlock:
				if !t.scattered && e.pc.ranges.isList() && (function >= 0 || w.a.tag == dw.TagLexicalBlock) {
					t.scattered = d.isScattered(u, r, &e)
				}
			}
		}
		if w.descend(sibling) {
			around = append(around[:w.depth-1], function)
			function = inner
		}
	}
	d.functionBuffer, t.ranges = t.ranges, slices.Clone(t.ranges)
	t.sort()
	return t, w.c.Err
}

// addFunction adds the function of the current entry to t, and returns its number; -1 if
// it has no code.
func (w *walker) addFunction(t *functionTable, r *root, e *entry) (number int32) {
	number = -1
	next, part := int32(len(t.complete)), int32(0)
	damage := w.ranges(w.unit, r, e.pc, func(low, high uint64) bool {
		number = next
		t.ranges = append(grown(t.ranges), functionRange{low, high, w.offset, next, part})
		t.scattered = t.scattered || part > 0
		part++
		return w.record()
	})
	if number >= 0 {
		t.complete = append(t.complete, e.complete)
	}
	if damage != nil && w.c.Err == nil {
		w.note(damage) // costs that entry only
	}
	return number
}

// isScattered reports whether an entry has several ranges.
func (d *Data) isScattered(u *unit, r *root, e *entry) bool {
	parts := 0
	err := d.ranges(u, r, e.pc, func(low, high uint64) bool {
		parts++
		return parts < 2
	})
	if err != nil {
		d.note(err) // costs that entry only
	}
	return parts > 1
}

// number returns a constant that fits in 31 bits, else 0.
func number(v value) uint32 {
	if v.class != constant || v.u >= 1<<31 {
		return 0
	}
	return uint32(v.u)
}

func (t *functionTable) sort() {
	slices.SortStableFunc(t.ranges, func(a, b functionRange) int { return cmp.Compare(a.low, b.low) })
	for i := range t.ranges {
		if r := &t.ranges[i]; r.part > 0 {
			if t.parts == nil {
				t.parts = make(map[int32][]int32)
			}
			t.parts[r.function] = nil
		}
	}
	for i := range t.ranges {
		r := &t.ranges[i]
		if list, ok := t.parts[r.function]; ok {
			t.parts[r.function] = append(list, int32(i))
		}
	}
	for _, list := range t.parts {
		slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(t.ranges[a].part, t.ranges[b].part) })
	}
}
