// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/stack/variable"
	"github.com/clewdev/clew/unwind"
)

// Target describes a target, apart from its threads and goroutines.
type Target struct {
	PID     int    // 0 if a core lacks it
	Command string // what the target runs, "" where it is not known
	Machine *arch.Machine
	Pause   time.Duration // how long the target stood still, 0 where it did not
	Core    *Core         // that it is from, nil of a live process

	// Signal is what a live process is about to die of, nil for nothing.
	Signal *snapshot.Signal

	// Missed says what could not be read, and which files were refused or are not to
	// be had. It is a part of what programs read; who shows text tells it beside it.
	Missed []string
}

// Threads are the stacks of one target, ready to be shown.
type Threads struct {
	Target
	Stacks []stack.Stack

	// Variables reads the arguments that are shown with their functions, nil for
	// none. The walk must have kept the registers.
	Variables *variable.Reader
	Locals    bool // show local variables too
	Raw       bool // show what values of the types of standard libraries are made of

	// Advice is what gives variables to objects without debugging information: these
	// are named with it, unless it is "".
	Advice string

	// Registers says that those of each frame are shown too, where the walk kept them.
	Registers bool

	// Grouped says that threads with equal stacks are shown as one stack.
	Grouped bool
}

// Options changes how stacks are shown.
type Options struct {
	Palette   style.Palette
	AllFrames bool // also those that only repeat the round of a recursion before them

	// UTF8 says that the text of values is written as it is, for who reads UTF-8: see
	// print.Printer.
	UTF8 bool

	// Source reads the lines around each frame that are shown below it, nil for none.
	Source *style.SourceFiles
}

// signal returns what ends the target, or has ended it; nil for nothing.
func (t *Target) signal() *snapshot.Signal {
	if t.Signal == nil && t.Core != nil {
		return t.Core.Signal
	}
	return t.Signal
}

// Text writes the stacks for people: a heading a thread or a group, a line a
// frame, an inlined call on a line of its own above the function that it was inlined
// into, and what ended a walk early.
func (s *Threads) Text(w io.Writer, opts Options) error {
	p := stackPrinter{Options: opts, machine: s.Machine, digits: 2 * s.Machine.AddressSize, showsAll: s.Registers, signal: s.signal(), variables: s.variables(opts.UTF8, false)}
	p.heading(&s.Target, style.Count(len(s.Stacks), "thread"))
	groups := s.groups()
	err := p.writeEach(w, len(groups), func(p *stackPrinter, i int) {
		p.groupHeading(&groups[i])
		p.stack(groups[i].stack, groups[i].others)
	})
	if err != nil {
		return err
	}
	p.notes(append(s.notes(), s.Core.Notes()...))
	return p.flush(w)
}

func (p *stackPrinter) notes(notes []string) {
	for i, note := range notes {
		if i == 0 {
			p.out = append(p.out, '\n')
		}
		p.out = append(p.out, "note: "...)
		p.out = append(p.out, printable.Text(note)...)
		p.out = append(p.out, '\n')
	}
}

// notes are those of the stacks and of their variables.
func (s *Threads) notes() []string {
	notes := Notes(s.Stacks)
	if note := s.undescribed(); note != "" {
		notes = append(notes, note)
	}
	return append(notes, s.variableNotes()...)
}

// variableNotes says why there are no variables, once they were read.
func (s *Threads) variableNotes() (notes []string) {
	if s.Variables == nil {
		return nil
	}
	if err := s.Variables.Err(); err != nil {
		notes = printable.Lines(err)
	}
	if bare := s.Variables.Bare(); len(bare) > 0 && s.Advice != "" {
		var names []string
		for _, o := range bare {
			if o.Go {
				notes = append(notes, fmt.Sprintf("%s has no debugging information, so that of its functions' arguments only the numbers are known that Go's own traces have: "+
					"link it without -s and -w, which leave it out of a Go program", o.Name))
			} else {
				names = append(names, o.Name)
			}
		}
		if len(names) == 0 {
			return notes
		}
		has, its := "has", "its"
		if len(names) > 1 {
			has, its = "have", "their"
		}
		notes = append(notes, fmt.Sprintf("%s %s no debugging information, so that nothing is known of %s functions' variables: %s",
			strings.Join(names, ", "), has, its, s.Advice))
	}
	return notes
}

