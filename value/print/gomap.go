// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"errors"
	"iter"
	"strconv"

	"github.com/clewdev/clew/value"
)

// maxGoGroups bounds how many groups of slots of a map are read: a map whose entries were
// mostly deleted has many empty groups.
const maxGoGroups = 1 << 14

// goMap writes a map.
func (w *printing) goMap(v value.Value, t *value.Type, bare bool, depth int) {
	w.goPointed(v, t, bare, func(m value.Value) {
		length := m.FieldByName("used") // internal/runtime/maps.Map, since Go 1.24
		if length.Err() != nil {
			length = m.FieldByName("count") // runtime.hmap
		}
		n, err := length.Uint()
		switch {
		case err != nil:
			w.fail(err)
		case n > 0 && depth >= w.goLimit():
			w.add("[...]")
		default:
			w.goPairs(m, t, n, depth)
		}
	})
}

// goPairs writes the first of a map's n keys and values.
func (w *printing) goPairs(m value.Value, t *value.Type, n uint64, depth int) {
	key, elem := t.GoMapTypes()
	limit := min(n, uint64(w.elements))
	if depth > 0 {
		limit = min(limit, maxGoInner)
	}
	w.add("[")
	shown := uint64(0)
	for k, e := range goEntries(m) {
		if shown == limit || len(w.text) >= maxText {
			break
		}
		if shown > 0 {
			w.add(", ")
		}
		shown++
		w.goElement(goHeld(k, key), true, depth+1)
		w.add(": ")
		w.goElement(goHeld(e, elem), true, depth+1)
	}
	if shown < n {
		if shown > 0 {
			w.add(", ")
		}
		w.add("...+" + strconv.FormatUint(n-shown, 10) + " more")
	}
	w.add("]")
}

// goHeld returns a key or a value of a map. A map contains the address of one that is larger
// than 128 bytes.
func goHeld(v value.Value, t *value.Type) value.Value {
	if t == nil || v.Type() == nil {
		return v
	}
	if held := v.Type().Strip(); held.Kind() == value.Pointer && t.Strip().Kind() != value.Pointer && t.Size() > uint64(t.Machine().AddressSize) {
		if at, err := v.Uint(); err == nil {
			return value.At(t, at, v.Frame())
		}
	}
	return v
}

// goEntries yields the keys and values of a map, in the order of memory.
func goEntries(m value.Value) iter.Seq2[value.Value, value.Value] {
	return func(yield func(key, elem value.Value) bool) {
		left := maxGoGroups
		if dir := m.FieldByName("dirPtr"); !errors.Is(dir.Err(), value.ErrNotFound) {
			goTables(m, dir, &left, yield)
			return
		}
		b, err := m.FieldByName("B").Uint()
		if err != nil || b > 40 {
			return
		}
		// While a map grows, the entries that were not moved yet are in the old buckets.
		if !goBuckets(m.FieldByName("buckets"), 1<<b, &left, yield) || b == 0 {
			return
		}
		if old := m.FieldByName("oldbuckets"); old.Err() == nil {
			// Half as many, or as many if the map had too many overflow buckets.
			n := uint64(1) << (b - 1)
			if flags, err := m.FieldByName("flags").Uint(); err == nil && flags&sameSizeGrow != 0 {
				n = 1 << b
			}
			goBuckets(old, n, &left, yield)
		}
	}
}

// Constants of runtime.hmap before Go 1.24: the least byte of a bucket's tophash whose slot is
// in use, and a bit of the flags.
const (
	minTopHash   = 5
	sameSizeGrow = 8
)

// goBuckets yields the entries of n buckets at the target of a pointer, and of their overflow
// buckets.
func goBuckets(p value.Value, n uint64, left *int, yield func(key, elem value.Value) bool) bool {
	if at, err := p.Uint(); err != nil || at == 0 {
		return err == nil
	}
	for i := range n {
		for bucket := p.Index(int64(i)); ; {
			if *left--; *left < 0 {
				return false
			}
			places, err := bucket.FieldByName("tophash").Bytes()
			if err != nil {
				return false
			}
			keys, values := bucket.FieldByName("keys"), bucket.FieldByName("values")
			for k, top := range places {
				if top >= minTopHash && !yield(keys.Index(int64(k)), values.Index(int64(k))) {
					return false
				}
			}
			next := bucket.FieldByName("overflow")
			if at, err := next.Uint(); err != nil || at == 0 {
				break
			}
			bucket = next.Deref()
		}
	}
	return true
}

// goTables yields the entries of the tables of a directory. A map of up to eight entries has
// one group instead of a directory.
func goTables(m value.Value, dir value.Value, left *int, yield func(key, elem value.Value) bool) {
	if dir.Type() == nil {
		return
	}
	table := dir.Type().Strip().Elem().Strip().Elem() // **table
	n, err := m.FieldByName("dirLen").Uint()
	at, atErr := dir.Uint()
	if err != nil || atErr != nil || at == 0 {
		return
	}
	if n == 0 {
		data := value.At(table, 0, m.Frame()).FieldByName("groups").FieldByName("data")
		if data.Type() != nil && data.Type().Strip().Kind() == value.Pointer {
			goGroup(value.At(data.Type().Strip().Elem(), at, m.Frame()), left, yield)
		}
		return
	}
	previous := uint64(0)
	for i := range n {
		entry := dir.Index(int64(i))
		at, err := entry.Uint()
		if err != nil {
			return
		}
		if *left--; *left < 0 {
			return
		}
		if at == previous { // a table can have several successive slots of the directory
			continue
		}
		previous = at
		groups := entry.Deref().FieldByName("groups")
		mask, err := groups.FieldByName("lengthMask").Uint()
		if err != nil {
			return
		}
		data := groups.FieldByName("data")
		for k := uint64(0); k <= mask; k++ {
			if !goGroup(data.Index(int64(k)), left, yield) {
				return
			}
		}
	}
}

// goGroup yields the entries of a group of eight slots. Each slot has a control byte, whose
// highest bit is set if the slot is empty.
func goGroup(g value.Value, left *int, yield func(key, elem value.Value) bool) bool {
	if *left--; *left < 0 {
		return false
	}
	control, err := g.FieldByName("ctrl").Uint()
	if err != nil {
		return false
	}
	slots := g.FieldByName("slots")
	for k := range 8 {
		if control>>(8*k)&0x80 != 0 {
			continue
		}
		slot := slots.Index(int64(k))
		if !yield(slot.FieldByName("key"), slot.FieldByName("elem")) {
			return false
		}
	}
	return true
}
