// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/target/variable"
)

// Goroutines are the goroutines of one target, ready to be shown.
type Goroutines struct {
	Target
	List []target.Goroutine

	// Variables, Locals, Raw and Advice are as those of Stacks. Goroutines must keep the
	// registers.
	Variables *variable.Reader
	Locals    bool
	Raw       bool
	Advice    string

	// Damage says what of the goroutines could not be read.
	Damage []string

	// Grouped says that goroutines whose state, stack and creation are equal are shown
	// as one.
	Grouped bool
}

// Text writes the goroutines for people: a heading a goroutine or a group, its stack as
// Stacks.Text has it, and where it was created.
func (s *Goroutines) Text(w io.Writer, opts StackOptions) error {
	stacks := s.stacks()
	p := stackPrinter{StackOptions: opts, machine: s.Machine, digits: 2 * s.Machine.AddressSize, variables: stacks.variables(opts.UTF8, false)}
	p.heading(&s.Target, count(len(s.List), "goroutine"))
	groups := s.groups()
	err := p.writeEach(w, len(groups), func(p *stackPrinter, i int) {
		g := groups[i]
		p.goroutineHeading(g)
		p.stack(&g[0].Stack, others(g))
		p.created(g)
	})
	if err != nil {
		return err
	}
	p.notes(append(s.notes(), s.Core.notes()...))
	return p.flush(w)
}

// stacks is what goroutines have in common with threads.
func (s *Goroutines) stacks() *Stacks {
	return &Stacks{Target: s.Target, Variables: s.Variables, Locals: s.Locals, Raw: s.Raw, Advice: s.Advice}
}

// others returns the stacks of the goroutines of a group besides the first one's.
func others(g []*target.Goroutine) (list []*target.Stack) {
	for _, other := range g[1:] {
		list = append(list, &other.Stack)
	}
	return list
}

// notes says what is to be known of the goroutines as a whole, besides the core.
func (s *Goroutines) notes() []string {
	stacks := make([]target.Stack, len(s.List))
	for i := range s.List {
		stacks[i] = s.List[i].Stack
	}
	notes := append(Notes(stacks), s.stacks().variableNotes()...)
	for _, text := range s.Damage {
		notes = append(notes, "goroutines: "+text)
	}
	return notes
}

// groups returns the goroutines in groups, in the order of each one's first; where they
// are not to be grouped, each by itself.
func (s *Goroutines) groups() (list [][]*target.Goroutine) {
	known := make(map[uint64][]int) // by hash: indexes of list
	seed := maphash.MakeSeed()
	for i := range s.List {
		g := &s.List[i]
		if !s.Grouped {
			list = append(list, []*target.Goroutine{g})
			continue
		}
		var h maphash.Hash
		h.SetSeed(seed)
		h.WriteString(g.Name)
		maphash.WriteComparable(&h, g.Created.PC)
		for k := range g.Stack.Frames {
			maphash.WriteComparable(&h, g.Stack.Frames[k].PC)
		}
		at := slices.IndexFunc(known[h.Sum64()], func(k int) bool { return equalGoroutines(list[k][0], g) })
		if at < 0 {
			known[h.Sum64()] = append(known[h.Sum64()], len(list))
			list = append(list, []*target.Goroutine{g})
			continue
		}
		at = known[h.Sum64()][at]
		list[at] = append(list[at], g)
	}
	for _, g := range list {
		slices.SortStableFunc(g, func(a, b *target.Goroutine) int { return int(min(1, max(-1, int64(a.ID-b.ID)))) })
	}
	return list
}

// equalGoroutines reports whether two goroutines of a target are in the same state at
// the same place, and were created by the same go statement.
func equalGoroutines(a, b *target.Goroutine) bool {
	return a.Name == b.Name && a.Scan == b.Scan && a.Locked == b.Locked && a.System == b.System && a.Created.PC == b.Created.PC &&
		a.Stack.Thread == b.Stack.Thread && equalStacks(&a.Stack, &b.Stack)
}

// goroutineHeading writes "goroutine 18: chan receive, 3 minutes, locked to thread", or
// "12 goroutines: 18-28 40: select".
func (p *stackPrinter) goroutineHeading(g []*target.Goroutine) {
	first := g[0]
	p.out = append(p.out, '\n')
	if len(g) == 1 {
		p.out = append(p.out, "goroutine "...)
		p.out = strconv.AppendUint(p.out, first.ID, 10)
	} else {
		p.out = append(p.out, count(len(g), "goroutine")+": "...)
		p.goroutineIDs(g)
	}
	p.out = append(p.out, ": "...)
	p.out = p.Palette.Name.append(p.out, Printable(first.Name))
	if first.Scan {
		p.out = append(p.out, ", being scanned"...)
	}
	least, most := first.Waited, first.Waited
	for _, other := range g {
		least, most = min(least, other.Waited), max(most, other.Waited)
	}
	switch from, to := int(least/time.Minute), int(most/time.Minute); {
	case to == 0:
	case from == to:
		p.out = append(p.out, ", "+count(to, "minute")...)
	default:
		p.out = fmt.Appendf(p.out, ", %d to %s", from, count(to, "minute"))
	}
	if first.Locked {
		p.out = append(p.out, ", locked to thread"...)
	}
	if first.System {
		p.out = append(p.out, ", the runtime's own"...)
	}
	if t := first.Stack.Thread; t != nil {
		p.out = fmt.Appendf(p.out, ", on thread %d", t.ID)
	}
	p.out = append(p.out, '\n')
}

// goroutineIDs writes the IDs of goroutines that are sorted by them.
func (p *stackPrinter) goroutineIDs(g []*target.Goroutine) {
	for k, listed := 0, 0; k < len(g); listed++ {
		if listed == maxListed {
			p.out = fmt.Appendf(p.out, " and %s more", grouped(uint64(len(g)-k)))
			return
		}
		if k > 0 {
			p.out = append(p.out, ' ')
		}
		end := k + 1
		for end < len(g) && g[end].ID == g[end-1].ID+1 {
			end++
		}
		p.out = strconv.AppendUint(p.out, g[k].ID, 10)
		if end-k > 1 {
			p.out = append(p.out, '-')
			p.out = strconv.AppendUint(p.out, g[end-1].ID, 10)
		}
		k = end
	}
}

// created writes which go statement created goroutines, and in which one it ran.
func (p *stackPrinter) created(g []*target.Goroutine) {
	f := &g[0].Created
	if f.PC == 0 {
		return
	}
	p.out = append(p.out, "     created by "...)
	p.out = p.Palette.Name.append(p.out, Printable(FunctionName(f)))
	if offset, ok := f.Offset(); ok {
		p.out = append(p.out, "+0x"...)
		p.out = strconv.AppendUint(p.out, offset, 16)
	}
	if parent := g[0].Parent; parent != 0 {
		if slices.ContainsFunc(g, func(other *target.Goroutine) bool { return other.Parent != parent }) {
			p.out = append(p.out, " in several goroutines"...)
		} else {
			p.out = fmt.Appendf(p.out, " in goroutine %d", parent)
		}
	}
	if file, line := innermost(f); file != "" {
		p.source(file, line)
	}
	p.out = append(p.out, '\n')
}

// innermost returns where in the source a frame is, in what was inlined into it.
func innermost(f *target.Frame) (file string, line int) {
	if len(f.Locations) == 0 {
		return "", 0
	}
	return f.Locations[0].File, f.Locations[0].Line
}
