// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/stack/variable"
)

// Goroutines are the goroutines of one target, ready to be shown. Those of a group
// (golang.Options.Group) are shown as one.
type Goroutines struct {
	Target
	List []golang.Goroutine

	// Variables, Locals, Raw and Advice are as those of Stacks. Goroutines must keep the
	// registers.
	Variables *variable.Reader
	Locals    bool
	Raw       bool
	Advice    string

	// Damage says what of the goroutines could not be read.
	Damage []string
}

// Text writes the goroutines for people: a heading a goroutine or a group, its stack as
// Threads.Text has it, and where it was created.
func (s *Goroutines) Text(w io.Writer, opts Options) error {
	stacks := s.stacks()
	p := stackPrinter{Options: opts, machine: s.Machine, digits: 2 * s.Machine.AddressSize, variables: stacks.variables(opts.UTF8, false)}
	n := 0
	for i := range s.List {
		n += 1 + len(s.List[i].Others)
	}
	p.heading(&s.Target, style.Count(n, "goroutine"))
	err := p.writeEach(w, len(s.List), func(p *stackPrinter, i int) {
		g := &s.List[i]
		p.goroutineHeading(g)
		p.stack(&g.Stack, others(g))
		p.created(g)
	})
	if err != nil {
		return err
	}
	p.notes(append(s.notes(), s.Core.Notes()...))
	return p.flush(w)
}

// stacks is what goroutines have in common with threads.
func (s *Goroutines) stacks() *Threads {
	return &Threads{Target: s.Target, Variables: s.Variables, Locals: s.Locals, Raw: s.Raw, Advice: s.Advice}
}

// others returns the stacks of the goroutines of a group besides the first one's, where
// they have registers.
func others(g *golang.Goroutine) (list []*stack.Stack) {
	for i := range g.Others {
		if stack := g.Others[i].Stack; stack != nil {
			list = append(list, stack)
		}
	}
	return list
}

// notes says what is to be known of the goroutines as a whole, besides the core.
func (s *Goroutines) notes() []string {
	stacks := make([]stack.Stack, len(s.List))
	for i := range s.List {
		stacks[i] = s.List[i].Stack
	}
	notes := append(Notes(stacks), s.stacks().variableNotes()...)
	for _, text := range s.Damage {
		notes = append(notes, "goroutines: "+text)
	}
	return notes
}

// goroutineHeading writes "goroutine 18: chan receive, 3 minutes, locked to thread", or
// "12 goroutines: 18-28 40: select".
func (p *stackPrinter) goroutineHeading(first *golang.Goroutine) {
	p.out = append(p.out, '\n')
	if len(first.Others) == 0 {
		p.out = append(p.out, "goroutine "...)
		p.out = strconv.AppendUint(p.out, first.ID, 10)
	} else {
		p.out = append(p.out, style.Count(1+len(first.Others), "goroutine")+": "...)
		p.goroutineIDs(first)
	}
	p.out = append(p.out, ": "...)
	p.out = p.Palette.Name.Append(p.out, printable.Text(first.Name))
	if first.Scan {
		p.out = append(p.out, ", being scanned"...)
	}
	least, most := first.Waited, first.Waited
	for i := range first.Others {
		other := &first.Others[i]
		least, most = min(least, other.Waited), max(most, other.Waited)
	}
	switch from, to := int(least/time.Minute), int(most/time.Minute); {
	case to == 0:
	case from == to:
		p.out = append(p.out, ", "+style.Count(to, "minute")...)
	default:
		p.out = fmt.Appendf(p.out, ", %d to %s", from, style.Count(to, "minute"))
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

// goroutineIDs writes the IDs of the goroutines of a group.
func (p *stackPrinter) goroutineIDs(first *golang.Goroutine) {
	id := func(k int) uint64 {
		if k == 0 {
			return first.ID
		}
		return first.Others[k-1].ID
	}
	n := 1 + len(first.Others)
	for k, listed := 0, 0; k < n; listed++ {
		if listed == maxListed {
			p.out = fmt.Appendf(p.out, " and %s more", style.Grouped(uint64(n-k)))
			return
		}
		if k > 0 {
			p.out = append(p.out, ' ')
		}
		end := k + 1
		for end < n && id(end) == id(end-1)+1 {
			end++
		}
		p.out = strconv.AppendUint(p.out, id(k), 10)
		if end-k > 1 {
			p.out = append(p.out, '-')
			p.out = strconv.AppendUint(p.out, id(end-1), 10)
		}
		k = end
	}
}

// created writes which go statement created goroutines, and in which one it ran.
func (p *stackPrinter) created(g *golang.Goroutine) {
	f := g.Created
	if f == nil {
		return
	}
	p.out = append(p.out, "     created by "...)
	p.out = p.Palette.Name.Append(p.out, printable.Text(FunctionName(f)))
	if offset, ok := f.Offset(); ok {
		p.out = append(p.out, "+0x"...)
		p.out = strconv.AppendUint(p.out, offset, 16)
	}
	if parent := g.Parent; parent != 0 {
		if slices.ContainsFunc(g.Others, func(other golang.Other) bool { return other.Parent != parent }) {
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
func innermost(f *stack.Frame) (file string, line int) {
	if len(f.Locations) == 0 {
		return "", 0
	}
	return f.Locations[0].File, f.Locations[0].Line
}
