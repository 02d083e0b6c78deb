// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
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
	Command string // "" if it is unknown
	Machine *arch.Machine
	Pause   time.Duration    // how long the target stood still; 0 if it did not
	Core    *Core            // nil for a live process
	Signal  *snapshot.Signal // the signal that will kill a live process, or nil

	// Missed lists data that could not be read and files that are missing or were refused.
	// JSON contains it. A caller that writes text prints it elsewhere.
	Missed []string
}

// Threads are the stacks of one target.
type Threads struct {
	Target
	Stacks []stack.Stack

	// Variables reads the arguments of functions; nil omits them. It needs the registers of
	// the frames: see stack.WalkOptions.
	Variables *variable.Reader
	Locals    bool // print local variables too
	Raw       bool // print the fields of types of standard libraries

	// Advice says how to get variables of objects without debugging information. It ends a
	// note that lists these objects. With "" there is no note.
	Advice string

	Registers bool // print the registers of each frame, if the walk kept them
	Grouped   bool // print threads with equal stacks as one stack
}

// Options control how stacks are printed.
type Options struct {
	Palette   style.Palette
	AllFrames bool               // also print the repeated rounds of a recursion
	UTF8      bool               // write values as UTF-8 without escapes: see print.Printer
	Source    *style.SourceFiles // reads the source lines around each frame; nil omits them
}

// signal returns the signal that ended or will end the target, or nil.
func (t *Target) signal() *snapshot.Signal {
	if t.Signal == nil && t.Core != nil {
		return t.Core.Signal
	}
	return t.Signal
}

// Text writes the stacks for people. A thread or a group has a heading. Each frame and each
// inlined call has a line, innermost first. A last line gives the reason if the walk ended
// early.
func (s *Threads) Text(w io.Writer, opts Options) error {
	p := stackPrinter{Options: opts, machine: s.Machine, digits: 2 * s.Machine.AddressSize, showRegisters: s.Registers, signal: s.signal(), variables: s.variables(opts.UTF8, false)}
	p.heading(&s.Target, style.Count(len(s.Stacks), "thread"))
	groups := s.groups()
	err := p.writeEach(w, len(groups), func(p *stackPrinter, i int) {
		p.groupHeading(&groups[i])
		p.stack(groups[i].stack, groups[i].others)
	})
	if err != nil {
		return err
	}
	p.out = appendNotes(p.out, append(s.notes(), s.Core.Notes()...))
	return p.flush(w)
}

type stackPrinter struct {
	Options
	showRegisters bool
	machine       *arch.Machine
	digits        int              // of an address
	signal        *snapshot.Signal // that one of the threads got, or nil
	variables     *variables
	places        map[uint64]*placeText // by PC; nil before the first frame
	placesSize    int                   // bytes of their text
	out           []byte
}

// heading writes a line on the target. count is the text for the number of its stacks.
func (p *stackPrinter) heading(t *Target, count string) {
	if t.Core != nil {
		p.out = append(p.out, "core of "...)
	}
	if t.Core != nil && t.PID == 0 { // truncated before its notes
		p.out = append(p.out, "an unknown process"...)
	} else {
		p.out = fmt.Appendf(p.out, "process %d", t.PID)
	}
	if t.Command != "" {
		p.out = append(p.out, ' ')
		p.out = p.Palette.Name.Append(p.out, printable.Text(t.Command))
	}
	p.out = append(p.out, ", "+count...)
	if t.Pause > 0 {
		p.out = fmt.Appendf(p.out, ", stood still for %v", t.Pause.Round(time.Microsecond))
	}
	if t.Core != nil {
		p.out = append(p.out, printable.Text(t.Core.heading())...)
	}
	p.out = append(p.out, '\n')
}

// stack writes the frames of a stack. Unless AllFrames is set, it omits the repeated rounds
// of a recursion. others are the stacks of the other members of a group.
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
		p.out = fmt.Appendf(p.out, "     %s\n", p.Palette.Error.Text(printable.Text(note)))
	}
}

// endNote returns why a walk ended early, with its error, or "".
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

// endText returns in a few words why a stack is incomplete, or "".
func endText(end unwind.Reason) string {
	if end == unwind.EndOfStack || end == unwind.CallChain {
		return ""
	}
	return end.String()
}

func (p *stackPrinter) frame(n int, f *stack.Frame, calls []shownCall) {
	late := false
	lines := p.textAt(f, calls).lines
	for i := range lines {
		c := call(calls, i+len(f.Locations)-len(lines), len(f.Locations))
		late = late || c != nil && c.late
		p.number(n)
		p.out = append(p.out, lines[i].before...)
		if c != nil {
			p.arguments(c)
		}
		p.out = append(p.out, lines[i].after...)
		if i == len(lines)-1 {
			if note := frameNote(f, late); note != "" {
				p.out = p.Palette.Rule.Append(p.out, " ["+note+"]")
			}
		}
		p.out = append(p.out, '\n')
		if i < len(f.Locations) {
			l := &f.Locations[i]
			p.out = p.Source.AppendAround(p.out, p.Palette, l.File, l.Line)
		}
		p.locals(c)
	}
	if p.showRegisters && f.Registers != nil {
		p.registers(f.Registers)
	}
}

// function writes the name of a function. If its arguments follow, it writes the name
// without parameters.
func (p *stackPrinter) function(name string, c *shownCall) {
	if c != nil && c.name != "" {
		name = c.name
	}
	p.out = p.Palette.Name.Append(p.out, printable.Text(name))
}

// place writes the offset in the function and the module of a frame.
func (p *stackPrinter) place(f *stack.Frame, name string) {
	if offset, ok := f.Offset(); ok && !f.Trampoline {
		p.out = style.AppendHex(append(p.out, '+'), offset)
	}
	if f.Object == nil {
		p.out = p.Palette.Dim.Append(p.out, " in no file")
		return
	}
	if name == unnamed {
		p.out = style.AppendHex(append(p.out, " at "...), f.Address+(f.PC-f.LookupPC))
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

// appendSource appends " at FILE:LINE", or nothing if the file is unknown.
func appendSource(dst []byte, ink style.Ink, file string, line int) []byte {
	if file == "" {
		return dst
	}
	dst = append(dst, " at "+ink.On...)
	dst = append(dst, printable.Text(file)...)
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, int64(line), 10)
	return append(dst, ink.Off...)
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

// frameNote returns remarks on a frame, if it was found in an unusual way. lateValues is true
// if its variables were read late.
func frameNote(f *stack.Frame, lateValues bool) string {
	var note string
	add := func(s string) {
		if note != "" {
			note += "; "
		}
		note += s
	}
	switch f.Method {
	case unwind.FromRegisters, unwind.FromCFI: // tail calls are FromCFI
	case unwind.FromCode:
		add("by code analysis")
	default:
		add("by " + f.Method.String())
	}
	if f.Gap {
		add(unwind.CallersMissing.String() + " before it")
	}
	if f.TailCall {
		add("tail call")
	}
	if f.Late {
		add("read after the process ran on")
	}
	if o := f.Object; o != nil && o.Generated != generated.None {
		add("by the " + o.Generated.String())
	}
	if o := f.Object; o != nil && o.Loaded && o.Name != "[vdso]" {
		add("read from memory, without its file")
	}
	if lateValues && !f.Late {
		add("values read after the process ran on")
	}
	return note
}

func appendPadded(dst []byte, v uint64, digits int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[v>>shift&0xf])
	}
	return dst
}
