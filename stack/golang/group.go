// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"cmp"
	"slices"
	"time"

	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// member is a goroutine in the group of another one.
type member struct {
	id, parent uint64
	waited     time.Duration
	stack      *stack.Stack // with registers, else nil
	group      int32        // index into goroutineReader.list
}

// join adds a goroutine with the frames of the last walk to its group, or else to the list.
func (r *goroutineReader) join(g *Goroutine) {
	if !r.grouping {
		r.keep(g)
		r.list = append(r.list, *g)
		if len(r.list) == r.opts.Group {
			r.groupListed()
		}
		return
	}
	if r.opts.Registers {
		r.keep(g)
	}
	k, hash := r.groupOf(g, r.frames)
	if k < 0 && !r.opts.Registers && !r.keep(g) {
		k, hash = r.groupOf(g, nil) // the group of those without kept frames
	}
	if k >= 0 {
		r.joinGroup(k, g)
	} else {
		r.begin(g, hash)
	}
}

// groupListed groups the goroutines of the list, once it has Options.Group of them.
func (r *goroutineReader) groupListed() {
	r.grouping = true
	listed := r.list
	r.list = nil
	for i := range listed {
		g := &listed[i]
		g.StackPointers = nil
		if k, hash := r.groupOf(g, g.Stack.Frames); k >= 0 {
			r.joinGroup(k, g)
		} else {
			r.begin(g, hash)
		}
	}
}

// groupOf returns the index and the hash of the group of a goroutine with some frames. The
// index is -1 if there is no such group.
func (r *goroutineReader) groupOf(g *Goroutine, frames []stack.Frame) (k int32, hash uint64) {
	hash = r.groups.Hash(frames, g.creation())
	return r.groups.Find(hash, func(n int32) bool { return alike(&r.list[n], g) && stack.EqualFrames(r.list[n].Stack.Frames, frames) }), hash
}

// begin starts a group.
func (r *goroutineReader) begin(g *Goroutine, hash uint64) {
	if len(r.list) == maxGroups {
		r.ungrouped++
		return
	}
	r.groups.Add(hash, len(r.list))
	r.list = append(r.list, *g)
}

// joinGroup adds a goroutine to a group. The one with the lowest ID represents it.
func (r *goroutineReader) joinGroup(k int32, g *Goroutine) {
	first := &r.list[k]
	if g.ID < first.ID {
		if !r.opts.Registers {
			g.Stack.Frames = first.Stack.Frames
		}
		*first, *g = *g, *first
	}
	m := member{id: g.ID, parent: g.Parent, waited: g.Waited, group: k}
	if r.opts.Registers {
		m.stack = new(g.Stack)
	}
	r.members = append(r.members, m)
}

// distribute sets the Others of the groups.
func (r *goroutineReader) distribute() {
	counts := make([]int, len(r.list))
	for i := range r.members {
		counts[r.members[i].group]++
	}
	others := make([]Other, len(r.members))
	for k, n := range counts {
		r.list[k].Others, others = others[:0:n], others[n:]
	}
	for i := range r.members {
		m := &r.members[i]
		g := &r.list[m.group]
		g.Others = append(g.Others, Other{ID: m.id, Parent: m.parent, Waited: m.waited, Stack: m.stack})
	}
	r.members = nil
	for k := range r.list {
		slices.SortStableFunc(r.list[k].Others, func(a, b Other) int { return cmp.Compare(a.ID, b.ID) })
	}
}

// alike reports whether two goroutines are in the same state on the same thread, if any,
// were created by the same go statement, and their walks ended for the same reason.
func alike(a, b *Goroutine) bool {
	return a.Name == b.Name && a.Scan == b.Scan && a.Locked == b.Locked && a.System == b.System && a.creation() == b.creation() &&
		a.Stack.Thread == b.Stack.Thread && a.Stack.Reason == b.Stack.Reason && sameText(a.Stack.Err, b.Stack.Err)
}

// creation returns the address at which a goroutine was created, 0 if unknown.
func (g *Goroutine) creation() uint64 {
	if g.Created == nil {
		return 0
	}
	return g.Created.PC
}

func sameText(a, b error) bool {
	return a == b || a != nil && b != nil && a.Error() == b.Error()
}

// keep sets the frames of a goroutine to those of the last walk, or to equal ones of an
// earlier goroutine if they may be shared. It returns false if there are too many frames.
func (r *goroutineReader) keep(g *Goroutine) bool {
	if len(r.frames) == 0 {
		return true
	}
	var hash uint64
	if r.opts.Share {
		hash = r.shared.Hash(r.frames)
		if k := r.shared.Find(hash, func(n int32) bool { return stack.EqualFrames(r.stacks[n], r.frames) }); k >= 0 {
			g.Stack.Frames = r.stacks[k]
			if !r.grouping {
				g.StackPointers = stackPointers(r.frames)
			}
			return true
		}
	}
	if len(r.frames) > r.keeps {
		r.dropParked(&g.Stack)
		g.Stack.Reason, g.Stack.Err = unwind.TooManyFrames, errTooManyFrames
		r.frames = r.frames[:0]
		return false
	}
	r.keeps -= len(r.frames)
	g.Stack.Frames = slices.Clone(r.frames)
	if r.opts.Share {
		r.shared.Add(hash, len(r.stacks))
		r.stacks = append(r.stacks, g.Stack.Frames)
	}
	return true
}

// stackPointers returns the stack pointers of frames without tail calls.
func stackPointers(frames []stack.Frame) []uint64 {
	list := make([]uint64, len(frames))
	for i := range frames {
		list[i] = frames[i].SP
	}
	return list
}
