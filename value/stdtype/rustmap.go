// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"iter"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// rustHashTable presents a HashMap or a HashSet. Each slot has a control byte, whose highest bit is
// set if the slot is empty. The slots precede the control bytes in reverse order.
func rustHashTable(m instance) print.Presentation {
	table := within(m.Value, "table")
	var elem *value.Type
	if table.Type() != nil {
		elem = argument(table.Type(), 0)
	}
	control := number(within(table, "ctrl"), "pointer")
	mask, length := number(table, "bucket_mask"), number(table, "items")
	rejectIf(elem == nil || mask&(mask+1) != 0 || length > mask+1)
	isMap := m.template == "HashMap"
	return sized(m.template, length, func(yield func(print.Child) bool) {
		found := uint64(0)
		for at := uint64(0); at <= mask && found < length; {
			var bytes [4096]byte
			list := bytes[:min(uint64(len(bytes)), mask+1-at)]
			if err := m.Frame().ReadMemory(list, control+at); err != nil {
				yield(print.Child{Value: value.At(elem, control+at, m.Frame())})
				return
			}
			for k, b := range list {
				if b&0x80 != 0 {
					continue
				}
				found++
				slot := value.At(elem, control-(at+uint64(k)+1)*elem.Size(), m.Frame())
				c := print.Child{Value: slot.FieldByName("__0")}
				if isMap {
					c.Key, c.Value = c.Value, slot.FieldByName("__1")
				}
				if found > length || !yield(c) {
					return
				}
			}
			at += uint64(len(list))
			if !yield(print.Child{Skip: true}) {
				return
			}
		}
	})
}

// maxHeight bounds the height of a B-tree.
const maxHeight = 32

// rustTree presents a BTreeMap or a BTreeSet.
func rustTree(m instance) print.Presentation {
	length := number(m.Value, "length")
	root := within(m.Value, "root")
	rejectIf(isMissing(root))
	counted := func(list iter.Seq[print.Child]) print.Presentation { // the length has the format of the elements
		usize := value.IntOf(m.Type().Machine(), "usize", m.Type().Machine().AddressSize, false)
		return print.Presentation{Text: m.template + "(size=", Value: value.IntValue(usize, length, nil), After: ")", Children: list}
	}
	if length == 0 {
		return counted(nil)
	}
	if name, form, ok := root.Variant(); ok && name == "Some" {
		root = form
	}
	height := number(root, "height")
	leaf := bare(within(root, "node"))
	rejectIf(height > maxHeight || leaf.Type() == nil || leaf.Type().Strip().Kind() != value.Pointer)
	return counted(func(yield func(print.Child) bool) {
		b := btree{isMap: m.template == "BTreeMap", left: length, yield: yield}
		b.node(leaf, height)
	})
}

// btree is a walk over a B-tree.
type btree struct {
	isMap bool
	left  uint64 // number of elements
	yield func(print.Child) bool
}

// node yields the elements of a node and its subtrees in order. It returns false to end the walk.
func (b *btree) node(pointer value.Value, height uint64) bool {
	leaf := pointer.Deref()
	used, err := leaf.FieldByName("len").Uint()
	keys, values := leaf.FieldByName("keys"), leaf.FieldByName("vals")
	if err != nil || isMissing(keys) || isMissing(values) {
		b.yield(print.Child{Value: leaf})
		return false
	}
	capacity, _ := keys.Type().Strip().Len()
	used = min(used, capacity)
	for i := uint64(0); i <= used; i++ {
		if height > 0 {
			// The pointers to subtrees follow the fields of a leaf.
			at, _ := pointer.Uint()
			word := uint64(pointer.Type().Machine().AddressSize)
			edge := value.At(pointer.Type(), (at+leaf.Type().Size()+word-1)/word*word+i*word, pointer.Frame())
			if !b.node(edge, height-1) {
				return false
			}
		}
		if i == used {
			break
		}
		if b.left == 0 {
			return false
		}
		b.left--
		c := print.Child{Value: initialized(keys, i)}
		if b.isMap {
			c.Key, c.Value = c.Value, initialized(values, i)
		}
		if !b.yield(c) {
			return false
		}
	}
	return true
}

// initialized returns an initialized element of an array in a node. Its type is MaybeUninit.
func initialized(array value.Value, i uint64) value.Value {
	v := array.Index(int64(i))
	if v.Type() != nil {
		if t := argument(v.Type(), 0); t != nil {
			return as(v, t)
		}
	}
	return v
}
