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

// maxSteps bounds how many nodes lie between an element of a tree and the next: the height
// of one with as many elements as there are addresses.
const maxSteps = 128

// tree presents a std::map, std::set and their multiple forms: red and black trees.
func tree(m instance) (print.Presentation, bool) {
	inner := field(m.Value, "_M_t")
	header := field(inner, "_M_impl._M_header")
	n, err := field(inner, "_M_impl._M_node_count").Uint()
	if err != nil || inner.Type() == nil {
		return print.Presentation{}, false
	}
	first := header.FieldByName("_M_left")
	elem := argument(inner.Type(), 1)
	if _, err := first.Uint(); err != nil || elem == nil {
		return print.Presentation{}, false
	}
	return associative(m, n, nodes(first, n, elem)), true
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

// keyed makes what has a key and a value of pairs.
func keyed(list iter.Seq[print.Child]) iter.Seq[print.Child] {
	return func(yield func(print.Child) bool) {
		for c := range list {
			if first := c.Value.FieldByName("first"); !c.Nothing && !isMissing(first) {
				c.Key, c.Value = first, c.Value.FieldByName("second")
			}
			if !yield(c) {
				return
			}
		}
	}
}

// nodes yields the elements of n nodes of a tree, of which a pointer leads to the first.
func nodes(node value.Value, n uint64, elem *value.Type) iter.Seq[print.Child] {
	return func(yield func(print.Child) bool) {
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
				if !yield(print.Child{Nothing: true}) {
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

// following returns the node after another in the order of a tree: the leftmost one on the
// right of it, else the first above it that it is on the left of; and how many were looked
// at for it.
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

// hashTable presents a std::unordered_map and its like: a list of all nodes, of which the
// buckets have parts.
func hashTable(m instance) (print.Presentation, bool) {
	table := m.FieldByName("_M_h")
	n, err := table.FieldByName("_M_element_count").Uint()
	if err != nil {
		return print.Presentation{}, false
	}
	next := field(table, "_M_before_begin._M_nxt")
	elem := argument(table.Type(), 1)
	if _, err := next.Uint(); err != nil || elem == nil {
		return print.Presentation{}, false
	}
	return associative(m, n, func(yield func(print.Child) bool) {
		for {
			at, err := next.Uint()
			if err != nil {
				yield(print.Child{Value: next})
				return
			}
			if at == 0 {
				return
			}
			node := next.Deref()
			if !yield(print.Child{Value: value.At(elem, alignedAfter(at, node.Type().Size(), elem), m.Frame())}) {
				return
			}
			next = node.FieldByName("_M_nxt")
		}
	}), true
}
