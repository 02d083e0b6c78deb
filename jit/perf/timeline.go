// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"slices"
	"sort"
)

// timeline finds the newest of the functions that contain an address at a time, in
// logarithmic time and linear memory for any overlaps. It is a segment tree over the
// bounds of functions: a function is stored in the few nodes that make up its range,
// and an address meets one node a level.
type timeline struct {
	bounds []uint64 // sorted; leaf i is [bounds[i], bounds[i+1])

	// The functions of node n are entries[starts[n]:starts[n+1]], ascending. The
	// root is node 1, the children of n are 2n and 2n+1, the leaves come last.
	starts  []uint32
	entries []uint32
}

func newTimeline(functions []Function) timeline {
	var t timeline
	if len(functions) == 0 {
		return t
	}
	t.bounds = make([]uint64, 0, 2*len(functions))
	for i := range functions {
		f := &functions[i]
		t.bounds = append(t.bounds, f.Address, f.Address+uint64(f.Size))
	}
	slices.Sort(t.bounds)
	t.bounds = slices.Clip(slices.Compact(t.bounds))

	// First count the entries, then fill them in. Meanwhile starts is shifted by one.
	t.starts = make([]uint32, 2*(len(t.bounds)-1)+2)
	for i := range functions {
		t.nodes(&functions[i], func(n int) { t.starts[n+2]++ })
	}
	for n := 1; n < len(t.starts); n++ {
		t.starts[n] += t.starts[n-1]
	}
	t.entries = make([]uint32, t.starts[len(t.starts)-1])
	for i := range functions {
		t.nodes(&functions[i], func(n int) {
			t.entries[t.starts[n+1]] = uint32(i)
			t.starts[n+1]++
		})
	}
	return t
}

// leaf returns the index of the last bound at or below an address, or -1.
func (t *timeline) leaf(address uint64) int {
	i, found := slices.BinarySearch(t.bounds, address)
	if !found {
		i--
	}
	return i
}

// nodes calls do for the nodes that make up a function's range.
func (t *timeline) nodes(f *Function, do func(n int)) {
	leaves := len(t.bounds) - 1
	left, right := t.leaf(f.Address)+leaves, t.leaf(f.Address+uint64(f.Size))+leaves
	for ; left < right; left, right = left/2, right/2 {
		if left&1 != 0 {
			do(left)
			left++
		}
		if right&1 != 0 {
			right--
			do(right)
		}
	}
}

// find returns the index of the function, or -1.
func (t *timeline) find(functions []Function, address, time uint64) int {
	best := -1
	i := t.leaf(address)
	leaves := len(t.bounds) - 1
	if i < 0 || i >= leaves {
		return best
	}
	for n := i + leaves; n > 0; n /= 2 {
		entries := t.entries[t.starts[n]:t.starts[n+1]]
		at := sort.Search(len(entries), func(i int) bool { return functions[entries[i]].Time > time })
		if at > 0 {
			best = max(best, int(entries[at-1]))
		}
	}
	return best
}
