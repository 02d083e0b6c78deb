// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"iter"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// maxSteps bounds the number of nodes between an element of a tree and the next: the height of a
// tree with as many elements as there are addresses.
const maxSteps = 128

// tree presents a std::map, std::set and their multiple forms, which are red-black trees.
func tree(m instance) print.Presentation {
	inner := field(m.Value, "_M_t")
	n := uintOf(field(inner, "_M_impl._M_node_count"))
	rejectIf(inner.Type() == nil)
	first := field(inner, "_M_impl._M_header._M_left")
	elem := argument(inner.Type(), 1)
	rejectIf(elem == nil)
	uintOf(first) // it can be read
	return associative(m, n, nodes(first, n, elem))
}

// associative presents the elements of a map or a set.
func associative(m instance, n uint64, list iter.Seq[print.Child]) print.Presentation {
	if strings.HasSuffix(m.template, "map") {
		list = keyed(list)
	} else {
		list = numbered(list)
	}
	return print.Presentation{Text: m.template + " with " + count(n), Children: list}
}

// keyed turns pairs into children with a key and a value.
func keyed(list iter.Seq[print.Child]) iter.Seq[print.Child] {
	return func(yield func(print.Child) bool) {
		for c := range list {
			if first := c.Value.FieldByName("first"); !c.Skip && !isMissing(first) {
				c.Key, c.Value = first, c.Value.FieldByName("second")
			}
			if !yield(c) {
				return
			}
		}
	}
}

// nodes yields the elements of n nodes of a tree, from the target of a pointer on.
func nodes(node value.Value, n uint64, elem *value.Type) iter.Seq[print.Child] {
	return func(yield func(print.Child) bool) {
		node := node
		for range n {
			at, err := node.Uint()
			if err != nil {
				yield(print.Child{Value: node})
				return
			}
			if !yield(print.Child{Value: stored(node, at, elem)}) {
				return
			}
			var steps int
			for node, steps = following(node); steps > 8; steps -= 8 {
				if !yield(print.Child{Skip: true}) {
					return
				}
			}
		}
	}
}

// stored returns the element of a node of a tree.
func stored(node value.Value, at uint64, elem *value.Type) value.Value {
	return value.At(elem, alignedAfter(at, node.Type().Strip().Elem().Size(), elem), node.Frame())
}

// following returns the next node in the order of a tree: the leftmost one of the right subtree, or
// else the first ancestor whose left subtree contains the node. It also returns the number of nodes
// that it looked at.
func following(node value.Value) (next value.Value, steps int) {
	isNil := func(v value.Value) bool { n, err := v.Uint(); return err != nil || n == 0 }
	if next = node.Deref().FieldByName("_M_right"); !isNil(next) {
		for steps < maxSteps {
			steps++
			left := next.Deref().FieldByName("_M_left")
			if isNil(left) {
				break
			}
			next = left
		}
		return next, steps
	}
	for steps < maxSteps {
		steps++
		above := node.Deref().FieldByName("_M_parent")
		right, err := above.Deref().FieldByName("_M_right").Uint()
		if at, _ := node.Uint(); err != nil || right != at {
			return above, steps
		}
		node = above
	}
	return node, steps
}

// treeIterator presents the element at an iterator of a std::map or std::set.
func treeIterator(i instance) print.Presentation {
	node := i.FieldByName("_M_node")
	at, err := node.Uint()
	elem := argument(i.Type(), 0)
	rejectIf(err != nil || at == 0 || elem == nil)
	return print.Presentation{Value: stored(node, at, elem)}
}

// listIterator presents the element at an iterator of a std::list.
func listIterator(i instance) print.Presentation {
	node := i.FieldByName("_M_node")
	at, err := node.Uint()
	elem := argument(i.Type(), 0)
	if elem == nil { // GCC leaves out the template arguments of this class
		elem = pointedTo(i.Type())
	}
	rejectIf(err != nil || at == 0 || elem == nil)
	start := at + uint64(2*elem.Machine().AddressSize) // after the pointers
	if align := elem.Align(); align > 0 {
		start = (start + align - 1) / align * align
	}
	return print.Presentation{Value: value.At(elem, start, i.Frame())}
}

// pointedTo returns the type of objects to which operator-> of a class points, or nil.
func pointedTo(class *value.Type) *value.Type {
	members, _ := class.Strip().Members() // those that cannot be read are not found
	for _, m := range members.Methods {
		if m.Name == "operator->" && m.Type != nil && m.Type.Elem() != nil && m.Type.Elem().Strip().Kind() == value.Pointer {
			return m.Type.Elem().Strip().Elem()
		}
	}
	return nil
}

// hashTable presents a std::unordered_map and similar types. All nodes are in one list, and the
// buckets are parts of it.
func hashTable(m instance) print.Presentation {
	table := m.FieldByName("_M_h")
	n := uintOf(table.FieldByName("_M_element_count"))
	first := field(table, "_M_before_begin._M_nxt")
	elem := argument(table.Type(), 1)
	rejectIf(elem == nil)
	uintOf(first) // it can be read
	return associative(m, n, linked(first, "_M_nxt", 0, elem, m.Frame()))
}
