// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack/recording"
	"github.com/clewdev/clew/unwind"
)

// Recording holds the stacks of a recording.
type Recording struct {
	*recording.Recording
	Path     string // of the recording
	Periods  bool   // weigh stacks by the sum of their samples' periods, not by the number of samples
	Time     bool   // the periods are nanoseconds
	ByThread bool   // print each thread by itself
}

// RecordingOptions control how a recording is printed.
type RecordingOptions struct {
	Palette   style.Palette
	Functions int // number of functions to list
	Stacks    int // number of stacks to print
}

// weight returns the weight of a stack.
func (r *Recording) weight(s *recording.Stack) uint64 {
	if r.Periods {
		return s.Weight
	}
	return s.Samples
}

// Text writes a heading for people, and for each event the hottest functions and the heaviest
// stacks. Functions have their own share and the share that includes their callees.
func (r *Recording) Text(w io.Writer, opts RecordingOptions) error {
	p := recordedPrinter{Recording: r, RecordingOptions: opts}
	p.numberFunctions()
	p.heading()
	for event := range r.Events {
		if r.Events[event].Samples == 0 {
			continue
		}
		if !r.ByThread {
			p.section(int32(event), -1)
			continue
		}
		for thread := range r.Threads {
			p.section(int32(event), int32(thread))
		}
	}
	notes := r.Notes
	if note := r.undescribed(); note != "" {
		notes = append(slices.Clip(notes), note)
	}
	_, err := w.Write(appendNotes(p.out, notes))
	return err
}

// recordedPrinter writes the text of a recording.
type recordedPrinter struct {
	*Recording
	RecordingOptions
	out []byte

	functions []recordedFunction
	// places[starts[i]:starts[i+1]] are the functions of the frame with index i of Places,
	// those of inlined calls first.
	places []int32
	starts []int
	known  map[functionKey]int32
	unit   string // of samples; "" for samples

	key  []byte // buffers of count
	runs []int32
}

// functionKey is what is shown of a function.
type functionKey struct{ name, object string }

func (p *recordedPrinter) heading() {
	p.out = append(p.out, printable.Text(p.Path)...)
	if line := p.Header.CommandLine; len(line) > 0 {
		p.out = append(p.out, ": "...)
		text := []rune(printable.Text(strings.Join(line, " ")))
		if len(text) > 100 {
			text = append(text[:99], '…')
		}
		p.out = p.Palette.Name.Append(p.out, string(text))
	}
	p.out = append(p.out, '\n')
	processes, threads := make(map[int32]bool), make(map[recording.Thread]bool)
	for i := range p.Threads {
		t := &p.Threads[i]
		processes[t.PID] = true
		threads[recording.Thread{PID: t.PID, TID: t.TID, Process: t.Process, Name: t.Name}] = true // without labels
	}
	p.out = fmt.Appendf(p.out, "%s of %s of %s", plural(p.Samples, "sample"), plural(uint64(len(threads)), "thread"), plural(uint64(len(processes)), "process"))
	if span := p.Span(); span > 0 {
		p.out = fmt.Appendf(p.out, " in %v", rounded(span))
	}
	var where []string
	if m := p.Machine; m != nil {
		where = append(where, m.Name)
	}
	if h := &p.Header; h.OSRelease != "" {
		where = append(where, "Linux "+printable.Text(h.OSRelease))
	}
	if h := p.Header.Hostname; h != "" {
		where = append(where, "host "+printable.Text(h))
	}
	if len(where) > 0 {
		p.out = append(p.out, "; "+strings.Join(where, ", ")...)
	}
	p.out = append(p.out, '\n')
}

// rounded returns a time in about four digits.
func rounded(t time.Duration) time.Duration {
	unit := time.Microsecond
	for unit < t/1000 {
		unit *= 10
	}
	return t.Round(unit)
}

// plural returns a number and a noun in singular or plural: "12345 samples".
func plural(n uint64, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.FormatUint(n, 10) + " " + noun
}

// section writes the functions and stacks of an event, of one thread or, for -1, of all.
func (p *recordedPrinter) section(event, thread int32) {
	for i := range p.functions {
		f := &p.functions[i]
		f.self, f.total, f.lastStack = 0, 0, -1
	}
	all, samples := uint64(0), uint64(0)
	groups := make(map[string]*recordedGroup)
	var functions []int32
	for i := range p.Recording.Stacks {
		s := &p.Recording.Stacks[i]
		if s.Event != event || thread >= 0 && s.Thread != thread {
			continue
		}
		weight := p.weight(s)
		all += weight
		samples += s.Samples
		functions = functions[:0]
		for place := range p.Frames(s) {
			functions = append(functions, p.places[p.starts[place]:p.starts[place+1]]...)
		}
		g := p.count(groups, functions, i, weight)
		if g.samples == 0 {
			g.end = s.Reason
		}
		g.samples += s.Samples
	}
	if samples == 0 {
		return
	}
	name := printable.Text(p.Events[event].Name)
	if name == "" {
		name = "event " + strconv.Itoa(int(event))
	}
	p.out = append(p.out, '\n')
	if thread >= 0 {
		t := &p.Threads[thread]
		p.out = p.Palette.Name.Append(p.out, fmt.Sprintf("%s, thread %d of process %d", printable.Text(t.Name), t.TID, t.PID))
		for key, value := range t.Labels() {
			p.out = fmt.Appendf(p.out, ", %s=%s", printable.Text(key), printable.Text(value))
		}
		p.out = append(p.out, ": "...)
	}
	p.out = fmt.Appendf(p.out, "%s of %s", plural(samples, "sample"), name)
	switch {
	case p.Periods && p.Time:
		p.out = fmt.Appendf(p.out, ", total time %v", rounded(time.Duration(min(all, math.MaxInt64))))
	case p.Periods:
		p.out = fmt.Appendf(p.out, ", sum of periods %d", all)
	}
	p.out = append(p.out, '\n')
	p.top(all)
	p.stacks(groups, all)
}

