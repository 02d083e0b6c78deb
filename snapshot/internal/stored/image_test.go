// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stored

import "testing"

// A segment is found without a linear search.
func TestLastUpTo(t *testing.T) {
	values := make([]uint64, 60000)
	for i := range values {
		values[i] = 10 + uint64(i)/2*10
	}
	for v, want := range map[uint64]int{0: -1, 9: -1, 10: 1, 19: 1, 20: 3, 149999: 29997, 300000: 59999, 1 << 63: 59999} {
		looked := 0
		got := lastUpTo(v, len(values), func(i int) uint64 { looked++; return values[i] })
		if got != want || looked > 17 {
			t.Errorf("%d: %d, expected %d; looked at %d of %d", v, got, want, looked, len(values))
		}
	}
}
