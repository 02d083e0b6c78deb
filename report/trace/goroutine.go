// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
)

// Goroutines are the goroutines of one target. A group of them (golang.Options.Group) is
// printed as one.
type Goroutines struct {
	Threads // without Stacks, Registers and Grouped; Variables needs the registers of the goroutines
	List    []golang.Goroutine
	Damage  []string // errors in the target's list of goroutines
}

// Text writes the goroutines for people. A goroutine or a group has a heading, its stack as
// Threads.Text writes it, and the go statement that created it.
func (s *Goroutines) Text(w io.Writer, opts Options) error {
	p := stackPrinter{Options: opts, machine: s.Machine, digits: 2 * s.Machine.AddressSize, variables: s.variables(opts.UTF8, false)}
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

// stacks returns the stacks of the goroutines.
func (s *Goroutines) stacks() []stack.Stack {
	stacks := make([]stack.Stack, len(s.List))
	for i := range s.List {
		stacks[i] = s.List[i].Stack
	}
	return stacks
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
	notes := append(Notes(s.stacks()), s.variableNotes()...)
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

// jsonGoroutines is the JSON form of goroutines: jsonStacks with goroutines instead of
// threads.
type jsonGoroutines struct {
	jsonStacks
	Threads    *struct{}       `json:"threads,omitempty"` // always nil; hides jsonStacks.Threads
	Goroutines []jsonGoroutine `json:"goroutines"`
}

type jsonGoroutine struct {
	ID       uint64       `json:"id"`
	State    string       `json:"state"`
	Scan     bool         `json:"scan,omitempty"`
	WaitedNS int64        `json:"waited_ns,omitempty"`
	Locked   bool         `json:"locked,omitempty"`
	System   bool         `json:"system,omitempty"`
	TID      int          `json:"tid,omitempty"`
	Created  *jsonCreated `json:"created,omitempty"`
	Also     []uint64     `json:"also,omitempty"`
	Frames   []jsonFrame  `json:"frames"`
	End      string       `json:"end"`
	Error    string       `json:"error,omitempty"`
}

type jsonCreated struct {
	Goroutine uint64 `json:"goroutine,omitempty"`
	PC        string `json:"pc"`
	Function  string `json:"function,omitempty"`
	Module    string `json:"module,omitempty"`
	Address   string `json:"address,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
}

// GoroutineSchema describes what [Goroutines.JSON] writes, besides what
// [ThreadSchema] does.
const GoroutineSchema = `Each line is an object as for threads, with goroutines instead of "threads":
  goroutines      with --group, or above 131,072, one for all that are equal:
    id
    state         "running", "runnable", "syscall", …, or why it waits: "select"
    scan          true if the garbage collector was scanning its stack
    waited_ns     how long it has waited; absent in a core, and if no garbage
                  collection has noticed it
    locked        true if it is locked to its thread
    system        true if the runtime created it for itself
    tid           the thread that runs it; absent if none does
    created       the go statement: {"goroutine", "pc", "function", "module",
                  "address", "file", "line"}; absent for the first goroutine
    also          the IDs of the others of the group: [19, 20]
    frames, end, error   as for a thread`

// JSON writes the goroutines as one JSON object on one line; ThreadSchema and
// GoroutineSchema describe it.
func (s *Goroutines) JSON(w io.Writer) error {
	variables := s.variables(true, true) // JSON is always UTF-8
	var list bytes.Buffer
	to := bufio.NewWriter(w)
	// Notes come first, but those on variables are known only after these were read. Then
	// the goroutines are buffered. Without variables there can be too many to buffer.
	buffered := s.Variables != nil
	if buffered {
		to = bufio.NewWriter(&list)
	} else if err := s.begin(to); err != nil {
		return err
	}
	for i := range s.List {
		if i > 0 {
			to.WriteByte(',')
		}
		out, err := plainJSON(s.goroutineJSON(&s.List[i], variables))
		if err != nil {
			return err
		}
		if _, err := to.Write(out); err != nil {
			return err
		}
	}
	if buffered {
		to.Flush()
		to = bufio.NewWriter(w)
		if err := s.begin(to); err != nil {
			return err
		}
		to.Write(list.Bytes())
	}
	to.WriteString("]}\n")
	return to.Flush()
}

// begin writes the members of the object before the goroutines, and the start of their list.
func (s *Goroutines) begin(w *bufio.Writer) error {
	out := jsonGoroutines{jsonStacks: s.json(), Goroutines: []jsonGoroutine{}}
	out.Notes = append(s.notes(), s.Missed...)
	text, err := plainJSON(out)
	w.Write(bytes.TrimSuffix(text, []byte("]}")))
	return err
}

// plainJSON returns the JSON form of a value, without a newline.
func plainJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	err := printable.EncodeJSON(&out, v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

func (s *Goroutines) goroutineJSON(g *golang.Goroutine, variables *variables) *jsonGoroutine {
	to := &jsonGoroutine{ID: g.ID, State: g.Name, Scan: g.Scan, WaitedNS: g.Waited.Nanoseconds(), Locked: g.Locked, System: g.System,
		Created: createdJSON(g), Frames: make([]jsonFrame, len(g.Stack.Frames)), End: g.Stack.Reason.String()}
	if g.Stack.Thread != nil {
		to.TID = g.Stack.Thread.ID
	}
	for i := range g.Others {
		to.Also = append(to.Also, g.Others[i].ID)
	}
	if g.Stack.Err != nil {
		to.Error = g.Stack.Err.Error()
	}
	variables.begin()
	own := g.StackPointers
	for k := range g.Stack.Frames {
		f := &g.Stack.Frames[k]
		to.Frames[k] = s.jsonFrame(f, variables.calls(&g.Stack, k, others(g)))
		if !f.TailCall && len(own) > 0 {
			to.Frames[k].SP, own = fmt.Sprintf("%#x", own[0]), own[1:]
		}
	}
	return to
}

func createdJSON(g *golang.Goroutine) *jsonCreated {
	f := g.Created
	if f == nil {
		return nil
	}
	out := &jsonCreated{Goroutine: g.Parent, PC: fmt.Sprintf("%#x", f.PC)}
	if name := FunctionName(f); name != unnamed {
		out.Function = name
	}
	if f.Object != nil {
		out.Module, out.Address = f.Object.Name, fmt.Sprintf("%#x", f.Address)
	}
	out.File, out.Line = innermost(f)
	return out
}
