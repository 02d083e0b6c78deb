// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"bytes"
	"fmt"
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
		w.formatted(t, b)
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

func (w *printing) array(v value.Value, t *value.Type, depth int) {
	elem := t.Elem()
	size := elem.Size()
	n, counted := t.Len()
	cut := false // the array is longer than the part that is read
	if short, ok := v.Beginning(); ok {
		v, t, cut = short, short.Type(), true
		n, _ = t.Len()
	}
	open, end := "{", "}"
	if t.Language() == value.Rust {
		open, end = "[", "]"
	}
	if n == 0 && counted && t.Language() == value.Rust {
		w.add("[]")
		return
	}
	if size == 0 || n == 0 {
		// A flexible array member.
		if address, ok := v.Address(); ok && t.Language() == value.Rust {
			w.address(address, true)
		} else if ok && (w.Format == 0 || !counted && n == 0) {
			w.pointer(v, value.PointerTo(elem), address)
		} else if w.Format == 0 {
			w.add("0x0") // the address that gdb prints for a value without one
		} else {
			w.add("{}")
		}
		return
	}
	if _, ok := textual(elem); ok && t.Vector() {
		// The elements of a vector register are numbers, not text.
		numbers := value.ArrayIn(t.Language(), value.IntOf(t.Machine(), "", int(size), elem.Signed()), n)
		w.array(v.As(numbers), numbers, depth)
		return
	}
	whole, err := v.Bytes()
	if t.Packed() && err == nil {
		err = value.ErrNoAddress // elements begin within a byte
	}
	if prefix, ok := textual(elem); ok && err == nil && (w.Format == 0 || w.Format == 's') {
		w.appendString(whole, int(size), prefix, cut)
		return
	}
	if depth >= w.depth {
		w.add(open + "..." + end)
		return
	}
	w.add(open)
	w.elementsOf(v, t, depth)
	if cut {
		w.add("...")
	}
	w.add(end)
}

// elementsOf writes the elements of an array, and successive equal ones once with their number.
func (w *printing) elementsOf(v value.Value, t *value.Type, depth int) {
	count, _ := t.Len()
	size, n := t.Elem().Size(), min(count, value.MaxSize) // elements without bytes have no other limit
	whole, err := v.Bytes()
	if t.Packed() && err == nil {
		err = value.ErrNoAddress // elements begin within a byte
	}
	same := func(i, j uint64) bool {
		if err == nil {
			return bytes.Equal(whole[i*size:][:size], whole[j*size:][:size])
		}
		return elementAt(v, t, i).SameBits(elementAt(v, t, j))
	}
	run := uint64(w.repeats) // the shortest that is written once
	if t.Language() == value.Ada {
		run++ // as in gdb
	}
	shown := 0
	i := uint64(0)
	for ; i < n && shown < w.elements && len(w.text) < maxText; i++ {
		if i > 0 {
			w.add(", ")
		}
		next := i + 1
		for next < n && same(i, next) {
			next++
		}
		w.value(elementAt(v, t, i), depth+1, false)
		if reps := next - i; reps >= run {
			w.add(fmt.Sprintf(" <repeats %d times>", reps))
			i = next - 1
			shown += w.repeats
		} else {
			shown++
		}
	}
	if i < count {
		w.add("...")
	}
}

// elementAt returns element i of an array, from 0.
func elementAt(v value.Value, t *value.Type, i uint64) value.Value {
	return v.Index(int64(i) + t.Lower())
}
