// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
)

// group is threads with equal stacks, in the order of the target's.
type group struct {
	stack   *stack.Stack // of the first thread
	threads []*snapshot.Thread
	others  []*stack.Stack // of the other threads
}

// groups returns groups of equal stacks, in the order of their first threads. Without
// Grouped, each stack is a group.
func (s *Threads) groups() (list []group) {
	index := stack.NewIndex() // of list
	for i := range s.Stacks {
		own := &s.Stacks[i]
		hash, same := uint64(0), int32(-1)
		if s.Grouped {
			hash = index.Hash(own.Frames)
			same = index.Find(hash, func(k int32) bool { return equalStacks(list[k].stack, own) })
		}
		if same < 0 {
			index.Add(hash, len(list))
			list = append(list, group{stack: own, threads: []*snapshot.Thread{own.Thread}})
			continue
		}
		g := &list[same]
		g.others, g.threads = append(g.others, own), append(g.threads, own.Thread)
	}
	return list
}

// equalStacks reports whether two threads of a target are at the same instruction, with the
// same return addresses, found in the same way. The innermost PCs must be equal too, because
// they distinguish a thread that waits for a lock from one that is about to lock it.
func equalStacks(a, b *stack.Stack) bool {
	return stack.EqualFrames(a.Frames, b.Frames) && endNote(a) == endNote(b)
}

// maxListed is the number of ranges of IDs that a heading lists.
const maxListed = 40

// groupHeading writes "thread 42 main", or "3 threads: 43-44 worker, 50 writer", and which
// thread got the signal that ended the target.
func (p *stackPrinter) groupHeading(g *group) {
	p.out = append(p.out, '\n')
	if len(g.threads) == 1 {
		p.out = append(p.out, "thread "...)
	} else {
		p.out = append(p.out, style.Count(len(g.threads), "thread")+": "...)
	}
	var names []string
	byName := make(map[string][]uint64)
	for _, t := range g.threads {
		if byName[t.Name] == nil {
			names = append(names, t.Name)
		}
		byName[t.Name] = append(byName[t.Name], uint64(t.ID))
	}
	unlisted, ranges := len(g.threads), maxListed
	for i, name := range names {
		if ranges == 0 {
			break
		}
		if i > 0 {
			p.out = append(p.out, ", "...)
		}
		ids := byName[name]
		unlisted -= len(ids)
		ids, ranges = p.ids(ids, ranges)
		unlisted += len(ids)
		if name != "" {
			p.out = append(p.out, ' ')
			p.out = p.Palette.Name.Append(p.out, printable.Text(name))
		}
	}
	p.more(unlisted)
	if s := p.signal; s != nil && slices.ContainsFunc(g.threads, func(t *snapshot.Thread) bool { return t.ID == s.Thread }) {
		p.out = append(p.out, ", "...)
		if len(g.threads) > 1 {
			p.out = fmt.Appendf(p.out, "%d ", s.Thread)
		}
		p.out = append(p.out, "got "+s.Name()...)
	}
	p.out = append(p.out, '\n')
}

// ids writes IDs, and consecutive ones as a range: "43-44 50". It writes at most limit IDs
// and ranges, and returns the unwritten IDs and the unused part of the limit.
func (p *stackPrinter) ids(ids []uint64, limit int) (unwritten []uint64, unused int) {
	for first := true; len(ids) > 0 && limit > 0; limit-- {
		if !first {
			p.out = append(p.out, ' ')
		}
		first = false
		n := 1
		for n < len(ids) && ids[n] == ids[n-1]+1 {
			n++
		}
		p.out = strconv.AppendUint(p.out, ids[0], 10)
		if n > 1 {
			p.out = append(p.out, '-')
			p.out = strconv.AppendUint(p.out, ids[n-1], 10)
		}
		ids = ids[n:]
	}
	return ids, limit
}

// more writes how many items are not listed.
func (p *stackPrinter) more(n int) {
	if n > 0 {
		p.out = fmt.Appendf(p.out, " and %s more", style.Grouped(uint64(n)))
	}
}

// merge replaces the values of variables that differ in other, the same call of another
// thread.
func (c *shownCall) merge(other *shownCall) {
	merge := func(list, others []shownVariable, equals string) {
		for k := range min(len(list), len(others)) { // a limit can shorten others
			list[k].merge(&others[k], equals)
		}
	}
	c.late = c.late || other.late
	merge(c.arguments, other.arguments, "=")
	merge(c.locals, other.locals, " = ")
}

// merge replaces the value if it differs in other. equals is the text between the name and
// the value.
func (s *shownVariable) merge(other *shownVariable, equals string) {
	s.late = s.late || other.late
	if s.name == "" {
		equals = ""
	}
	if !bytes.Equal(s.line, other.line) {
		s.line = []byte(s.name + equals + differs)
	}
	if d, o := s.data, other.data; d != nil && o != nil {
		if d.text != o.text || d.problem != o.problem {
			d.text, d.problem = "", "differs in the threads"
		}
		if d.entry != o.entry {
			d.entry = ""
		}
		if d.trace != o.trace {
			d.trace = ""
		}
	}
}
