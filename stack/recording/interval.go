// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"maps"
	"slices"

	"github.com/clewdev/clew/internal/calltree"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// Above these numbers, places and stacks are forgotten at the end of an interval. Below, the next
// interval has most of them again, with their names.
const (
	keptPlaces = 1 << 16
	keptNodes  = 1 << 18
)

// cut ends an interval: it hands the recording to Options.Interval and empties it. Processes,
// threads, their mappings and the files of these stay.
func (b *builder) cut() error {
	if err := b.flush(); err != nil {
		return err
	}
	b.finish()
	if err := b.opts.Interval(b.rec); err != nil {
		return err
	}
	r := b.rec
	r.Stacks, r.Samples, r.First, r.Last = r.Stacks[:0], 0, 0, 0
	clear(b.stacks)
	for i := range r.Events {
		r.Events[i].Samples, r.Events[i].Weight = 0, 0
	}
	b.notes, b.omitted, b.complete = nil, 0, true
	clear(b.noted)
	b.ends, b.gaps, b.uncopied, b.unfinished, b.longestCopy, b.unlabelled, b.inDo, b.shortened = [len(b.ends)]uint64{}, 0, 0, 0, 0, 0, 0, 0
	b.lostMaps, b.missed = 0, r.Counts.Missed()

	b.forgetFiles()
	b.forgetGenerated()
	if len(r.places) > keptPlaces || r.tree.Len() > keptNodes {
		b.forgetPlaces()
	}
	b.forgetLabels()
	return nil
}

// waiting yields the samples that are not counted yet.
func (b *builder) waiting(yield func(*thread, *pendingSample) bool) {
	for _, t := range b.threads {
		if t.waits && !yield(t, &t.waiting) {
			return
		}
	}
	for t, list := range b.deferred {
		for i := range list {
			if !yield(t, &list[i].pendingSample) {
				return
			}
		}
	}
}

// forgetLabels empties Recording.Threads, except for the threads of samples that wait.
func (b *builder) forgetLabels() {
	b.rec.Threads, b.labelled = b.rec.Threads[:0], 0
	clear(b.labels)
	for _, t := range b.threads {
		t.label = -1
	}
	for _, t := range b.endedThreads {
		t.label = -1
	}
	b.waiting(func(t *thread, s *pendingSample) bool {
		s.thread = b.label(t)
		return true
	})
}

// forgetPlaces empties the places and the tree, except for the stacks of samples that wait.
func (b *builder) forgetPlaces() {
	r := b.rec
	places, tree := r.places, r.tree
	r.places, r.tree = nil, calltree.New[int32]()
	b.placeIDs, b.crowded = make(map[placeKey]int32, 1<<10), false
	clear(b.unnamed)
	b.ownPlaces, b.retryAt = 0, 0
	b.nameLimit = stack.NameLimit{}
	clear(b.names)
	b.forgetPaths()

	carried := make(map[int32]int32)
	carry := func(old int32) int32 {
		n, ok := carried[old]
		if !ok {
			n = int32(len(r.places))
			r.places = append(r.places, places[old])
			carried[old] = n
		}
		return n
	}
	b.waiting(func(_ *thread, s *pendingSample) bool {
		var list []int32
		for old := range tree.Frames(s.node) {
			list = append(list, carry(old))
		}
		s.node = r.tree.Add(list)
		return true
	})
	for _, list := range b.deferred {
		for i := range list {
			for k, old := range list[i].places {
				list[i].places[k] = carry(old)
			}
		}
	}
	b.named = len(r.places)
}

// forgetPaths forgets the remembered paths of threads, and the places of addresses.
func (b *builder) forgetPaths() {
	for _, t := range b.threads {
		t.trail, t.places, t.gap = unwind.Trail{}, nil, 0
	}
	for _, s := range b.walk.walking {
		s.changed()
	}
	for _, p := range b.processes {
		p.space.changed()
	}
}

// forgetFiles closes files that no process maps any more.
func (b *builder) forgetFiles() {
	b.markUsed()
	dumps := make(map[*jitdump]bool)
	for _, p := range b.processes {
		for _, d := range p.space.code.dumps {
			dumps[d] = true
		}
	}
	maps.DeleteFunc(b.dumps, func(_ fileKey, d *jitdump) bool { return !dumps[d] })
	var unused []*file
	b.fileList = slices.DeleteFunc(b.fileList, func(f *file) bool {
		if !b.used(f) {
			unused = append(unused, f)
		}
		return !b.used(f)
	})
	if len(unused) == 0 {
		return
	}
	b.forgetPaths() // they can contain rules of the files
	gone := make(map[*stack.Object]bool)
	analyzer, forgets := b.opts.Analyzer.(interface{ Forget(*object.File) })
	for _, f := range unused {
		if f.object != nil {
			if forgets {
				analyzer.Forget(f.object)
			}
			f.object.Close()
		}
		gone[f.stackObject] = true
		delete(b.fileOf, f.stackObject)
	}
	maps.DeleteFunc(b.files, func(_ fileKey, f *file) bool { return !b.used(f) })
	maps.DeleteFunc(b.opened, func(_ fileID, f *file) bool { return !b.used(f) })
	b.rec.Objects = slices.DeleteFunc(b.rec.Objects, func(o *stack.Object) bool { return gone[o] })
}

// forgetGenerated makes the next interval read jitdumps and perf maps again, except for those that took long.
func (b *builder) forgetGenerated() {
	read := false
	objects := make(map[*stack.Object]bool)
	for _, d := range b.dumps {
		objects[d.stackObject] = true
		if !d.keeps(b) {
			read = read || d.opened
			d.opened, d.code, d.err = false, nil, nil
		}
	}
	kept := make(map[*perfMap]bool)
	for _, p := range b.processes {
		if m := p.perfMap; m.keeps(b) {
			kept[m], objects[m.stackObject] = true, true
		}
	}
	for _, m := range b.maps {
		if !kept[m] {
			m.code = nil // its program can have ended, and its descendants refer to it
		}
	}
	for _, p := range b.processes {
		if p.lists != nil {
			read = read || len(p.lists.objects) > 0
			clear(p.lists.objects)
			clear(p.lists.numbers) // they are of functions of the objects
		}
		for m, n := p.perfMap, 0; m != nil && n < maxAncestors; m, n = m.parent, n+1 {
			if !kept[m] {
				read = read || m.opened
				// Another function may be at a known address: its place is in another object.
				*m = perfMap{process: m.process, parent: m.parent, builder: b, began: m.began, ended: m.ended}
			}
		}
	}
	b.maps = slices.DeleteFunc(b.maps, func(m *perfMap) bool { return !kept[m] })
	_, all := b.held(-1, nil)
	b.reads = b.codeReader(all)
	if read {
		b.forgetPaths()
	}
	b.rec.Objects = slices.DeleteFunc(b.rec.Objects, func(o *stack.Object) bool { return o.Kind() == stack.Generated && !objects[o] })
}
