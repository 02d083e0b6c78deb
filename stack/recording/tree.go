// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import "math/rand/v2"

// tree is a set of stacks. A stack is a node: its innermost frame, and as the parent the
// node of the stack of its caller.
type tree struct {
	nodes []node // the first is the empty stack

	// slots is a hash table with open addressing of nodes by parent and frame; 0 is an
	// empty slot. Its length is a power of two.
	slots []int32
	shift int    // of a hash, to an index of slots
	seed  uint64 // odd and random, so that a recording cannot provoke collisions

	// path is the last added stack, outermost first. Most stacks start like the previous one.
	path []int32
}

type node struct{ parent, frame int32 }

func newTree() tree {
	const bits = 12
	return tree{nodes: make([]node, 1, 1<<10), slots: make([]int32, 1<<bits), shift: 64 - bits, seed: rand.Uint64() | 1}
}

// add returns the node of a stack of frames, innermost first.
func (t *tree) add(frames []int32) int32 {
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
		n = t.child(node{n, frames[i]})
		t.path = append(t.path, n)
	}
	return n
}

// child returns the number of a node, which it adds if it is new.
func (t *tree) child(want node) int32 {
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
func (t *tree) slot(n node) int {
	return int((uint64(uint32(n.parent))<<32 | uint64(uint32(n.frame))) * t.seed >> t.shift)
}

func (t *tree) grow() {
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
