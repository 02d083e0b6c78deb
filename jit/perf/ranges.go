// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"cmp"
	"math"
	"slices"
)

// addressRange is the addresses from start up to end.
type addressRange struct{ start, end uint64 }

// ranges is a set of addresses: ranges that are sorted, and neither overlap nor touch.
type ranges []addressRange

// free returns the number of addresses, starting with from, that are not in the set.
func (s ranges) free(from uint64) uint64 {
	i := s.first(from + 1)
	switch {
	case i == len(s):
		return math.MaxUint64 - from
	case s[i].start <= from:
		return 0
	}
	return s[i].start - from
}

// first returns the index of the first range that ends at or after an address.
func (s ranges) first(address uint64) int {
	i, _ := slices.BinarySearchFunc(s, address, func(r addressRange, a uint64) int { return cmp.Compare(r.end, a) })
	return i
}

// add adds ranges that are in ascending order. It moves the later ranges of the set
// once.
func (s *ranges) add(list []addressRange) {
	if len(list) == 0 {
		return
	}
	low := s.first(list[0].start)
	if low == len(*s) {
		for _, r := range list {
			s.extend(r)
		}
		return
	}
	last := list[len(list)-1].end
	high := low
	for high < len(*s) && (*s)[high].start <= last {
		high++
	}
	var merged ranges
	old := (*s)[low:high]
	for len(old) > 0 || len(list) > 0 {
		if len(list) == 0 || len(old) > 0 && old[0].start <= list[0].start {
			merged.extend(old[0])
			old = old[1:]
		} else {
			merged.extend(list[0])
			list = list[1:]
		}
	}
	*s = slices.Replace(*s, low, high, merged...)
}

// extend adds a range that starts after the start of the last one.
func (s *ranges) extend(r addressRange) {
	if n := len(*s); n > 0 && r.start <= (*s)[n-1].end {
		(*s)[n-1].end = max((*s)[n-1].end, r.end)
		return
	}
	*s = append(*s, r)
}

// remove removes disjoint ranges, in any order, from the set. It ignores empty ranges.
func (s *ranges) remove(list []addressRange) {
	list = slices.DeleteFunc(slices.Clone(list), func(r addressRange) bool { return r.start >= r.end })
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, func(a, b addressRange) int { return cmp.Compare(a.start, b.start) })
	low := s.first(list[0].start + 1)
	last := list[len(list)-1].end
	high := low
	var remaining ranges
	for ; high < len(*s) && (*s)[high].start < last; high++ {
		r := (*s)[high]
		for i := 0; i < len(list) && list[i].start < r.end; i++ {
			if list[i].end <= r.start {
				list = list[i+1:] // before all later ones
				i = -1
				continue
			}
			if list[i].start > r.start {
				remaining = append(remaining, addressRange{r.start, list[i].start})
			}
			r.start = max(r.start, min(list[i].end, r.end))
		}
		if r.start < r.end {
			remaining = append(remaining, r)
		}
	}
	*s = slices.Replace(*s, low, high, remaining...)
}
