// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"strconv"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
)

// literal writes a character in the syntax of a language.
func (w *printing) literal(l value.Language, n uint64) {
	switch {
	case l == value.Pascal && n == '\'':
		w.add("''''")
	case l == value.Pascal && (n < ' ' || n >= 0x7f):
		w.add("#" + strconv.FormatUint(n, 10))
	default:
		w.add("'")
		w.appendChar(n, 1, '\'')
		w.add("'")
	}
}

// set writes a set as gdb does: successive members as a range.
func (w *printing) set(v value.Value, t *value.Type) {
	b, err := v.Bytes()
	if err != nil {
		w.unreadable(err)
		return
	}
	open, end := "{", "}"
	if t.Language() == value.Pascal {
		open, end = "[", "]"
	}
	has := func(k uint64) bool {
		bit := k % 8
		if number.IsBigEndian(t.Machine()) {
			bit = 7 - bit
		}
		return k < count(t) && k/8 < uint64(len(b)) && b[k/8]>>bit&1 != 0
	}
	if w.Format != 0 && w.Format != 's' {
		w.formatted(v, t, b)
		return
	}
	elem := t.Elem()
	member := func(k uint64) {
		n := uint64(t.Lower()) + k
		if elem.Strip().Kind() == value.Char {
			w.literal(t.Language(), n)
			return
		}
		w.value(value.IntValue(elem, n, v.Frame()), 0, false)
	}
	w.add(open)
	first := true
	for k := uint64(0); k < count(t); k++ {
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
