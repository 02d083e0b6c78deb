// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"iter"
	"slices"

	"github.com/clewdev/clew/object"
)

// node is an entry with all below it.
type node struct {
	object.DebugEntry
	below []node // in the order of the entries: each before what is below it

	// What was made of the entry, nil before.
	variable *Variable
	function *Function
}

// children returns the nodes directly below one.
func (n *node) children() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for rest := n.below; len(rest) > 0; rest = rest[1+len(rest[0].below):] {
			if !yield(&rest[0]) {
				return
			}
		}
	}
}

// find returns the first node below n, in the order of the entries, that is
// wanted.
func (n *node) find(wanted func(*node) bool) *node {
	for k := range n.below {
		if wanted(&n.below[k]) {
			return &n.below[k]
		}
	}
	return nil
}

// size counts the entries of a tree and their attributes.
func (n *node) size() int {
	size := 2 + n.Len()
	for k := range n.below {
		size += 2 + n.below[k].Len()
	}
	return size
}

// maxNesting bounds how deep the entries of one tree nest.
const maxNesting = 256

// tree reads the entry at an offset and all below it.
func (i *Info) tree(off object.DebugOffset) (*node, error) {
	u := i.unitOf(off)
	e, err := i.read(off)
	if err != nil {
		return nil, err
	}
	if !e.Children {
		return &node{DebugEntry: *e}, nil
	}
	r := &i.room
	defer r.shrink()
	if r.nodes == nil {
		r.nodes, r.below, r.fields = make([]node, 0, 64), make([]int32, 0, 64), make([]object.DebugField, 0, 256)
	}
	r.nodes, r.below = append(r.nodes[:0], node{DebugEntry: *e}), append(r.below[:0], 0)
	r.fields, r.open = r.fields[:0], append(r.open[:0], 0)
	for size := 0; len(r.open) > 0; {
		k := len(r.nodes)
		r.nodes, r.below = append(r.nodes, node{}), append(r.below, 0)
		n := &r.nodes[k]
		var ok bool
		if r.fields, ok, err = i.nextIn(&n.DebugEntry, r.fields); err != nil {
			return nil, err
		}
		if ok {
			if size += 2 + n.Len(); size > i.mostRetained() {
				return nil, fmt.Errorf("%w: %v: more attributes below it than %#x bytes can hold", ErrDebugInfo, off, i.size())
			}
		}
		switch {
		case !ok || n.Tag != 0 && n.Offset >= u.end: // the lists are not closed
			for r.drop(k); len(r.open) > 0; {
				r.end()
			}
		case n.Tag == 0:
			r.drop(k)
			r.end()
		case n.Children:
			if len(r.open) == maxNesting {
				return nil, fmt.Errorf("%w: %v: nested deeper than %d", ErrDebugInfo, n.Offset, maxNesting)
			}
			r.open = append(r.open, k)
		}
	}
	return r.tree(), nil
}

// treeRoom is where a tree is read to: how large it is turns out at its end.
type treeRoom struct {
	nodes  []node
	below  []int32 // how many are below each
	fields []object.DebugField
	open   []int // those of nodes whose lists have not ended
}

// maxTreeRoom is how many nodes there is room for that is used again.
const maxTreeRoom = 1 << 12

// drop forgets the nodes from the k-th on.
func (r *treeRoom) drop(k int) { r.nodes, r.below = r.nodes[:k], r.below[:k] }

// end ends the list that was begun last.
func (r *treeRoom) end() {
	last := len(r.open) - 1
	k := r.open[last]
	r.below[k], r.open = int32(len(r.nodes)-k-1), r.open[:last]
}

// tree returns what was read, which no longer is in r.
func (r *treeRoom) tree() *node {
	count := 0
	for k := range r.nodes {
		count += r.nodes[k].Len()
	}
	fields := make([]object.DebugField, 0, count)
	nodes := slices.Clone(r.nodes)
	for k := range nodes {
		n := &nodes[k]
		fields = n.KeepIn(fields)
		end := k + 1 + int(r.below[k])
		n.below = nodes[k+1 : end : end]
	}
	return &nodes[0]
}

// shrink gives up room that is larger than most trees need.
func (r *treeRoom) shrink() {
	if cap(r.nodes) > maxTreeRoom || cap(r.fields) > 8*maxTreeRoom {
		*r = treeRoom{}
	}
}

// children reads the entries directly below one.
func (i *Info) children(off object.DebugOffset) ([]object.DebugEntry, error) {
	u := i.unitOf(off)
	e, err := i.read(off)
	if err != nil || !e.Children {
		return nil, err
	}
	var list []object.DebugEntry
	var fields []object.DebugField
	for {
		var e object.DebugEntry
		var ok bool
		if fields, ok, err = i.nextIn(&e, fields); err != nil {
			return list, err
		}
		if !ok || e.Tag == 0 || e.Offset >= u.end {
			return list, nil
		}
		list = append(list, e)
		if err := i.skip(&e, u); err != nil {
			return list, err
		}
	}
}
