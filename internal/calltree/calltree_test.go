// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package calltree

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Equal stacks are one node, different ones are different nodes, and a node leads to its
// frames.
func TestTree(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	tree := New[int32]()
	nodes := make(map[string]int32)
	for range 5000 {
		frames := make([]int32, r.IntN(8))
		for i := range frames {
			frames[i] = int32(r.IntN(3))
		}
		key := string(func() (b []byte) {
			for _, f := range frames {
				b = append(b, byte(f))
			}
			return b
		}())
		n := tree.Add(frames)
		if known, ok := nodes[key]; ok && known != n {
			t.Fatalf("%v is %d and %d", frames, known, n)
		}
		nodes[key] = n
		got := slices.AppendSeq([]int32(nil), tree.Frames(n))
		if !slices.Equal(got, frames) {
			t.Fatalf("%v became %v", frames, got)
		}
	}
	distinct := make(map[int32]bool)
	for _, n := range nodes {
		distinct[n] = true
	}
	if len(distinct) != len(nodes) {
		t.Errorf("%d nodes for %d stacks", len(distinct), len(nodes))
	}
}

func BenchmarkTree(b *testing.B) {
	b.ReportAllocs()
	frames := make([]int32, 70)
	for i := range frames {
		frames[i] = int32(i)
	}
	tree := New[int32]()
	for i := 0; b.Loop(); i++ {
		frames[0] = int32(i % 50)
		tree.Add(frames)
	}
}
