// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
)

// group holds threads with equal stacks, in the order of the target's.
type group struct {
	stack   *stack.Stack // the first one's
	threads []*snapshot.Thread
	others  []*stack.Stack // those of the other threads
}

// groups returns the stacks in groups, in the order of each one's first thread;
// where they are not to be grouped, each by itself.
func (s *Threads) groups() (list []group) {
	known := make(map[uint64][]int) // by hash: indexes of list
	seed := maphash.MakeSeed()
	for i := range s.Stacks {
		stack := &s.Stacks[i]
		if !s.Grouped {
			list = append(list, group{stack: stack, threads: []*snapshot.Thread{stack.Thread}})
			continue
		}
		var h maphash.Hash
		h.SetSeed(seed)
		for k := range stack.Frames {
			maphash.WriteComparable(&h, stack.Frames[k].PC)
		}
		at := -1
		for _, k := range known[h.Sum64()] {
			if equalStacks(list[k].stack, stack) {
				at = k
				break
			}
		}
		if at < 0 {
			at = len(list)
			known[h.Sum64()] = append(known[h.Sum64()], at)
			list = append(list, group{stack: stack})
		} else {
			list[at].others = append(list[at].others, stack)
		}
		list[at].threads = append(list[at].threads, stack.Thread)
	}
	return list
}

// equalStacks reports whether two threads of a target are at the same place: at
// the same instruction, with the same return addresses, found in the same way.
// That the innermost frames are compared too keeps apart who waits for a lock
// and who is about to.
func equalStacks(a, b *stack.Stack) bool {
	if len(a.Frames) != len(b.Frames) || endNote(a) != endNote(b) {
		return false
	}
	for i := range a.Frames {
		if !equalFrames(&a.Frames[i], &b.Frames[i]) {
			return false
		}
	}
	return true
}

func equalFrames(a, b *stack.Frame) bool {
	return a.PC == b.PC && a.LookupPC == b.LookupPC && a.Object == b.Object && a.Method == b.Method && a.Gap == b.Gap && a.Late == b.Late
}

// maxListed is how many runs of thread IDs a heading lists.
const maxListed = 40

// groupHeading writes "thread 42 main", or "3 threads: 43-44 worker, 50 writer", and which
// got the signal that ended the target.
func (p *stackPrinter) groupHeading(g *group) {
	p.out = append(p.out, '\n')
	if len(g.threads) == 1 {
		p.out = append(p.out, "thread "...)
	} else {
		p.out = append(p.out, style.Count(len(g.threads), "thread")+": "...)
	}
	var names []string
	byName := make(map[string][]int)
	for _, t := range g.threads {
		if byName[t.Name] == nil {
			names = append(names, t.Name)
		}
		byName[t.Name] = append(byName[t.Name], t.ID)
	}
	listed, left := 0, len(g.threads)
	for i, name := range names {
		if listed == maxListed {
			break
		}
		if i > 0 {
			p.out = append(p.out, ", "...)
		}
		ids := byName[name]
		for k := 0; k < len(ids) && listed < maxListed; listed++ {
			if k > 0 {
				p.out = append(p.out, ' ')
			}
			end := k + 1
			for end < len(ids) && ids[end] == ids[end-1]+1 {
				end++
			}
			p.out = strconv.AppendInt(p.out, int64(ids[k]), 10)
			if end-k > 1 {
				p.out = append(p.out, '-')
				p.out = strconv.AppendInt(p.out, int64(ids[end-1]), 10)
			}
			left -= end - k
			k = end
		}
		if name != "" {
			p.out = append(p.out, ' ')
			p.out = p.Palette.Name.Append(p.out, printable.Text(name))
		}
	}
	if left > 0 {
		p.out = fmt.Appendf(p.out, " and %s more", style.Grouped(uint64(left)))
	}
	if s := p.signal; s != nil && slices.ContainsFunc(g.threads, func(t *snapshot.Thread) bool { return t.ID == s.Thread }) {
		p.out = append(p.out, ", "...)
		if len(g.threads) > 1 {
			p.out = fmt.Appendf(p.out, "%d ", s.Thread)
		}
		p.out = append(p.out, "got "+s.Name()...)
	}
	p.out = append(p.out, '\n')
}
