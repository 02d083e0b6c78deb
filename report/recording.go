// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clewdev/clew/target/recording"
)

// Recorded is the stacks of a recording, ready to be shown.
type Recorded struct {
	*recording.Recording
	Path string // of the recording

	// Periods says that shares are of how often the events occurred, by the
	// samples' periods, and not of the number of samples.
	Periods bool
	// ByThread says that the threads are shown one by one.
	ByThread bool
}

// RecordedOptions change how a recording is shown.
type RecordedOptions struct {
	Palette   Palette
	Functions int // how many of them are listed
	Stacks    int // how many of them are shown
}

// weight is what a stack counts.
func (r *Recorded) weight(s *recording.Stack) uint64 {
	if r.Periods {
		return s.Weight
	}
	return s.Samples
}

// Text writes for people what was recorded, the functions that took most by
// themselves and with those that they called, and the heaviest stacks; each
// event by itself.
func (r *Recorded) Text(w io.Writer, opts RecordedOptions) error {
	p := recordedPrinter{Recorded: r, RecordedOptions: opts}
	p.number()
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
	for i, note := range r.Notes {
		if i == 0 {
			p.out = append(p.out, '\n')
		}
		p.out = fmt.Appendf(p.out, "note: %s\n", Printable(note))
	}
	_, err := w.Write(p.out)
	return err
}

// recordedPrinter writes the text of a recording.
type recordedPrinter struct {
	*Recorded
	RecordedOptions
	out []byte

	functions []recordedFunction
	// The functions of the frame with index i of Places, those of inlined calls
	// first, are places[starts[i]:starts[i+1]].
	places []int32
	starts []int
}

// recordedFunction is a function, or an inlined call of one.
type recordedFunction struct {
	name, object string

	self, total uint64
	seen        int // the last stack that it was counted for
}

// number finds the functions.
func (p *recordedPrinter) number() {
	type key struct{ name, object string }
	known := make(map[key]int32)
	places := p.Places()
	p.starts = make([]int, 1, len(places)+1)
	for i := range places {
		f := &places[i]
		object := RecordedObject(f)
		add := func(name string) {
			k := key{name, object}
			n, ok := known[k]
			if !ok {
				n = int32(len(p.functions))
				known[k] = n
				p.functions = append(p.functions, recordedFunction{name: name, object: object, seen: -1})
			}
			p.places = append(p.places, n)
		}
		for k := range max(len(f.Locations)-1, 0) {
			add(Demangle(f.Locations[k].Function))
		}
		add(RecordedFunction(f))
		p.starts = append(p.starts, len(p.places))
	}
}

// RecordedFunction returns the name of the function that a frame is in, as
// FunctionName does.
func RecordedFunction(f *recording.Frame) string {
	if name := f.Symbol.Name; name != "" {
		return Demangle(unversioned(name))
	}
	if n := len(f.Locations); n > 0 && f.Locations[n-1].Function != "" {
		return Demangle(f.Locations[n-1].Function)
	}
	return unnamed
}

// RecordedObject names what a frame's code is in: the base name of a file,
// "[jit]", "[kernel]", "[hypervisor]", "[guest]", or "" where nothing is known.
func RecordedObject(f *recording.Frame) string {
	switch {
	case f.Object != nil:
		return filepath.Base(f.Object.Name)
	case f.Kind == recording.Hypervisor:
		return "[hypervisor]"
	case f.Kind == recording.Guest:
		return "[guest]"
	}
	return ""
}

func (p *recordedPrinter) heading() {
	p.out = append(p.out, Printable(p.Path)...)
	if line := p.Header.CommandLine; len(line) > 0 {
		p.out = append(p.out, ": "...)
		text := []rune(Printable(strings.Join(line, " ")))
		if len(text) > 100 {
			text = append(text[:99], '…')
		}
		p.out = p.Palette.Name.append(p.out, string(text))
	}
	p.out = append(p.out, '\n')
	processes := make(map[int32]bool)
	for i := range p.Threads {
		processes[p.Threads[i].PID] = true
	}
	p.out = fmt.Appendf(p.out, "%s of %s of %s", plural(p.Samples, "sample", "samples"),
		plural(uint64(len(p.Threads)), "thread", "threads"), plural(uint64(len(processes)), "process", "processes"))
	if span := p.Span(); span > 0 {
		unit := time.Microsecond
		for 1000*unit < span {
			unit *= 10
		}
		p.out = fmt.Appendf(p.out, " in %v", span.Round(unit))
	}
	var where []string
	if m := p.Machine; m != nil {
		where = append(where, m.Name)
	}
	if h := &p.Header; h.OSRelease != "" {
		where = append(where, "Linux "+Printable(h.OSRelease))
	}
	if h := p.Header.Hostname; h != "" {
		where = append(where, "host "+Printable(h))
	}
	if len(where) > 0 {
		p.out = append(p.out, "; "...)
		p.out = append(p.out, strings.Join(where, ", ")...)
	}
	p.out = append(p.out, '\n')
	if lost := p.Counts.Lost + p.Counts.LostSamples; lost > 0 {
		p.out = p.Palette.Error.append(p.out, plural(lost, "record was", "records were")+" lost while it was recorded")
		p.out = append(p.out, '\n')
	}
}