// Notes says what is to be known of stacks as a whole, in sentences without a
// full stop: which threads' memory was not copied while they stood still, and
// which objects have no call frame information, so that frames were found by
// frame pointers, which miss what a function without one has called.
func Notes(stacks []stack.Stack) (notes []string) {
	if note := uncopied(stacks); note != "" {
		notes = append(notes, note)
	}
	seen := make(map[*stack.Object]bool)
	for i := range stacks {
		frames := stacks[i].Frames
		for k := 1; k < len(frames); k++ {
			// The rules of a frame lead to the next one.
			o := frames[k-1].Object
			if frames[k].Method != unwind.FromFramePointer || o == nil || !o.Bare || seen[o] {
				continue
			}
			seen[o] = true
			why := ""
			if o.Go {
				why = " (a Go program linked with -w has none)"
			}
			notes = append(notes, o.Name+" has no call frame information"+why+"; its frames were found by frame pointers")
		}
	}
	return notes
}

// uncopied says of how many threads that have frames not all was copied, and why of the
// first.
func uncopied(stacks []stack.Stack) string {
	threads := make(map[int]bool)
	var first error
	for i := range stacks {
		t := stacks[i].Thread
		if t == nil || t.Err == nil || len(stacks[i].Frames) == 0 {
			continue
		}
		if first == nil {
			first = t.Err
		}
		threads[t.ID] = true
	}
	if first == nil {
		return ""
	}
	return fmt.Sprintf("not all was copied of %s: %v", style.Count(len(threads), "thread"), first)
}

type stackPrinter struct {
	Options
	showsAll  bool // also registers
	machine   *arch.Machine
	digits    int              // of an address
	signal    *snapshot.Signal // that one of the threads got; nil for none
	variables *variables
	places    map[uint64]*placeText // by PC; nil before the first frame
	kept      int                   // bytes of their text
	out       []byte
}

// heading describes the target; what counts its stacks.
func (p *stackPrinter) heading(t *Target, what string) {
	if t.Core != nil {
		p.out = append(p.out, "core of "...)
	}
	if t.Core != nil && t.PID == 0 { // cut off before its notes
		p.out = append(p.out, "an unknown process"...)
	} else {
		p.out = fmt.Appendf(p.out, "process %d", t.PID)
	}
	if t.Command != "" {
		p.out = append(p.out, ' ')
		p.out = p.Palette.Name.Append(p.out, printable.Text(t.Command))
	}
	p.out = append(p.out, ", "+what...)
	if t.Pause > 0 {
		p.out = fmt.Appendf(p.out, ", stood still for %v", t.Pause.Round(time.Microsecond))
	}
	if t.Core != nil {
		p.out = append(p.out, printable.Text(t.Core.heading())...)
	}
	p.out = append(p.out, '\n')
}

// stack writes the frames of a stack, or those that do not only repeat a round of a
// recursion. It stands for others too.
func (p *stackPrinter) stack(s *stack.Stack, others []*stack.Stack) {
	p.variables.begin()
	for _, part := range stackParts(s.Frames, p.AllFrames) {
		frames := s.Frames[part.start : part.start+part.frames]
		for k := range frames {
			p.frame(part.start+k, &frames[k], p.variables.calls(s, part.start+k, others))
		}
		if part.repeated > 0 {
			p.repeated(frames[part.frames-part.round:], part.repeated)
		}
	}
	if note := endNote(s); note != "" {
		p.out = append(p.out, "     "...)
		p.out = p.Palette.Error.Append(p.out, printable.Text(note))
		p.out = append(p.out, '\n')
	}
}

// endNote says why a stack ends where it does, "" where that is its end.
func endNote(s *stack.Stack) string {
	if s.Reason == unwind.EndOfStack {
		return ""
	}
	if len(s.Frames) == 0 && s.Err != nil {
		return s.Err.Error()
	}
	if s.Err == nil {
		return s.Reason.String()
	}
	return s.Reason.String() + ": " + s.Err.Error()
}

// mayLack is said of stacks that lead to their end, but can lack callers.
const mayLack = "callers may be missing"

// end says in a few words why a stack is not whole, "" where it is.
func end(s *stack.Stack) string {
	switch {
	case s.Reason != unwind.EndOfStack:
		return s.Reason.String()
	case s.HasGap():
		return mayLack
	}
	return ""
}

