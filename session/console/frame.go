// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/value"
)

// frame is a frame as people count them: an inlined call has one of its own.
type frame struct {
	level    int
	physical *session.Frame
	inner    int // inlined calls in the same physical frame that are inside of this one
	passed   int // and with those that are not entered yet
	scope    *value.Scope
	inlined  bool // into the next frame
	name     string
	file     string
	line     int
}

// frameID tells frames apart over stops.
type frameID struct {
	cfa, function uint64
	pc, returns   uint64 // where it is, and where its caller goes on
	depth         int    // of inlined calls
	known         bool
}

// stepped reports whether a step from frame id to another one is told by the line
// alone, as gdb does: in the same frame, and to a caller of the same function that
// the step did not reach right at the beginning of a line.
func (id frameID) stepped(to frameID) bool {
	switch {
	case !id.known || !to.known || id.function != to.function:
		return false
	case id.cfa == to.cfa:
		return id.depth == to.depth
	}
	return to.cfa > id.cfa && to.pc != id.returns
}

// here identifies the innermost frame.
func (c *Console) here() frameID {
	f, err := c.frame(0)
	if err != nil {
		return frameID{}
	}
	cfa, ok := f.physical.CFA()
	id := frameID{cfa: cfa, function: f.physical.Function.Start, pc: f.physical.PC, depth: c.inlined(f.physical), known: ok}
	if caller := f.physical.Caller(); caller != nil {
		id.returns, _ = caller.ProgramCounter()
	}
	return id
}

func (c *Console) inlined(f *session.Frame) (n int) {
	for _, l := range f.Locations {
		if l.Inlined {
			n++
		}
	}
	return n
}

// expand makes the frames that one of the machine's stands for.
func (c *Console) expand(list []*frame, p *session.Frame) []*frame {
	scopes := c.values.scopes(p)
	// Inlined calls that are not entered yet have a scope, but no location.
	skipped := max(0, len(scopes)-max(len(p.Locations), 1))
	scopes = scopes[skipped:]
	for i := range max(len(p.Locations), 1) {
		f := &frame{level: len(list), physical: p, inner: i, passed: skipped + i, name: p.Function.Name}
		if i < len(p.Locations) {
			l := p.Locations[i]
			f.file, f.line, f.inlined = l.File, l.Line, l.Inlined
			if l.Function != "" {
				f.name = l.Function
			}
		}
		if i < len(scopes) {
			f.scope = scopes[i]
			f.name = scopes[i].Function.Name
		}
		list = append(list, f)
	}
	return list
}

// errNoFrame is of a stop behind the return of the function that was called: the
// stack ends where the session has called it.
var errNoFrame = errors.New("no frame: the function has returned to the session, and \"continue\" ends the call")

// frame returns a frame by its level.
func (c *Console) frame(level int) (*frame, error) {
	if err := c.mustBeStopped(); err != nil {
		return nil, err
	}
	if len(c.frames) == 0 {
		// The second frame tells what the innermost was called with.
		stack, err := c.session.Stack(2)
		if err != nil {
			return nil, err
		}
		if len(stack.Frames) == 0 {
			return nil, errNoFrame
		}
		c.frames = c.expand(nil, &stack.Frames[0])
	}
	if level >= len(c.frames) && !c.all {
		if err := c.loadStack(); err != nil {
			return nil, err
		}
	}
	if level < 0 || level >= len(c.frames) {
		return nil, fmt.Errorf("no frame at level %d: the stack has %d", level, len(c.frames))
	}
	return c.frames[level], nil
}

func (c *Console) loadStack() error {
	stack, err := c.session.Stack(0)
	if err != nil {
		return err
	}
	c.frames = nil
	for i := range stack.Frames {
		c.frames = c.expand(c.frames, &stack.Frames[i])
	}
	c.all = true
	c.walkEnd = ""
	if stack.Reason != unwind.EndOfStack {
		c.walkEnd = fmt.Sprint(stack.Reason)
		if stack.Err != nil {
			c.walkEnd += ": " + stack.Err.Error()
		}
	}
	return nil
}

func (c *Console) selectedFrame() (*frame, error) { return c.frame(c.selected) }

// caller is the next frame of the machine, nil behind the last.
func (c *Console) caller(f *frame) *frame {
	for level := f.level + 1; ; level++ {
		next, err := c.frame(level)
		if err != nil {
			return nil
		}
		if next.physical.Level != f.physical.Level {
			return next
		}
	}
}

// lineRange is the row of the line table that an address is in.
func (c *Console) lineRange(i *session.Image, address uint64) object.LineRange {
	if i == nil {
		return object.LineRange{}
	}
	f := i.File(address)
	if f == nil {
		return object.LineRange{}
	}
	r, err := f.LineRange(address)
	if err != nil {
		return object.LineRange{}
	}
	return r
}

