// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

import (
	"slices"
	"sort"
)

// index is the published functions in the order of their addresses: a list of
// leaves with ranges that do not overlap. For an unwinder that keeps a list of
// sections, a leaf is a section. Functions are gathered in few leaves, and a
// leaf is split where another batch's function comes to lie in its range.
type index struct{ leaves []*leaf }

type leaf struct {
	functions  []fde // by start; in a section the withdrawn ones too, hidden
	live       int
	start, end uintptr // the range of all functions that it was made of

	section []byte      // nil where no unwinder keeps a list
	own     bool        // the section's memory is the leaf's, not a batch's
	lists   []*unwinder // that know the section
}

const (
	// maxGathered is how many functions a leaf is made of at most, where it is
	// not a batch's: what is copied when one is put amid them.
	maxGathered = 128

	// maxListed is how many functions a leaf without a section has at most.
	maxListed = 1024

	// near is how close two leaves are that may become one. A page between them
	// can be somebody else's, with sections of his own for it.
	near = 4096
)

// gathering are the sizes at which neighbours that are smaller become one leaf:
// a function is copied at most once for each.
var gathering = [...]int{8, 32, maxGathered}

// clash is two functions that overlap, one of which was to be added.
type clash struct{ added, published fde }

// insert adds the functions of a batch. Where it returns a clash it changed nothing.
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

// interleave adds functions amid those of the leaves from i to j.
func (x *index) interleave(r *registry, i, j int, functions []fde) *clash {
	var all []fde
	for _, l := range x.leaves[i:j] {
		all = l.appendLive(all)
	}
	all = append(all, functions...)
	slices.SortFunc(all, func(a, b fde) int {
		if a.start() < b.start() {
			return -1
		}
		return 1
	})
	for k := 1; k < len(all); k++ {
		if before := all[k-1]; before.end() > all[k].start() {
			if slices.Contains(functions, before) {
				return &clash{before, all[k]}
			}
			return &clash{all[k], before}
		}
	}
	x.replace(r, i, j, split(r, all, maxGathered))
	return nil
}

// gather makes one leaf of the one at i and its neighbours, where they are many
// and small.
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
		var all []fde
		if total := x.live(from, to); to-from > 1 && total >= limit {
			all = make([]fde, 0, total)
			for _, l := range x.leaves[from:to] {
				all = l.appendLive(all)
			}
			x.replace(r, from, to, split(r, all, len(all)))
			i = from
		}
	}
}

func (x *index) live(from, to int) int {
	n := 0
	for _, l := range x.leaves[from:to] {
		n += l.live
	}
	return n
}

// replace puts new leaves in the place of those from i to j. The functions that
// both have are known at every moment. The old sections are withdrawn last, and
// a lookup in a list finds such a function whichever of the sections starts
// closest below it: an old one closer than the new one that has it is its old
// one, as neither the old nor the new overlap among themselves.
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

// remove makes the function that starts at an address unknown.
func (x *index) remove(r *registry, start uintptr) {
	i := sort.Search(len(x.leaves), func(i int) bool { return x.leaves[i].start > start }) - 1
	l := x.leaves[i]
	k := sort.Search(len(l.functions), func(k int) bool { return l.functions[k].start() >= start })
	l.live--
	switch {
	case l.live == 0:
		l.withdraw(r)
		if l.own {
			r.memory.release(l.section) // nothing in it can be running
		}
		x.leaves = slices.Delete(x.leaves, i, i+1)
	case l.section == nil:
		l.functions = slices.Delete(l.functions, k, k+1)
	default:
		l.functions[k].hide()
	}
}

// split makes leaves of at most n functions each.
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

// withdraw makes the lists that know the leaf's section forget it.
func (l *leaf) withdraw(r *registry) {
	for _, u := range l.lists {
		u.withdraw(r.at(l.section))
	}
	l.lists = nil
}
