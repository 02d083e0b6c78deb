// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"errors"
	"strconv"

	"github.com/clewdev/clew/object"
)

// maxSet is how many values a set can have that is read.
const maxSet = 1 << 12

// readSet reads of which values a set is: those of its type from the lower bound on, of
// which each has a bit (DWARF 5 §5.10).
func (t *Type) readSet(e *object.DebugEntry) {
	i := t.info
	t.elem = i.elemOf(e)
	upper, known := int64(0), false
	if off, ok := i.typeReference(e); ok {
		if of, err := i.read(off); err == nil {
			lower, _ := of.Number(dwarf.AttrLowerBound)
			t.lower = lower
			upper, known = of.Number(dwarf.AttrUpperBound)
		}
	}
	t.count = min(8*t.size, maxSet)
	if known && upper >= t.lower {
		t.count = min(t.count, uint64(upper-t.lower)+1)
	}
}

// literal writes a character as an expression of a language has it.
func (w *printing) literal(l Language, n uint64) {
	switch {
	case l == Pascal && n == '\'':
		w.add("''''")
	case l == Pascal && (n < ' ' || n >= 0x7f):
		w.add("#" + strconv.FormatUint(n, 10))
	default:
		w.add("'")
		w.appendChar(n, 1, '\'')
		w.add("'")
	}
}

// set writes a set as gdb does: those next to each other as a range.
func (w *printing) set(v Value, t *Type) {
	b, err := v.Bytes()
	switch {
	case errors.Is(err, ErrOptimizedOut):
		w.add("<" + optimizedOut + ">")
		return
	case err != nil:
		w.fail(err)
		return
	}
	open, end := "{", "}"
	if t.language == Pascal {
		open, end = "[", "]"
	}
	has := func(k uint64) bool {
		bit := k % 8
		if isBigEndian(t.machine) {
			bit = 7 - bit
		}
		return k < t.count && k/8 < uint64(len(b)) && b[k/8]>>bit&1 != 0
	}
	if w.Format != 0 && w.Format != 's' {
		w.formatted(v, t, b)
		return
	}
	elem := t.Elem()
	member := func(k uint64) {
		n := uint64(t.lower) + k
		if elem.Strip().kind == Char {
			w.literal(t.language, n)
			return
		}
		w.value(v.number(elem, n), 0, false)
	}
	w.add(open)
	first := true
	for k := uint64(0); k < t.count; k++ {
		if !has(k) {
			continue
		}
		if !first {
			w.add(", ")
		}
		first = false
		member(k)
		if has(k + 1) {
			for has(k + 1) {
				k++
			}
			w.add("..")
			member(k)
		}
	}
	w.add(end)
}
