// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Index finds the FDE of an address in a section without an .eh_frame_hdr. It does not
// change, so its methods may be called concurrently.
type Index struct {
	s      *Section
	ranges []IndexRange
}

// IndexRange is a range of addresses, [Start, End), with its FDE.
type IndexRange struct {
	Start, End uint64 // without load bias
	FDE        uint64 // offset of the FDE in the section, for FDEAt
}

// Ranges returns the index: disjoint ranges by ascending addresses. The caller must not
// change it.
func (x *Index) Ranges() []IndexRange { return x.ranges }

// Index reads the section once and sorts its FDEs. It omits FDEs that are malformed or cover no
// address. If FDEs overlap, the one with the highest start wins. If their starts are equal, the
// last one in the section wins.
func (s *Section) Index() *Index {
	var all []IndexRange
	for f := range s.FDEs() {
		if f.End > f.Start {
			all = append(all, IndexRange{f.Start, f.End, f.Offset})
		}
	}
	slices.SortStableFunc(all, func(a, b IndexRange) int { return cmp.Compare(a.Start, b.Start) })
	return &Index{s, disjoint(all)}
}

// disjoint splits ranges, which are sorted by start, so that a later range replaces a part of an
// earlier one. It reuses the slice if none overlap.
func disjoint(all []IndexRange) []IndexRange {
	overlap := false
	for i := 1; i < len(all) && !overlap; i++ {
		overlap = all[i].Start < all[i-1].End
	}
	if !overlap {
		return all
	}
	out := make([]IndexRange, 0, len(all))
	var open []IndexRange // ranges that started and may not have ended, the winning one last
	cut := func(upTo uint64) {
		for n := len(open) - 1; n >= 0; n-- {
			r := &open[n]
			if r.Start < min(r.End, upTo) {
				out = append(out, IndexRange{r.Start, min(r.End, upTo), r.FDE})
			}
			if r.End > upTo {
				r.Start = max(r.Start, upTo)
				return
			}
			if n > 0 {
				open[n-1].Start = max(open[n-1].Start, r.Start, r.End)
			}
			open = open[:n]
		}
	}
	for _, r := range all {
		cut(r.Start)
		open = append(open, r)
	}
	cut(math.MaxUint64)
	return out
}

// Find decodes the FDE that covers an address (without load bias) into f. The error wraps
// [ErrNoFDE] if none covers the address.
func (x *Index) Find(pc uint64, f *FDE) error {
	n := sort.Search(len(x.ranges), func(i int) bool { return x.ranges[i].Start > pc })
	if n == 0 || pc >= x.ranges[n-1].End {
		return x.s.noFDE(pc)
	}
	return x.s.FDEAt(x.ranges[n-1].FDE, f)
}

// Find decodes the FDE that covers an address (without load bias) into f. It reads the whole
// section at each call. It finds the same FDE as an [Index], but does not need the memory for
// one. The error wraps [ErrNoFDE] if none covers the address.
func (s *Section) Find(pc uint64, f *FDE) error {
	found := false
	for g := range s.FDEs() {
		if g.Start <= pc && pc < g.End && (!found || g.Start >= f.Start) {
			*f, found = *g, true
		}
	}
	if !found {
		return s.noFDE(pc)
	}
	return nil
}

func (s *Section) noFDE(pc uint64) error {
	return fmt.Errorf("%w in %s covers %#x", ErrNoFDE, s.Name, pc)
}
