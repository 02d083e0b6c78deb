// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"fmt"
	"iter"
	"slices"

	"github.com/clewdev/clew/object"
)

// Node is an entry and all entries below it. Decoded is for the caller's decoded form of the
// entry.
type Node[T any] struct {
	object.DebugEntry
	Below   []Node[T] // in the order of the entries: each before the entries below it
	Decoded T
}

// Direct returns the nodes directly below n.
func (n *Node[T]) Direct() iter.Seq[*Node[T]] {
	return func(yield func(*Node[T]) bool) {
		for rest := n.Below; len(rest) > 0; rest = rest[1+len(rest[0].Below):] {
			if !yield(&rest[0]) {
				return
			}
		}
	}
}

// Find returns the first node below n that is wanted, in the order of the entries, or nil.
func (n *Node[T]) Find(wanted func(*Node[T]) bool) *Node[T] {
	for k := range n.Below {
		if wanted(&n.Below[k]) {
			return &n.Below[k]
		}
	}
	return nil
}

// Size counts the entries of a tree and their attributes.
func (n *Node[T]) Size() int {
	size := 2 + n.Len()
	for k := range n.Below {
		size += 2 + n.Below[k].Len()
	}
	return size
}

const (
	maxNesting = 256     // of the entries of one tree
	maxBuffer  = 1 << 12 // nodes that a TreeReader keeps space for
)

// TreeReader reads trees. It keeps the space that it reads to: the size of a tree is known
// at its end only.
type TreeReader[T any] struct {
	nodes  []Node[T]
	below  []int32 // the number of nodes below each
	fields []object.DebugField
	open   []int // indices of the nodes whose lists have not ended
}

// Read reads the entry at an offset and all entries below it.
func (t *TreeReader[T]) Read(r *Reader, off object.DebugOffset) (*Node[T], error) {
	u := r.UnitOf(off)
	e, err := r.Read(off)
	if err != nil {
		return nil, err
	}
	if !e.Children {
		return &Node[T]{DebugEntry: *e}, nil
	}
	defer t.shrink()
	if t.nodes == nil {
		t.nodes, t.below, t.fields = make([]Node[T], 0, 64), make([]int32, 0, 64), make([]object.DebugField, 0, 256)
	}
	t.nodes, t.below = append(t.nodes[:0], Node[T]{DebugEntry: *e}), append(t.below[:0], 0)
	t.fields, t.open = t.fields[:0], append(t.open[:0], 0)
	for size := 0; len(t.open) > 0; {
		k := len(t.nodes)
		t.nodes, t.below = append(t.nodes, Node[T]{}), append(t.below, 0)
		n := &t.nodes[k]
		var ok bool
		if t.fields, ok, err = r.nextIn(&n.DebugEntry, t.fields); err != nil {
			return nil, err
		}
		if ok {
			if size += 2 + n.Len(); size > r.MostRetained() {
				return nil, fmt.Errorf("%w: %v: more attributes below it than %#x bytes can hold", ErrDamaged, off, r.Size())
			}
		}
		switch {
		case !ok || n.Tag != 0 && n.Offset >= u.End: // the lists are not closed
			for t.drop(k); len(t.open) > 0; {
				t.end()
			}
		case n.Tag == 0:
			t.drop(k)
			t.end()
		case n.Children:
			if len(t.open) == maxNesting {
				return nil, fmt.Errorf("%w: %v: nested deeper than %d", ErrDamaged, n.Offset, maxNesting)
			}
			t.open = append(t.open, k)
		}
	}
	return t.tree(), nil
}

// drop removes the nodes from the k-th on.
func (t *TreeReader[T]) drop(k int) { t.nodes, t.below = t.nodes[:k], t.below[:k] }

// end ends the list that was begun last.
func (t *TreeReader[T]) end() {
	last := len(t.open) - 1
	k := t.open[last]
	t.below[k], t.open = int32(len(t.nodes)-k-1), t.open[:last]
}

// tree returns a copy of the nodes.
func (t *TreeReader[T]) tree() *Node[T] {
	count := 0
	for k := range t.nodes {
		count += t.nodes[k].Len()
	}
	fields := make([]object.DebugField, 0, count)
	nodes := slices.Clone(t.nodes)
	for k := range nodes {
		n := &nodes[k]
		fields = n.KeepIn(fields)
		end := k + 1 + int(t.below[k])
		n.Below = nodes[k+1 : end : end]
	}
	return &nodes[0]
}

// shrink frees space that is larger than most trees need.
func (t *TreeReader[T]) shrink() {
	if cap(t.nodes) > maxBuffer || cap(t.fields) > 8*maxBuffer {
		*t = TreeReader[T]{}
	}
}