func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatUint(n, 10) + " " + many
}

// section writes what samples of an event took, of all threads or of one.
func (p *recordedPrinter) section(event, thread int32) {
	for i := range p.functions {
		f := &p.functions[i]
		f.self, f.total, f.seen = 0, 0, -1
	}
	all, samples := uint64(0), uint64(0)
	groups := make(map[string]*recordedGroup)
	var key []byte
	var runs []int32
	last := int32(-1)
	for i := range p.Recording.Stacks {
		s := &p.Recording.Stacks[i]
		if s.Event != event || thread >= 0 && s.Thread != thread {
			continue
		}
		weight := p.weight(s)
		all += weight
		samples += s.Samples
		first := true
		key, runs = key[:0], runs[:0]
		for place := range p.Indexes(s) {
			for _, n := range p.places[p.starts[place]:p.starts[place+1]] {
				function := &p.functions[n]
				if first {
					function.self += weight
					first = false
				}
				if function.seen != i {
					function.seen = i
					function.total += weight
				}
				if k := len(runs) - 1; k >= 0 && n == last {
					runs[k]++
					continue
				}
				key = binary.LittleEndian.AppendUint32(key, uint32(n))
				runs = append(runs, 1)
				last = n
			}
		}
		g := groups[string(key)]
		if g == nil {
			g = &recordedGroup{functions: string(key), end: s.End, least: slices.Clone(runs), most: slices.Clone(runs)}
			groups[g.functions] = g
		}
		for k, times := range runs {
			g.least[k], g.most[k] = min(g.least[k], times), max(g.most[k], times)
		}
		g.weight += weight
		g.samples += s.Samples
	}
	if samples == 0 {
		return
	}
	name := Printable(p.Events[event].Name)
	if name == "" {
		name = "event " + strconv.Itoa(int(event))
	}
	p.out = append(p.out, '\n')
	if thread >= 0 {
		t := &p.Threads[thread]
		p.out = p.Palette.Name.append(p.out, fmt.Sprintf("%s, thread %d of process %d", Printable(t.Name), t.TID, t.PID))
		p.out = append(p.out, ": "...)
	}
	p.out = fmt.Appendf(p.out, "%s of %s", plural(samples, "sample", "samples"), name)
	if p.Periods {
		p.out = fmt.Appendf(p.out, ", which stand for %d", all)
	}
	p.out = append(p.out, '\n')
	p.top(all)
	p.stacks(groups, all)
}

// top lists the functions that took most.
func (p *recordedPrinter) top(all uint64) {
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
	p.out = append(p.out, '\n')
	p.out = p.Palette.Header.append(p.out, "   self   total  function")
	p.out = append(p.out, '\n')
	for i, n := range order {
		if i == p.Functions {
			p.out = p.Palette.Dim.append(p.out, fmt.Sprintf("                 and %s more", plural(uint64(len(order)-i), "function", "functions")))
			p.out = append(p.out, '\n')
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
	p.out = p.Palette.Name.append(p.out, Printable(f.name))
	if f.object != "" {
		p.out = p.Palette.Dim.append(p.out, " in "+Printable(f.object))
	}
}

// recordedGroup is stacks of the same functions, however often one calls itself.
type recordedGroup struct {
	functions       string  // their numbers, four bytes each
	least, most     []int32 // how often each follows itself
	weight, samples uint64
	end             recording.End
}

// stacks shows the heaviest stacks, innermost function first. Calls of a function
// by itself are one line.
func (p *recordedPrinter) stacks(groups map[string]*recordedGroup, all uint64) {
	order := make([]*recordedGroup, 0, len(groups))
	for _, g := range groups {
		order = append(order, g)
	}
	slices.SortFunc(order, func(a, b *recordedGroup) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.functions, b.functions))
	})
	for _, g := range order[:min(len(order), p.Stacks)] {
		p.out = fmt.Appendf(p.out, "\n%6.1f%%  %s\n", share(g.weight, all), plural(g.samples, "sample", "samples"))
		for k := range g.most {
			p.out = append(p.out, "         "...)
			p.function(&p.functions[binary.LittleEndian.Uint32([]byte(g.functions[4*k:4*k+4]))])
			switch least, most := g.least[k], g.most[k]; {
			case least < most:
				p.out = p.Palette.Dim.append(p.out, fmt.Sprintf(" (%d to %d times)", least, most))
			case most > 1:
				p.out = p.Palette.Dim.append(p.out, fmt.Sprintf(" (%d times)", most))
			}
			p.out = append(p.out, '\n')
		}
		if g.end != recording.Whole && g.end != recording.Chain {
			p.out = append(p.out, "         "...)
			p.out = p.Palette.Error.append(p.out, g.end.String())
			p.out = append(p.out, '\n')
		}
	}
	if n := len(order) - p.Stacks; n > 0 && p.Stacks > 0 {
		p.out = append(p.out, '\n')
		p.out = p.Palette.Dim.append(p.out, "         and "+plural(uint64(n), "other stack", "other stacks")+" of functions")
		p.out = append(p.out, '\n')
	}
}

