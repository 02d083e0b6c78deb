// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/unwind"
)

// frameID identifies a frame across stops.
type frameID struct {
	cfa, function uint64
	pc, returns   uint64 // program counter, and return address
	depth         int    // of inlined calls
	known         bool
}

// stepped reports whether a step between two frames is shown by its line alone. Like gdb,
// that is so in the same frame, and for a return to the same function unless the step ends
// exactly at the return address.
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
	cfa, ok := f.Physical.CFA()
	id := frameID{cfa: cfa, function: c.entryOf(f.Physical.LookupPC), pc: f.Physical.PC, known: ok}
	for _, l := range f.Physical.Locations {
		if l.Inlined {
			id.depth++
		}
	}
	if caller := f.Physical.ReturnsTo(); caller != nil {
		id.returns = caller.PC
	}
	return id
}

// entryOf returns the entry point of the function at an address, which can be in a part of the
// function elsewhere (.text.unlikely). It returns 0 if the function is unknown.
func (c *Console) entryOf(address uint64) uint64 {
	image := c.session.Image(address)
	if image == nil {
		return 0
	}
	if file := image.File(address); file != nil {
		if list, _ := file.FunctionsAt(address); len(list) > 0 {
			return list[len(list)-1].Entry
		}
	}
	fn, _ := image.Function(address)
	return fn.Start
}

// errNoFrame is the error of a stop after the called function has returned, but before the
// session notices: the stack is empty.
var errNoFrame = errors.New("no frame: the function has returned to the session, and \"continue\" ends the call")

func (c *Console) frame(level int) (*frontend.Frame, error) {
	if err := c.mustBeStopped(); err != nil {
		return nil, err
	}
	list, err := c.frames.Load(max(level+1, 1))
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, errNoFrame
	case level < 0 || level >= len(list):
		return nil, fmt.Errorf("no frame at level %d: the stack has %d", level, len(list))
	}
	return list[level], nil
}

func (c *Console) selectedFrame() (*frontend.Frame, error) { return c.frame(c.selected) }

// inside reports whether a frame is in the middle of a line.
func (c *Console) inside(f *frontend.Frame) bool {
	switch p := f.Physical; {
	case f.Location.Line == 0:
		return true
	case f.Inner > 0 || f.Passed > 0 && p.PC == p.LookupPC:
		return false // the line of an inlined call, which need not be entered yet
	case p.PC != p.LookupPC:
		return true
	default:
		// A row that is not a statement does not begin a line. clang has such rows for the
		// values of calls.
		r := frontend.Row(c.session, p.PC)
		return r.Start != p.PC || !r.Statement
	}
}

// printFrame prints "#0  0x0000000000401136 in fib (n=10) at fib.c:3".
func (c *Console) printFrame(f *frontend.Frame, level bool) {
	var b strings.Builder
	if level {
		fmt.Fprintf(&b, "#%-2d ", f.Level)
	}
	if f.Physical.Marker {
		c.printf("%s%s\n", b.String(), f.Name)
		return
	}
	if c.inside(f) {
		fmt.Fprintf(&b, "0x%016x in ", f.Physical.PC)
	}
	name := f.Name
	if name == "" {
		name = "??"
	}
	fmt.Fprintf(&b, "%s (%s)", c.palette.Name.Text(name), strings.Join(c.arguments(f), ", "))
	if f.Location.Line > 0 {
		fmt.Fprintf(&b, " at %s:%d", c.palette.Source.Text(c.source.shown(f.Location.File)), f.Location.Line)
	} else if f.Physical.Image != nil && f.Physical.Image.IsHost() {
		fmt.Fprintf(&b, " from %s", f.Physical.Image.Name())
	}
	if m := f.Physical.Method; f.Physical.Level > 0 && m != unwind.FromCFI && m != unwind.FromRegisters {
		fmt.Fprintf(&b, " %s", c.palette.Dim.Text(fmt.Sprintf("[by %v]", m)))
	}
	c.printf("%s\n", b.String())
}

