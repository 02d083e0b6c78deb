// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

import (
	"cmp"
	"slices"
	"sort"
)

// index contains the published functions in the order of their addresses: a list of
// leaves with disjoint ranges. For an unwinder that keeps a list of sections, a leaf is
// a section. Functions are gathered in few leaves. A leaf is split when a function of
// another batch falls into its range.
type index struct{ leaves []*leaf }

type leaf struct {
	functions  []fde // by start; in a section including withdrawn ones, which are hidden
	live       int
	start, end uintptr // the range of all functions with which it was made

	section []byte      // nil if no unwinder keeps a list
	own     bool        // the leaf owns the section's memory, not a batch
	lists   []*unwinder // in which the section is registered
}

const (
	// maxGathered is the largest number of functions of a leaf that is not a whole
	// batch: they are copied when a function is inserted among them.
	maxGathered = 128

	// maxListed is the largest number of functions of a leaf without a section.
	maxListed = 1024

	// near is the largest distance of two leaves that may be joined. A page between them
	// can belong to another publisher, with its own sections.
	near = 4096
)

// gathering lists the sizes at which smaller neighbours become one leaf: a function is
// copied at most once for each size.
var gathering = [...]int{8, 32, maxGathered}

// clash is an overlap of a function to be added with a published one.
type clash struct{ added, published fde }

// insert adds the functions of a batch. If it returns a clash, nothing has changed.
func (x *index) insert(r *registry, b *batch) *clash {
	functions := make([]fde, 0, b.live)
	for _, offset := range b.offsets {
		if offset != noFDE {
			functions = append(functions, b.fde(offset))
		}
	}
	start, end := functions[0].start(), functions[len(functions)-1].end()
	i := sort.Search(len(x.leaves), func(i int) bool { return x.leaves[i].end > start })
	j := i
	for j < len(x.leaves) && x.leaves[j].start < end {
		j++
	}
	if i < j {
		return x.interleave(r, i, j, functions)
	}
	if len(r.lists) == 0 {
		x.replace(r, i, i, split(r, functions, maxListed))
	} else {
		l := newLeaf(functions)
		if l.section = b.memory; b.separate {
			l.section, l.own = r.gather(functions), true
		}
		x.replace(r, i, i, []*leaf{l})
	}
	x.gather(r, i)
	return nil
}

// interleave adds functions among those of the leaves from i to j.
func (x *index) interleave(r *registry, i, j int, functions []fde) *clash {
	var all []fde
	for _, l := range x.leaves[i:j] {
		all = l.appendLive(all)
	}
	all = append(all, functions...)
	slices.SortFunc(all, func(a, b fde) int { return cmp.Compare(a.start(), b.start()) })
	for k := 1; k < len(all); k++ {
		if previous := all[k-1]; previous.end() > all[k].start() {
			if slices.Contains(functions, previous) {
				return &clash{previous, all[k]}
			}
			return &clash{all[k], previous}
		}
	}
	x.replace(r, i, j, split(r, all, maxGathered))
	return nil
}

// gather joins the leaf at i and its neighbours if there are enough small ones.
func (x *index) gather(r *registry, i int) {
	for _, limit := range gathering {
		small := func(k int) bool { return k >= 0 && k < len(x.leaves) && x.leaves[k].live < limit }
		if !small(i) {
			continue
		}
		from, to := i, i+1
		for small(from-1) && x.leaves[from].start-x.leaves[from-1].end < near {
			from--
		}
		for small(to) && x.leaves[to].start-x.leaves[to-1].end < near {
			to++
		}
		total := 0
		for _, l := range x.leaves[from:to] {
			total += l.live
		}
		if to-from > 1 && total >= limit {
			all := make([]fde, 0, total)
			for _, l := range x.leaves[from:to] {
				all = l.appendLive(all)
			}
			x.replace(r, from, to, split(r, all, len(all)))
			i = from
		}
	}
}

// replace replaces the leaves from i to j with new ones. Functions in both stay known at
// every moment, because the old sections are withdrawn last: a lookup uses the section
// that starts closest below the address. Neither the old nor the new sections overlap
// each other, so if an old section is closer than the function's new one, it is the
// function's old one.
func (x *index) replace(r *registry, i, j int, leaves []*leaf) {
	for _, l := range leaves {
		if l.section == nil {
			continue
		}
		l.lists = r.lists
		for _, u := range l.lists {
			u.register(r.at(l.section))
		}
	}
	for _, l := range x.leaves[i:j] {
		l.withdraw(r)
		if l.own {
			r.retire(l.section)
		}
	}
	x.leaves = slices.Replace(x.leaves, i, j, leaves...)
}

// remove makes the function with the given start address unknown.
func (x *index) remove(r *registry, start uintptr) {
	i := sort.Search(len(x.leaves), func(i int) bool { return x.leaves[i].start > start }) - 1
	l := x.leaves[i]
	k := sort.Search(len(l.functions), func(k int) bool { return l.functions[k].start() >= start })
	l.live--
	switch {
	case l.live == 0:
		l.withdraw(r)
		if l.own {
			r.memory.release(l.section) // none of its functions can be running
		}
		x.leaves = slices.Delete(x.leaves, i, i+1)
	case l.section == nil:
		l.functions = slices.Delete(l.functions, k, k+1)
	default:
		l.functions[k].hide()
	}
}

// split returns leaves of at most n functions each.
func split(r *registry, functions []fde, n int) []*leaf {
	var leaves []*leaf
	for part := range slices.Chunk(functions, n) {
		l := newLeaf(part)
		if len(r.lists) > 0 {
			l.section, l.own = r.gather(part), true
		}
		leaves = append(leaves, l)
	}
	return leaves
}

func newLeaf(functions []fde) *leaf {
	return &leaf{
		functions: functions, live: len(functions),
		start: functions[0].start(), end: functions[len(functions)-1].end(),
	}
}

// appendLive appends the functions that are not withdrawn.
func (l *leaf) appendLive(all []fde) []fde {
	for _, f := range l.functions {
		if f.size() != 0 {
			all = append(all, f)
		}
	}
	return all
}

// withdraw withdraws the leaf's section from the unwinders that know it.
func (l *leaf) withdraw(r *registry) {
	for _, u := range l.lists {
		u.withdraw(r.at(l.section))
	}
	l.lists = nil
}