// RecordedSamples writes the samples of a recording as text. It remembers the
// lines of places.
type RecordedSamples struct {
	lines []string // of places, by their numbers
}

// Append appends a sample as lines: its thread's name, process and thread, the time
// in seconds, the period and the event, and each frame behind a tab.
func (r *RecordedSamples) Append(dst []byte, s *recording.Sample) []byte {
	t := s.Thread
	dst = append(dst, Printable(t.Name)...)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, int64(t.PID), 10)
	dst = append(dst, '/')
	dst = strconv.AppendInt(dst, int64(t.TID), 10)
	if s.HasCPU {
		dst = fmt.Appendf(dst, " [%03d]", s.CPU)
	}
	dst = append(dst, ' ')
	dst = strconv.AppendUint(dst, s.Time/1e9, 10)
	dst = append(dst, '.')
	nanoseconds := strconv.AppendUint(nil, 1e9+s.Time%1e9, 10)
	dst = append(dst, nanoseconds[1:]...)
	dst = append(dst, ": "...)
	dst = strconv.AppendUint(dst, s.Period, 10)
	dst = append(dst, ' ')
	dst = append(dst, Printable(s.Event.Name)...)
	dst = append(dst, ":\n"...)
	for n, f := range s.Places {
		for n >= len(r.lines) {
			r.lines = append(r.lines, "")
		}
		if r.lines[n] == "" {
			r.lines[n] = string(appendRecordedFrame(nil, f))
		}
		dst = append(dst, r.lines[n]...)
	}
	if s.End != recording.Whole && s.End != recording.Chain {
		dst = append(dst, "\t                 ["...)
		dst = append(dst, s.End.String()...)
		dst = append(dst, "]\n"...)
	}
	return append(dst, '\n')
}

// appendRecordedFrame appends the lines of a frame: those of inlined calls first.
func appendRecordedFrame(dst []byte, f *recording.Frame) []byte {
	for i := range max(len(f.Locations)-1, 0) {
		l := &f.Locations[i]
		dst = append(dst, "\t                 "...)
		dst = append(dst, Printable(Demangle(l.Function))...)
		dst = append(dst, " (inlined)"...)
		dst = appendSource(dst, l.File, l.Line)
	}
	dst = append(dst, '\t')
	dst = appendAligned(dst, f.Address, 16)
	dst = append(dst, ' ')
	dst = append(dst, Printable(RecordedFunction(f))...)
	if f.Symbol.Name != "" {
		dst = append(dst, "+0x"...)
		dst = strconv.AppendUint(dst, f.Offset(), 16)
	}
	dst = append(dst, " ("...)
	if f.Object != nil {
		dst = append(dst, Printable(f.Object.Name)...)
	} else {
		dst = append(dst, cmp.Or(RecordedObject(f), "no file")...)
	}
	dst = append(dst, ')')
	if n := len(f.Locations); n > 0 {
		return appendSource(dst, f.Locations[n-1].File, f.Locations[n-1].Line)
	}
	return append(dst, '\n')
}

func appendSource(dst []byte, file string, line int) []byte {
	if file != "" {
		dst = append(dst, " at "...)
		dst = append(dst, Printable(file)...)
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(line), 10)
	}
	return append(dst, '\n')
}

// appendAligned appends a number in hexadecimal, with spaces before it.
func appendAligned(dst []byte, v uint64, width int) []byte {
	var b [16]byte
	digits := strconv.AppendUint(b[:0], v, 16)
	for range width - len(digits) {
		dst = append(dst, ' ')
	}
	return append(dst, digits...)
}
