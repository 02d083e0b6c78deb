// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"math/rand/v2"
	"testing"
)

// TestIndex adds and removes random claims, and compares the faults with a map of all addresses.
func TestIndex(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var x index
	owner := make(map[uint64]*claim) // by address / 16
	type live struct {
		claim *claim
		slots []uint64
	}
	var all []live
	for round := range 20_000 {
		if n := len(all); n > 2000 || n > 0 && random.IntN(3) == 0 {
			i := random.IntN(n)
			l := all[i]
			if random.IntN(2) == 0 {
				k := random.IntN(len(l.slots))
				x.release(l.claim, []int{k})
				if owner[l.slots[k]] == l.claim {
					delete(owner, l.slots[k])
				}
				continue
			}
			x.remove(l.claim)
			for _, s := range l.slots {
				if owner[s] == l.claim {
					delete(owner, s)
				}
			}
			all[i] = all[n-1]
			all = all[:n-1]
			continue
		}
		c := &Code{}
		at := uint64(random.IntN(4000))
		var l live
		for range 1 + random.IntN(6) {
			c.Functions = append(c.Functions, Function{Name: "f", Offset: at * 16, Size: 16})
			l.slots = append(l.slots, at)
			at += 1 + uint64(random.IntN(1+random.IntN(300)))
		}
		l.claim = newClaim(c)
		at = 0
		for _, f := range x.add(l.claim, c) {
			for ; at < uint64(f.Index); at++ {
				if owner[l.slots[at]] != nil {
					t.Fatalf("round %d: function %d overlaps without a fault", round, at)
				}
			}
			if owner[l.slots[at]] == nil {
				t.Fatalf("round %d: %v", round, f)
			}
			at++
		}
		for i, s := range l.slots {
			if owner[s] == nil && l.claim.functions[i].end > l.claim.functions[i].start {
				owner[s] = l.claim
			}
		}
		all = append(all, l)
	}
	for i, l := range all {
		if i%2 == 0 {
			x.remove(l.claim)
			continue
		}
		for k := range l.slots {
			x.release(l.claim, []int{k, k})
		}
	}
	if len(x.blocks) != 0 {
		t.Errorf("%d blocks are left", len(x.blocks))
	}
}

func BenchmarkIndex(b *testing.B) {
	var x index
	for i := range 100_000 {
		x.add(newClaim(&Code{Address: uint64(i) * 64, Functions: []Function{{Name: "f", Size: 64}}}), nil)
	}
	c := &Code{Address: 64 * 50_000, Functions: []Function{{Name: "f", Size: 64}}}
	for range b.N {
		a := newClaim(c)
		a.functions[0].end = a.functions[0].start
		x.add(a, c)
		x.remove(a)
	}
}
