// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/clewdev/clew/internal/dw"
)

// functionTable is the functions of a unit.
type functionTable struct {
	ranges []functionRange // by low
	lists  bool            // a variable has a list of locations

	scattered bool // something has code in several places

	complete []bool // of function i: it has an entry for each of its tail calls

	parts map[int32][]int32 // the indexes in ranges, in their order, of functions with several
}

// functionRange is one range of a function's code.
type functionRange struct {
	low, high uint64
	entry     uint64 // offset of the function in .debug_info
	function  int32
	part      int32 // how many ranges come before in the function's list
}

// grown returns list with capacity for one more element; without it the capacity doubles.
// Append grows large lists by a quarter and copies them four times as often. Memory that
// stays unused is not touched.
func grown[T any](list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	more := make([]T, len(list), max(2*len(list), 4))
	copy(more, list)
	return more
}

// find returns the function at addr, nil where there is none.
func (t *functionTable) find(addr uint64) *functionRange {
	i := sort.Search(len(t.ranges), func(i int) bool { return t.ranges[i].low > addr }) - 1
	// A nested function lies within another one's range on some machines.
	for tries := 0; i >= 0 && tries < 64; i, tries = i-1, tries+1 {
		if addr < t.ranges[i].high {
			return &t.ranges[i]
		}
	}
	return nil
}

// entry returns the first instruction of the function that r is a range of.
func (t *functionTable) entry(r *functionRange) uint64 {
	if list := t.parts[r.function]; len(list) > 0 {
		return t.ranges[list[0]].low
	}
	return r.low
}

// isWithoutCode reports whether no child of an entry with a tag has code.
func isWithoutCode(tag uint32) bool {
	switch tag {
	case dw.TagFormalParameter, dw.TagArrayType, dw.TagEnumerationType, dw.TagSubroutineType, dw.TagVariable, dw.TagCallSite, dw.TagGNUCallSite:
		return true
	}
	return false
}

// matters reports whether readFunctions or readBody needs attributes of an entry.
func (a *abbreviation) matters() bool {
	switch a.tag {
	case dw.TagSubprogram, dw.TagInlinedSubroutine, dw.TagCallSite, dw.TagGNUCallSite, dw.TagLexicalBlock:
		return true
	}
	return a.children && isWithoutCode(a.tag)
}

// readFunctions returns the functions of a unit. With an error come those before it.
func (d *Data) readFunctions(u *unit, r *root) (t functionTable, err error) {
	table, err := d.abbreviationsOf(u)
	if err != nil {
		return t, err
	}
	t.ranges = d.functionBuffer[:0]
	c := d.entryCursor(u, u.first)
	var within []int32 // the function that each open entry lies in
	function := int32(-1)
	for c.remain() > 0 && c.Err == nil && err == nil {
		offset := u.offset(c.Off)
		code := c.ULEB128()
		if code == 0 {
			if len(within) == 0 {
				break
			}
			function = within[len(within)-1]
			within = within[:len(within)-1]
			if len(within) == 0 {
				break // the first entry has ended
			}
			continue
		}
		a, ok := table.find(code)
		if !ok {
			c.fail("abbreviation %d is not declared", code)
			break
		}
		attributes := table.of(a)
		if d.steps -= 1 + len(attributes); d.steps < 0 {
			err = errTooMuch
			break
		}
		t.lists = t.lists || u.version <= a.lists
		if !a.matters() {
			if u.pass(&c, table, a); a.children {
				within = append(within, function)
			} else if len(within) == 0 {
				break
			}
			continue
		}
		var e entry
		for i := range attributes {
			e.set(attributes[i].name, u.read(&c, attributes[i]))
		}
		if c.Err != nil {
			break
		}
		inner := function
		switch a.tag {
		case dw.TagSubprogram:
			inner, err = d.addFunction(&t, u, r, &e, offset)
		case dw.TagInlinedSubroutine, dw.TagLexicalBlock:
			if !t.scattered && e.pc.ranges.isList() && (function >= 0 || a.tag == dw.TagLexicalBlock) {
				t.scattered = d.isScattered(u, r, &e)
			}
		}
		if !a.children {
			if len(within) == 0 {
				break
			}
			continue
		}
		if next := e.sibling; next.class == reference && isWithoutCode(a.tag) && next.u > offset && u.holds(next.u, c.Off) {
			c.Off = u.local(next.u)
			continue
		}
		within = append(within, function)
		function = inner
	}
	if err == nil {
		err = c.Err
	}
	d.functionBuffer, t.ranges = t.ranges, slices.Clone(t.ranges)
	t.sort()
	return t, err
}

// addFunction adds a function with the entry at an offset to t, and returns its number; -1
// if it has no code. An error ends the reading of the unit.
func (d *Data) addFunction(t *functionTable, u *unit, r *root, e *entry, offset uint64) (number int32, err error) {
	number = -1
	next, part := int32(len(t.complete)), int32(0)
	damage := d.ranges(u, r, e.pc, func(low, high uint64) bool {
		number = next
		t.ranges = append(grown(t.ranges), functionRange{low, high, offset, next, part})
		t.scattered = t.scattered || part > 0
		part++
		if d.records--; d.records < 0 {
			err = errTooMuch
		}
		return err == nil
	})
	if number >= 0 {
		t.complete = append(t.complete, e.complete)
	}
	if damage != nil && err == nil {
		d.note(damage) // costs that entry only
	}
	return number, err
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

// entry has the attributes of an entry that are needed.
type entry struct {
	pc                             span
	sibling                        value
	callFile, callLine, callColumn value

	complete              bool // the function's tail calls all have an entry
	returnPC, callPC      value
	callOrigin, origin    value
	tail                  bool
	declaration, external bool
}

func (e *entry) set(name uint32, v value) {
	switch name {
	case dw.AttrSibling:
		e.sibling = v
	case dw.AttrLowPC:
		e.pc.low = v
	case dw.AttrHighPC:
		e.pc.high = v
	case dw.AttrRanges:
		e.pc.ranges = v
	case dw.AttrCallFile:
		e.callFile = v
	case dw.AttrCallLine:
		e.callLine = v
	case dw.AttrCallColumn:
		e.callColumn = v
	case dw.AttrCallAllCalls, dw.AttrCallAllTailCalls, dw.AttrGNUAllCallSites, dw.AttrGNUAllTailCallSites:
		e.complete = e.complete || v.isSet()
	case dw.AttrCallReturnPC:
		e.returnPC = v
	case dw.AttrCallPC:
		e.callPC = v
	case dw.AttrCallOrigin:
		e.callOrigin = v
	case dw.AttrAbstractOrigin:
		e.origin = v
	case dw.AttrDeclaration:
		e.declaration = v.isSet()
	case dw.AttrExternal:
		e.external = v.isSet()
	case dw.AttrCallTailCall, dw.AttrGNUTailCall:
		e.tail = v.isSet()
	}
}

// entryAt reads one entry.
func (d *Data) entryAt(u *unit, offset uint64) (e entry, err error) {
	table, err := d.abbreviationsOf(u)
	if err != nil {
		return e, err
	}
	c := d.entryCursor(u, offset)
	a, ok := table.find(c.ULEB128())
	if !ok {
		return e, fmt.Errorf("entry at %#x: its abbreviation is not declared", offset)
	}
	attributes := table.of(a)
	if d.steps -= 1 + len(attributes); d.steps < 0 {
		return e, errTooMuch
	}
	for i := range attributes {
		e.set(attributes[i].name, u.read(&c, attributes[i]))
	}
	return e, c.Err
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