// count adds the weight of the stack with index i to its functions, and to the group of stacks with
// the same ones, which it returns.
func (p *recordedPrinter) count(groups map[string]*recordedGroup, functions []int32, i int, weight uint64) *recordedGroup {
	p.key, p.runs = p.key[:0], p.runs[:0]
	for k, n := range functions {
		function := &p.functions[n]
		if k == 0 {
			function.self += weight
		}
		if function.lastStack != i {
			function.lastStack = i
			function.total += weight
		}
		if k > 0 && n == functions[k-1] {
			p.runs[len(p.runs)-1]++
			continue
		}
		p.key = binary.LittleEndian.AppendUint32(p.key, uint32(n))
		p.runs = append(p.runs, 1)
	}
	g := groups[string(p.key)]
	if g == nil {
		g = &recordedGroup{functions: string(p.key), least: slices.Clone(p.runs), most: slices.Clone(p.runs)}
		groups[g.functions] = g
	}
	for k, times := range p.runs {
		g.least[k], g.most[k] = min(g.least[k], times), max(g.most[k], times)
	}
	g.weight += weight
	return g
}

// recordedGroup is stacks with the same functions. Calls of a function by itself count as one.
type recordedGroup struct {
	functions       string  // their numbers, four bytes each
	least, most     []int32 // how many times in sequence each function occurs
	weight, samples uint64
	end             unwind.Reason
}

// stacks writes the heaviest stacks, innermost function first. Calls of a function by itself
// are one line.
func (p *recordedPrinter) stacks(groups map[string]*recordedGroup, all uint64) {
	order := slices.SortedFunc(maps.Values(groups), func(a, b *recordedGroup) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.functions, b.functions))
	})
	for _, g := range order[:min(len(order), p.Stacks)] {
		number := plural(g.samples, "sample")
		if p.unit != "" {
			number = fmt.Sprintf("%d %s", g.samples, p.unit)
		}
		p.out = fmt.Appendf(p.out, "\n%6.1f%%  %s\n", share(g.weight, all), number)
		for k := range g.most {
			p.out = append(p.out, "         "...)
			p.function(&p.functions[binary.LittleEndian.Uint32([]byte(g.functions[4*k:4*k+4]))])
			switch least, most := g.least[k], g.most[k]; {
			case least < most:
				p.out = p.Palette.Dim.Append(p.out, fmt.Sprintf(" (%d to %d times)", least, most))
			case most > 1:
				p.out = p.Palette.Dim.Append(p.out, fmt.Sprintf(" (%d times)", most))
			}
			p.out = append(p.out, '\n')
		}
		if text := endText(g.end); text != "" {
			p.out = fmt.Appendf(p.out, "         %s\n", p.Palette.Error.Text(text))
		}
	}
	if n := len(order) - p.Stacks; n > 0 && p.Stacks > 0 {
		p.out = fmt.Appendf(p.out, "\n%s\n", p.Palette.Dim.Text("         and "+plural(uint64(n), "other stack")+" of functions"))
	}
}

// recordedFunction is a function, or an inlined call of one.
type recordedFunction struct {
	name, object string

	self, total uint64
	lastStack   int // index of the last stack that was added to total
}

// numberFunctions fills p.functions, p.places and p.starts.
func (p *recordedPrinter) numberFunctions() {
	places := p.Places()
	p.starts = make([]int, 1, len(places)+1)
	var calls []profile.Frame
	for i := range places {
		calls = appendCalls(calls[:0], &places[i])
		for j := range calls {
			p.places = append(p.places, p.number(&calls[j]))
		}
		p.starts = append(p.starts, len(p.places))
	}
}

// number returns the number of a function.
func (p *recordedPrinter) number(f *profile.Frame) int32 {
	if p.known == nil {
		p.known = make(map[functionKey]int32)
	}
	k := functionKey{shownName(f), shownObject(f)}
	n, ok := p.known[k]
	if !ok {
		n = int32(len(p.functions))
		p.known[k] = n
		p.functions = append(p.functions, recordedFunction{name: k.name, object: k.object, lastStack: -1})
	}
	return n
}

// top writes the functions with the largest shares.
func (p *recordedPrinter) top(all uint64) {
	if p.Functions == 0 {
		return
	}
	order := make([]int32, 0, len(p.functions))
	for i := range p.functions {
		if p.functions[i].total > 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &p.functions[a], &p.functions[b]
		return cmp.Or(cmp.Compare(y.self, x.self), cmp.Compare(y.total, x.total), cmp.Compare(x.name, y.name), cmp.Compare(x.object, y.object))
	})
	p.out = fmt.Appendf(p.out, "\n%s\n", p.Palette.Header.Text("   self   total  function"))
	for i, n := range order {
		if i == p.Functions {
			more := fmt.Sprintf("                 and %s more", plural(uint64(len(order)-i), "function"))
			p.out = fmt.Appendf(p.out, "%s\n", p.Palette.Dim.Text(more))
			break
		}
		f := &p.functions[n]
		p.out = fmt.Appendf(p.out, "%6.1f%% %6.1f%%  ", share(f.self, all), share(f.total, all))
		p.function(f)
		p.out = append(p.out, '\n')
	}
}

func share(part, all uint64) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

func (p *recordedPrinter) function(f *recordedFunction) {
	p.out = p.Palette.Name.Append(p.out, printable.Text(f.name))
	if f.object != "" {
		p.out = p.Palette.Dim.Append(p.out, " in "+printable.Text(f.object))
	}
}
