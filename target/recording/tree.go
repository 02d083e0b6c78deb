// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

// tree holds stacks, of which each is a node: its innermost frame, above the node
// of the stack of its caller.
type tree struct {
	nodes    []node // the first is the empty stack
	children map[uint64]int32

	// The stack that was added last: the next one mostly starts like it.
	path []int32 // nodes, outermost first
}

type node struct{ parent, frame int32 }

func newTree() tree {
	return tree{nodes: make([]node, 1, 1<<10), children: make(map[uint64]int32, 1<<10)}
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
		n = t.child(n, frames[i])
		t.path = append(t.path, n)
	}
	return n
}

func (t *tree) child(parent, frame int32) int32 {
	key := uint64(uint32(parent))<<32 | uint64(uint32(frame))
	n, ok := t.children[key]
	if !ok {
		n = int32(len(t.nodes))
		t.nodes = append(t.nodes, node{parent, frame})
		t.children[key] = n
	}
	return n
}