// printLine prints the source line of a frame. With address it prints the address first if
// the frame is in the middle of the line.
func (c *Console) printLine(f *frontend.Frame, address bool) {
	if f.Location.Line == 0 {
		return
	}
	if address && c.inside(f) {
		c.printf("0x%016x\t", f.Physical.PC)
	}
	c.printf("%s\n", c.source.numbered(f.Location.File, f.Location.Line))
	c.list.at(f.Location.File, f.Location.Line)
}

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
	frames, err := c.frames.Load(0)
	if err != nil {
		return err
	}
	first, end := 0, len(frames)
	switch {
	case limit > 0:
		end = min(end, limit)
	case limit < 0:
		first = max(0, end+limit)
	}
	for _, f := range frames[first:end] {
		if c.interrupt.Load() {
			return ErrInterrupted
		}
		c.printFrame(f, true)
		if full {
			c.printLocals(f, "        ", nil)
		}
	}
	switch reason, err := c.frames.End(); {
	case end < len(frames):
		c.printf("(More stack frames follow...)\n")
	case reason != unwind.EndOfStack && err != nil:
		c.printf("Backtrace stopped: %v: %v\n", reason, err)
	case reason != unwind.EndOfStack:
		c.printf("Backtrace stopped: %v\n", reason)
	}
	return nil
}

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
	word, name, _ := strings.Cut(args, " ")
	name = strings.TrimSpace(name)
	switch word {
	case "level":
		args = name
	case "function":
		for level := 0; ; level++ {
			f, err := c.frame(level)
			if err != nil {
				return fmt.Errorf("no frame of function %q", name)
			}
			if f.Name == name {
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

func (c *Console) up(args string) error   { return c.move(args, 1) }
func (c *Console) down(args string) error { return c.move(args, -1) }

// move selects a frame a number of levels away in a direction: 1 is up, to callers.
func (c *Console) move(args string, direction int) error {
	n, err := c.count(args)
	if err != nil {
		return err
	}
	if _, err := c.selectedFrame(); err != nil {
		return err
	}
	frames, err := c.frames.Load(c.selected + n + 1)
	if err != nil {
		return err
	}
	switch level := min(max(0, c.selected+direction*n), len(frames)-1); {
	case level != c.selected:
		return c.selectFrame(level)
	case direction > 0:
		return errors.New("initial frame selected; you can't go up")
	}
	return errors.New("bottom (innermost) frame selected; you can't go down")
}

// infoFrame describes the selected frame, or the frame at a level: "2" or "level 2".
func (c *Console) infoFrame(args string) error {
	f, err := c.selectedFrame()
	if err != nil {
		return err
	}
	heading := fmt.Sprintf("Stack level %d", f.Level)
	if args != "" {
		level, err := c.evaluate(strings.TrimPrefix(args, "level "))
		if err != nil {
			return fmt.Errorf("%w; info frame takes the level of a frame%s", err, inGDB)
		}
		n, err := level.Uint()
		if err != nil {
			return err
		}
		if f, err = c.frame(int(min(n, maxCount))); err != nil {
			return err
		}
		heading = "Stack frame"
	}
	p := f.Physical
	cfa, known := p.CFA()
	if known {
		separator := ", frame"
		if args != "" {
			separator = ""
		}
		c.printf("%s%s at %#x:\n", heading, separator, cfa)
	} else {
		c.printf("%s:\n", heading)
	}
	line := ""
	if f.Location.Line > 0 {
		line = fmt.Sprintf(" (%s:%d)", c.source.shown(f.Location.File), f.Location.Line)
	}
	pc := c.registerAlias("pc")
	c.printf(" %s = %#x", pc, p.PC)
	if f.Name != "" {
		c.printf(" in %s%s", f.Name, line)
	}
	caller := p.ReturnsTo()
	if caller != nil {
		c.printf("; saved %s = %#x", pc, caller.PC)
	}
	c.printf("\n%s", c.neighbours(f, caller))
	switch {
	case p.TailCall:
		c.printf(" tail call frame: another function took its place\n")
	case p.Level > 0:
		c.printf(" found by %v\n", p.Method)
	}
	base, hasBase := c.frameBase(f)
	if f.Scope != nil {
		if name := languageName(p.Info().Language(p.LookupPC)); name != "" {
			c.printf(" source language %s.\n", name)
		}
		if hasBase {
			c.printf(" Arglist at %#x,", base)
		}
		c.printf(" args: %s\n", strings.Join(c.arguments(f), ", "))
	}
	if known {
		if hasBase {
			c.printf(" Locals at %#x,", base)
		}
		c.printf(" Previous frame's sp is %#x\n", cfa)
		if saved := c.savedRegisters(f, cfa); len(saved) > 0 {
			c.printf(" Saved registers:\n  %s\n", strings.Join(saved, ", "))
		}
	}
	return nil
}

// neighbours returns the line about the frames around a frame.
func (c *Console) neighbours(f *frontend.Frame, caller *session.Frame) string {
	var text string
	if f.Inlined {
		text = fmt.Sprintf(" inlined into frame %d", f.Level+1)
	} else if caller == nil {
		text = " outermost frame: it was called by the session"
	} else if cfa, ok := caller.CFA(); ok {
		text = fmt.Sprintf(" called by frame at %#x", cfa)
	}
	if f.Level > 0 {
		if inner, err := c.frame(f.Level - 1); err == nil {
			if cfa, ok := inner.Physical.CFA(); ok {
				if text != "" {
					text += ","
				}
				text += fmt.Sprintf(" caller of frame at %#x", cfa)
			}
		}
	}
	if text != "" {
		text += "\n"
	}
	return text
}

// frameBase returns the address that gdb shows for the arguments and the local variables of a frame on
// amd64. It is rbp after a prologue with a frame pointer, and otherwise relative to rsp: gdb's amd64_frame_base_address.
func (c *Console) frameBase(f *frontend.Frame) (base uint64, ok bool) {
	m := jit.Host()
	if m.ELF != elf.EM_X86_64 || f.Physical.TailCall {
		return 0, false
	}
	start := f.Physical.Function.Start
	code := make([]byte, 8)
	if start == 0 || c.session.ReadMemory(code, start) != nil {
		return 0, false
	}
	if bytes.HasPrefix(code, []byte{0xf3, 0x0f, 0x1e, 0xfa}) { // endbr64
		start, code = start+4, code[4:]
	}
	register, offset := uint64(m.StackPointer), uint64(0)
	switch movesPointer := bytes.HasPrefix(code[1:], []byte{0x48, 0x89, 0xe5}) || bytes.HasPrefix(code[1:], []byte{0x48, 0x8b, 0xec}); {
	case f.Physical.PC <= start || code[0] != 0x55: // push rbp
		offset = 8
	case f.Physical.PC > start+1 && movesPointer: // mov rbp, rsp
		register = uint64(m.FramePointer)
	}
	base, ok = f.Physical.Register(register)
	return base - offset, ok
}

// savedRegisters lists the places of the saved registers of a frame's caller: "rbp at
// 0x7ffe...".
func (c *Console) savedRegisters(f *frontend.Frame, cfa uint64) (list []string) {
	p := f.Physical
	if p.Image == nil {
		return nil
	}
	file := p.Image.File(p.LookupPC)
	if file == nil {
		return nil
	}
	sections, err := file.CFISections()
	if err != nil && len(sections) == 0 {
		return nil
	}
	for _, s := range sections {
		var fde cfi.FDE
		if err := s.Find(p.LookupPC, &fde); err != nil {
			continue
		}
		row, err := new(cfi.Interpreter).RowAt(&fde, p.LookupPC)
		if err != nil {
			return nil
		}
		for _, r := range row.Registers {
			if r.Kind == cfi.Offset {
				list = append(list, fmt.Sprintf("%s at %#x", s.Machine.RegisterName(uint64(r.Column)), cfa+uint64(r.Offset)))
			}
		}
		return list
	}
	return nil
}
