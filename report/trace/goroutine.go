// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/stack/variable"
)

// Goroutines are the goroutines of one target. A group of them (golang.Options.Group) is
// printed as one.
type Goroutines struct {
	Target
	List []golang.Goroutine

	// Variables, Locals, Raw and Advice are as in Threads. Variables needs the registers of
	// the goroutines.
	Variables *variable.Reader
	Locals    bool
	Raw       bool
	Advice    string

	Damage []string // errors in the target's list of goroutines
}

// Text writes the goroutines for people. A goroutine or a group has a heading, its stack as
// Threads.Text writes it, and the go statement that created it.
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
	p.out = appendNotes(p.out, append(s.notes(), s.Core.Notes()...))
	return p.flush(w)
}

// stacks returns the fields that goroutines share with threads, without stacks.
func (s *Goroutines) stacks() *Threads {
	return &Threads{Target: s.Target, Variables: s.Variables, Locals: s.Locals, Raw: s.Raw, Advice: s.Advice}
}

// others returns the stacks of the other goroutines of a group, if their registers are known.
func others(g *golang.Goroutine) (list []*stack.Stack) {
	for i := range g.Others {
		if stack := g.Others[i].Stack; stack != nil {
			list = append(list, stack)
		}
	}
	return list
}

// notes returns the notes on all goroutines, without those on the core.
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
	ids := []uint64{first.ID}
	least, most := first.Waited, first.Waited
	for i := range first.Others {
		other := &first.Others[i]
		ids = append(ids, other.ID)
		least, most = min(least, other.Waited), max(most, other.Waited)
	}
	heading := "\ngoroutine "
	if len(ids) > 1 {
		heading = "\n" + style.Count(len(ids), "goroutine") + ": "
	}
	p.out = append(p.out, heading...)
	unlisted, _ := p.ids(ids, maxListed)
	p.more(len(unlisted))
	p.out = append(p.out, ": "...)
	p.out = p.Palette.Name.Append(p.out, printable.Text(first.Name))
	if first.Scan {
		p.out = append(p.out, ", being scanned"...)
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

// created writes the go statement that created goroutines, and the goroutine that ran it.
func (p *stackPrinter) created(g *golang.Goroutine) {
	f := g.Created
	if f == nil {
		return
	}
	p.out = append(p.out, "     created by "...)
	p.out = p.Palette.Name.Append(p.out, printable.Text(FunctionName(f)))
	if offset, ok := f.Offset(); ok {
		p.out = style.AppendHex(append(p.out, '+'), offset)
	}
	if parent := g.Parent; parent != 0 {
		if slices.ContainsFunc(g.Others, func(other golang.Other) bool { return other.Parent != parent }) {
			p.out = append(p.out, " in several goroutines"...)
		} else {
			p.out = fmt.Appendf(p.out, " in goroutine %d", parent)
		}
	}
	file, line := innermost(f)
	p.out = append(appendSource(p.out, p.Palette.Source, file, line), '\n')
}

// innermost returns the source line of a frame's innermost inlined call.
func innermost(f *stack.Frame) (file string, line int) {
	if len(f.Locations) == 0 {
		return "", 0
	}
	return f.Locations[0].File, f.Locations[0].Line
}
