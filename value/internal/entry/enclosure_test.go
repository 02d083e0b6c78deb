// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import "testing"

// TestEnclosuresCut ends all enclosures at the offset where reading a unit failed.
func TestEnclosuresCut(t *testing.T) {
	x := encloser{unit: &Unit{Start: 1000, End: 1100}, open: []int32{3}, list: []enclosure{
		{start: 10, end: 100, around: -1}, {start: 20, end: 30}, {start: 40, end: 100}, {start: 45, end: 100, around: 2}}}
	x.cut(1050)
	n := enclosures{list: x.list}
	for offset, want := range map[uint32]int32{5: -1, 10: -1, 15: 0, 25: 1, 30: 0, 35: 0, 42: 2, 48: 3, 50: -1, 99: -1} {
		if got := n.around(offset); got != want {
			t.Errorf("offset %d is in %d, expected %d", offset, got, want)
		}
	}
}