func (p *stackPrinter) frame(n int, f *stack.Frame, calls []shownCall) {
	late := false
	for i := range f.Locations {
		if c := call(calls, i, len(f.Locations)); c != nil {
			late = late || c.late
		}
	}
	lines := p.textAt(f, calls).lines
	last := len(lines) - 1
	for i := range last {
		l, c := &f.Locations[i], call(calls, i, len(f.Locations))
		p.line(n, &lines[i], c)
		p.out = append(p.out, '\n')
		p.out = p.Source.AppendAround(p.out, p.Palette, l.File, l.Line)
		p.locals(c)
	}
	l, c := f.Location(), call(calls, len(f.Locations)-1, len(f.Locations))
	p.line(n, &lines[last], c)
	note := frameNote(f)
	if late && !f.Late {
		if note != "" {
			note += "; "
		}
		note += "values read after the process ran on"
	}
	if note != "" {
		p.out = p.Palette.Rule.Append(p.out, " ["+note+"]")
	}
	p.out = append(p.out, '\n')
	if l != nil {
		p.out = p.Source.AppendAround(p.out, p.Palette, l.File, l.Line)
	}
	p.locals(c)
	if p.showsAll && f.Registers != nil {
		p.registers(f.Registers)
	}
}

// line writes a line of a frame, without its end.
func (p *stackPrinter) line(n int, text *lineText, c *shownCall) {
	p.number(n)
	p.out = append(p.out, text.before...)
	if c != nil {
		p.arguments(c)
	}
	p.out = append(p.out, text.after...)
}

// function writes the name of a function: where its arguments are known that of the
// source, which has no parameters.
func (p *stackPrinter) function(name string, c *shownCall) {
	if c != nil && c.name != "" {
		name = c.name
	}
	p.out = p.Palette.Name.Append(p.out, printable.Text(name))
}

// place writes where in its module a frame is.
func (p *stackPrinter) place(f *stack.Frame, name string) {
	if offset, ok := f.Offset(); ok && !f.Trampoline {
		p.out = append(p.out, '+')
		p.out = append(p.out, "0x"...)
		p.out = strconv.AppendUint(p.out, offset, 16)
	}
	if f.Object == nil {
		p.out = p.Palette.Dim.Append(p.out, " in no file")
		return
	}
	if name == unnamed {
		p.out = append(p.out, " at 0x"...)
		p.out = strconv.AppendUint(p.out, f.Address+(f.PC-f.LookupPC), 16)
	}
	p.out = p.Palette.Dim.Append(p.out, " in "+printable.Text(filepath.Base(f.Object.Name)))
}

func (p *stackPrinter) number(n int) {
	switch {
	case n < 10:
		p.out = append(p.out, "  #"...)
	case n < 100:
		p.out = append(p.out, " #"...)
	default:
		p.out = append(p.out, '#')
	}
	p.out = strconv.AppendInt(p.out, int64(n), 10)
	p.out = append(p.out, ' ')
}

func (p *stackPrinter) source(file string, line int) {
	if file == "" {
		return
	}
	p.out = append(p.out, " at "...)
	ink := p.Palette.Source
	p.out = append(p.out, ink.On...)
	p.out = append(p.out, printable.Text(file)...)
	p.out = append(p.out, ':')
	p.out = strconv.AppendInt(p.out, int64(line), 10)
	p.out = append(p.out, ink.Off...)
}

// registers writes the known registers of a frame, four a line.
func (p *stackPrinter) registers(r unwind.FrameRegisters) {
	n := 0
	for column := range uint64(unwind.MaxColumns) {
		v, ok := r.Get(column)
		if !ok {
			continue
		}
		if n%4 == 0 {
			p.out = append(p.out, "     "...)
		}
		name := p.machine.RegisterName(column)
		for range max(1, 5-len(name)) {
			p.out = append(p.out, ' ')
		}
		p.out = p.Palette.Dim.Append(p.out, name)
		p.out = append(p.out, " 0x"...)
		p.out = appendPadded(p.out, v, p.digits)
		if n++; n%4 == 0 {
			p.out = append(p.out, '\n')
		}
	}
	if n%4 != 0 {
		p.out = append(p.out, '\n')
	}
}

// frameNote says what is particular about how a frame was found.
func frameNote(f *stack.Frame) string {
	var note string
	switch f.Method {
	case unwind.FromRegisters, unwind.FromCFI: // that of every tail call
	default:
		note = "by " + f.Method.String()
	}
	add := func(s string) {
		if note != "" {
			note += "; "
		}
		note += s
	}
	if f.Gap {
		add(mayLack + " before it")
	}
	if f.TailCall {
		add("tail call")
	}
	if f.Late {
		add("read after the process ran on")
	}
	if f.Object != nil && f.Object.Generated != generated.None {
		add("by the " + f.Object.Generated.String())
	}
	if f.Object != nil && f.Object.Loaded && f.Object.Name != "[vdso]" {
		add("read from memory, without its file")
	}
	return note
}

func appendPadded(dst []byte, v uint64, digits int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[v>>shift&0xf])
	}
	return dst
}
