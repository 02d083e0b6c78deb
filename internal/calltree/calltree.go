// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package calltree keeps many stacks of calls. Stacks with the same outer frames share them.
package calltree

import (
	"iter"
	"math/rand/v2"
)

// Tree is a set of stacks. The caller numbers the frames. A node stands for a stack: it holds
// the innermost frame, and its parent is the node of the other frames. Node 0 is the empty
// stack.
type Tree[F ~int32] struct {
	nodes []node[F]

	// slots is a hash table with open addressing of nodes by parent and frame; 0 is an
	// empty slot. Its length is a power of two.
	slots []int32
	shift int    // of a hash, to an index of slots
	seed  uint64 // odd and random, so that a file cannot provoke collisions

	// path is the last added stack, outermost first. Most stacks start like the previous one.
	path []int32
}

type node[F ~int32] struct {
	parent int32
	frame  F
}

// New returns a tree that contains only the empty stack.
func New[F ~int32]() Tree[F] {
	const bits = 12
	return Tree[F]{nodes: make([]node[F], 1, 1<<10), slots: make([]int32, 1<<bits), shift: 64 - bits, seed: rand.Uint64() | 1}
}

// At returns the innermost frame and the parent of a node other than 0.
func (t *Tree[F]) At(n int32) (frame F, parent int32) { return t.nodes[n].frame, t.nodes[n].parent }

// Len returns the number of nodes.
func (t *Tree[F]) Len() int { return len(t.nodes) }

// Frames yields the frames of the stack of a node, innermost first.
func (t *Tree[F]) Frames(n int32) iter.Seq[F] {
	return func(yield func(F) bool) {
		for at := n; at != 0 && yield(t.nodes[at].frame); { // a second iteration starts at n again
			at = t.nodes[at].parent
		}
	}
}

// Add adds a stack, if it is new, and returns its node. The frames are innermost first.
func (t *Tree[F]) Add(frames []F) int32 {
	same := 0
	for same < len(t.path) && same < len(frames) && t.nodes[t.path[same]].frame == frames[len(frames)-1-same] {
		same++
	}
	t.path = t.path[:same]
	n := int32(0)
	if same > 0 {
		n = t.path[same-1]
	}
	for i := len(frames) - 1 - same; i >= 0; i-- {
		n = t.Child(n, frames[i])
		t.path = append(t.path, n)
	}
	return n
}

// Child adds the stack that calls frame from the stack parent, if it is new, and returns its
// node.
func (t *Tree[F]) Child(parent int32, frame F) int32 {
	want := node[F]{parent, frame}
	at := t.slot(want)
	for t.slots[at] != 0 {
		if n := t.slots[at]; t.nodes[n] == want {
			return n
		}
		at = (at + 1) & (len(t.slots) - 1)
	}
	n := int32(len(t.nodes))
	t.nodes = append(t.nodes, want)
	t.slots[at] = n
	if 2*len(t.nodes) > len(t.slots) {
		t.grow()
	}
	return n
}

// slot returns the index at which the search for a node begins.
func (t *Tree[F]) slot(n node[F]) int {
	return int((uint64(uint32(n.parent))<<32 | uint64(uint32(n.frame))) * t.seed >> t.shift)
}

func (t *Tree[F]) grow() {
	t.slots = make([]int32, 2*len(t.slots))
	t.shift--
	for n := 1; n < len(t.nodes); n++ {
		at := t.slot(t.nodes[n])
		for t.slots[at] != 0 {
			at = (at + 1) & (len(t.slots) - 1)
		}
		t.slots[at] = int32(n)
	}
}
