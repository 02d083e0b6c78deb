// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// maxHeight bounds how many nodes of a B-tree are above each other.
const maxHeight = 32

// rustTree presents a BTreeMap or a BTreeSet.
func rustTree(m instance) (print.Presentation, bool) {
	length, ok := number(m.Value, "length")
	root := within(m.Value, "root")
	if !ok || isMissing(root) {
		return print.Presentation{}, false
	}
	p := print.Presentation{Text: fmt.Sprintf("%s(size=%d)", m.template, length)}
	if length == 0 {
		return p, true
	}
	if name, form, ok := root.Variant(); ok && name == "Some" {
		root = form
	}
	node, height := within(root, "node"), uint64(0)
	if height, ok = number(root, "height"); !ok || height > maxHeight {
		return print.Presentation{}, false
	}
	leaf := bare(node)
	if leaf.Type() == nil || leaf.Type().Strip().Kind() != value.Pointer {
		return print.Presentation{}, false
	}
	p.Children = func(yield func(print.Child) bool) {
		b := btree{isMap: m.template == "BTreeMap", left: length, yield: yield}
		b.node(leaf, height)
	}
	return p, true
}

// btree is a walk over a B-tree.
type btree struct {
	isMap bool
	left  uint64 // elements
	yield func(print.Child) bool
}

// node yields what is in a node and below it, in order, and reports whether more is wanted.
func (b *btree) node(pointer value.Value, height uint64) bool {
	leaf := pointer.Deref()
	used, err := leaf.FieldByName("len").Uint()
	keys, values := leaf.FieldByName("keys"), leaf.FieldByName("vals")
	if err != nil || isMissing(keys) || isMissing(values) {
		b.yield(print.Child{Value: leaf})
		return false
	}
	if capacity, _ := keys.Type().Strip().Len(); used > capacity {
		used = capacity
	}
	for i := uint64(0); i <= used; i++ {
		if height > 0 {
			// The nodes below come after the fields of a leaf.
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
		c := print.Child{Value: made(keys, i)}
		if b.isMap {
			c.Key, c.Value = c.Value, made(values, i)
		}
		if !b.yield(c) {
			return false
		}
	}
	return true
}

// made returns an element of an array of a node, which has places that nothing was put in.
func made(array value.Value, i uint64) value.Value {
	v := array.Index(int64(i))
	if v.Type() != nil {
		if t := argument(v.Type(), 0); t != nil {
			return as(v, t)
		}
	}
	return v
}
