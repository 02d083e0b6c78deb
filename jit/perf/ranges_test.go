// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRanges compares a set of ranges with one of addresses.
func TestRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		var set ranges
		var in [200]bool
		for range 30 {
			// Disjoint ranges, like the functions of a batch.
			var list []addressRange
			for at := r.Uint64N(150); at < 190 && len(list) < 5; {
				end := at + r.Uint64N(8)
				list = append(list, addressRange{at, end})
				at = end + r.Uint64N(6)
			}
			list = slices.DeleteFunc(list, func(a addressRange) bool { return a.start == a.end })
			add := r.IntN(3) > 0
			for _, a := range list {
				for i := a.start; i < a.end; i++ {
					in[i] = add
				}
			}
			if add {
				set.add(list)
			} else {
				// Withdrawing passes them in any order, with empty ones among them.
				list = append(list, addressRange{})
				r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				set.remove(list)
			}

			var want ranges
			for i := range in {
				if in[i] && (i == 0 || !in[i-1]) {
					want = append(want, addressRange{uint64(i), 0})
				}
				if in[i] {
					want[len(want)-1].end = uint64(i) + 1
				}
			}
			if !slices.EqualFunc(set, want, func(a, b addressRange) bool { return a == b }) {
				t.Fatalf("%v, want %v after %v was added: %t", set, want, list, add)
			}
			from := r.Uint64N(200)
			free := uint64(math.MaxUint64) - from
			if i := slices.IndexFunc(want, func(a addressRange) bool { return a.end > from }); i >= 0 {
				free = max(from, want[i].start) - from
			}
			if got := set.free(from); got != free {
				t.Fatalf("%d free addresses after %d in %v, want %d", got, from, set, free)
			}
		}
	}
}