// inside reports whether a frame stands in the middle of a line.
func (c *Console) inside(f *frame) bool {
	switch p := f.physical; {
	case f.inner > 0:
		return false // the line of an inlined call
	case f.line == 0 || p.PC != p.LookupPC:
		return true
	default:
		// A row that is no statement, as clang has for the value of a call, begins no
		// line.
		r := c.lineRange(p.Image, p.PC)
		return r.Start != p.PC || !r.Statement
	}
}

// printFrame prints "#0  0x0000000000401136 in fib (n=10) at fib.c:3".
func (c *Console) printFrame(f *frame, level bool) {
	var b strings.Builder
	if level {
		fmt.Fprintf(&b, "#%-2d ", f.level)
	}
	if c.inside(f) {
		fmt.Fprintf(&b, "0x%016x in ", f.physical.PC)
	}
	name := f.name
	if name == "" {
		name = "??"
	}
	fmt.Fprintf(&b, "%s (%s)", c.palette.Name.Text(name), strings.Join(c.values.arguments(f), ", "))
	if f.line > 0 {
		fmt.Fprintf(&b, " at %s:%d", c.palette.Source.Text(c.source.shown(f.file)), f.line)
	} else if f.physical.Image != nil && f.physical.Image.IsHost() {
		fmt.Fprintf(&b, " from %s", f.physical.Image.Name())
	}
	if m := f.physical.Method; f.physical.Level > 0 && m != unwind.FromCFI {
		fmt.Fprintf(&b, " %s", c.palette.Dim.Text(fmt.Sprintf("[by %v]", m)))
	}
	c.printf("%s\n", b.String())
}

// printLine prints the source line that a frame is at; with middle the address
// stands before it where the frame is in the middle of the line.
func (c *Console) printLine(f *frame, middle bool) {
	if f.line == 0 {
		return
	}
	if middle && c.inside(f) {
		c.printf("0x%016x\t", f.physical.PC)
	}
	c.printf("%s\n", c.source.numbered(f.file, f.line))
	c.list.at(f.file, f.line)
}

// backtrace prints the stack: N innermost frames, -N outermost ones, with "full"
// also the local variables.
func (c *Console) backtrace(args string) error {
	if err := c.mustBeStopped(); err != nil {
		return err
	}
	full, limit := false, 0
	for _, word := range strings.Fields(args) {
		if word == "full" || word == "-full" {
			full = true
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil {
			return fmt.Errorf("backtrace takes a number of frames and \"full\", got %q", word)
		}
		limit = n
	}
	if err := c.loadStack(); err != nil {
		return err
	}
	first, end := 0, len(c.frames)
	switch {
	case limit > 0:
		end = min(end, limit)
	case limit < 0:
		first = max(0, end+limit)
	}
	for _, f := range c.frames[first:end] {
		if c.interrupt.Load() {
			return ErrInterrupted
		}
		c.printFrame(f, true)
		if full {
			c.printLocals(f, "        ")
		}
	}
	switch {
	case end < len(c.frames):
		c.printf("(More stack frames follow...)\n")
	case c.walkEnd != "":
		c.printf("Backtrace stopped: %s\n", c.walkEnd)
	}
	return nil
}

// selectFrame selects a frame and prints it.
func (c *Console) selectFrame(level int) error {
	f, err := c.frame(level)
	if err != nil {
		return err
	}
	c.selected = level
	c.printFrame(f, true)
	c.printLine(f, false)
	return nil
}

func (c *Console) frameCommand(args string) error {
	if args == "" {
		return c.selectFrame(c.selected)
	}
	word, rest, _ := strings.Cut(args, " ")
	switch word {
	case "level":
		args = strings.TrimSpace(rest)
	case "function":
		name := strings.TrimSpace(rest)
		for level := 0; ; level++ {
			f, err := c.frame(level)
			if err != nil {
				return fmt.Errorf("no frame of function %q", name)
			}
			if f.name == name {
				return c.selectFrame(level)
			}
		}
	}
	v, err := c.evaluate(args)
	if err != nil {
		return err
	}
	n, err := v.Uint()
	if err != nil {
		return err
	}
	if n > maxCount {
		return fmt.Errorf("no frame at level %s", args)
	}
	return c.selectFrame(int(n))
}

func (c *Console) up(args string) error {
	n, err := c.count(args)
	if err != nil {
		return err
	}
	if _, err := c.selectedFrame(); err != nil {
		return err
	}
	if _, err := c.frame(c.selected + 1); err != nil {
		return errors.New("initial frame selected; you can't go up")
	}
	last := c.selected + 1
	for last < c.selected+n && last+1 < len(c.frames) {
		last++
	}
	return c.selectFrame(last)
}

func (c *Console) down(args string) error {
	n, err := c.count(args)
	if err != nil {
		return err
	}
	if _, err := c.selectedFrame(); err != nil {
		return err
	}
	if c.selected == 0 {
		return errors.New("bottom (innermost) frame selected; you can't go down")
	}
	return c.selectFrame(max(0, c.selected-n))
}
