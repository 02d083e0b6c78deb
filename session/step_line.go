// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/session/internal/displace"
)

// Steps by line follow the rules of gdb 13 (infrun.c), in their order.

// NextInstruction executes one instruction, and steps over calls.
func (s *Session) NextInstruction() (*Stop, error) {
	return s.run(whileStopped, func() (*Stop, error) {
		l := lineStep{Session: s, over: true, reason: SteppedOver}
		l.from(s.shownPosition())
		stop, err := s.stepOnce()
		if stop != nil || err != nil {
			return stop, err
		}
		p, calls := s.position(), s.calls()
		if l.isCall(&p, &calls) {
			if stop, err := l.runToCaller(&calls); stop != nil || err != nil {
				return stop, err
			}
		}
		return l.stopAt(&position{}), nil // inside all calls that are inlined here
	})
}

// StepLine runs to the start of another source line, into functions with line numbers and over those
// without. In a function that it enters it stops after the prologue. Before an inlined call it enters
// the call and executes nothing. From a function without line numbers it runs to the caller.
func (s *Session) StepLine() (*Stop, error) {
	return s.run(whileStopped, func() (*Stop, error) {
		l := lineStep{Session: s, reason: SteppedLine}
		return l.run()
	})
}

// NextLine runs to the start of another source line of this function, or to its caller. In the
// caller it stops at the next line; that is the line of the call if a statement of the line starts
// after the call.
func (s *Session) NextLine() (*Stop, error) {
	return s.run(whileStopped, func() (*Stop, error) {
		l := lineStep{Session: s, over: true, reason: SteppedOver}
		return l.run()
	})
}

// StepOut runs until the function in the frame of the given level (0 is the innermost) returns to
// its caller. It leaves an innermost inlined call as NextLine does. At the outermost level it runs
// to the end of the call. The error wraps ErrNotFound if there is no such frame, and ErrStopped if the
// frame is outside of a nested call.
func (s *Session) StepOut(level int) (*Stop, error) {
	return s.run(whileStopped, func() (*Stop, error) {
		if p := s.shownPosition(); level == 0 && p.frame() != nil && p.frame().Inlined {
			l := lineStep{Session: s, over: true, reason: SteppedOut}
			p.skipped++
			l.from(p)
			// Without a line and with an empty range, the step ends anywhere in the frame around
			// the inlined call.
			l.file, l.line, l.start, l.end = "", 0, p.pc, p.pc
			return l.loop()
		}
		return s.runOut(level)
	})
}

// Finish is StepOut, but does not stop after an innermost inlined call.
func (s *Session) Finish(level int) (*Stop, error) {
	return s.run(whileStopped, func() (*Stop, error) { return s.runOut(level) })
}

// runOut runs until the function in the frame of a level returns.
func (s *Session) runOut(level int) (*Stop, error) {
	stack := s.frames(max(level, 0) + 2)
	if level < 0 || level >= len(stack.Frames) {
		return nil, fmt.Errorf("frame %d of %d: %w", level, len(stack.Frames), ErrNotFound)
	}
	if f := &stack.Frames[level]; f.Marker || f.outer != nil {
		return nil, failure(ErrStopped, "frame %d waits for the end of the nested call; finish or abort that first", level)
	}
	if level+1 < len(stack.Frames) {
		frame := &stack.Frames[level+1]
		cfa, _ := frame.CFA()
		if err := s.breakInternally(internal{address: frame.PC, cfa: cfa, reason: SteppedOut}); err != nil {
			return nil, err
		}
	}
	return s.proceed()
}

// frameID identifies a frame while its function runs: by the canonical frame address, the start
// of the function or inlined call, and the depth of the call.
type frameID struct {
	cfa, entry uint64
	depth      int
}

// is reports whether both are the same frame. A frame with an unknown place on the stack (CFA 0) is
// not the same as any other.
func (f frameID) is(other frameID) bool { return f.cfa != 0 && f == other }

// lineStep is a step by line.
type lineStep struct {
	*Session
	over   bool // over calls, as next does
	reason Reason

	start, end uint64 // range that the step passes without looking
	frame      frameID
	function   frameID // the function of the frame, or around it if the frame is inlined
	file       string
	line       int
}

// from sets the line and frame that the step leaves.
func (l *lineStep) from(p position) {
	l.file, l.line = p.line()
	l.setFrame(&p)
}

func (l *lineStep) setFrame(p *position) {
	calls := l.calls()
	l.frame, l.function = p.id(calls.cfa, p.skipped), p.id(calls.cfa, len(p.functions)-1)
}

// id returns the ID of the frame of p.functions[n].
func (p *position) id(cfa uint64, n int) frameID {
	if n < 0 || n >= len(p.functions) {
		return frameID{cfa: cfa}
	}
	return frameID{cfa, p.functions[n].Entry, len(p.functions) - 1 - n}
}

// calls describes the innermost frame and its caller. Unknown addresses are 0.
type calls struct {
	cfa        uint64 // of the innermost frame
	pc, lookup uint64 // the return address, and an address in the call instruction
	caller     uint64 // CFA of the caller
}

// calls walks two frames. It does not look up their functions.
func (s *Session) calls() (c calls) {
	w, start := s.walk(), s.unwindRegisters()
	level := 0
	for f := range w.Walk(&start) {
		sp, _ := f.Registers.Get(uint64(s.machine.StackPointer))
		switch level {
		case 1:
			c.cfa, c.pc, c.lookup = sp, f.PC, f.LookupPC
		case 2:
			c.caller = sp
			return c
		}
		level++
	}
	return c
}

func (l *lineStep) run() (*Stop, error) {
	p := l.shownPosition()
	if !l.over && p.skipped > 0 {
		p.skipped--
		return l.stopAt(&p), nil
	}
	l.from(p)
	if l.start, l.end = p.row.Start, p.row.End; p.row.Line == 0 {
		// To the end of the function, or by one instruction if the function is unknown.
		r := p.extent()
		l.start, l.end = r.Low, r.High
	}
	return l.loop()
}

// loop runs until a rule ends the step.
func (l *lineStep) loop() (*Stop, error) {
	for {
		if stop, err := l.passRange(); stop != nil || err != nil {
			return stop, err
		}
		p := l.position()
		for {
			calls := l.calls()
			verdict, target := l.judge(&p, &calls)
			if verdict == done {
				return l.stopAt(&p), nil
			}
			if verdict == stepRange {
				break
			}
			var stop *Stop
			var err error
			if verdict == into {
				// The step ends after the prologue, even if the same line continues there.
				l.start, l.end = 0, 0
				stop, err = l.runTo(internal{address: target})
			} else {
				stop, err = l.runToCaller(&calls)
			}
			if stop != nil || err != nil {
				return stop, err
			}
			if p = l.position(); p.pc-l.start < l.end-l.start {
				break
			}
		}
	}
}

// stopAt ends the step. The user then sees the same inlined calls as entered as in p.
func (l *lineStep) stopAt(p *position) *Stop {
	stop := l.stopped(l.reason)
	l.inline = inlineState{stop: stop, known: true, skipped: p.skipped}
	return stop
}

// passRange executes at least one instruction, until the program counter is outside the range.
func (l *lineStep) passRange() (*Stop, error) {
	for {
		if stop, err := l.stepWhole(); stop != nil || err != nil {
			return stop, err
		}
		if l.registers.PC()-l.start >= l.end-l.start {
			return nil, nil
		}
	}
}

// stepWhole executes one instruction with all its repetitions. There can be millions, too many for
// single steps.
func (l *lineStep) stepWhole() (*Stop, error) {
	if i := l.decode(l.registers.PC()); i.Kind == displace.Repeat {
		next := l.registers.PC() + uint64(i.Size)
		stop, err := l.runTo(internal{address: next})
		if !errors.Is(err, ErrAddress) {
			return stop, err
		}
	}
	return l.stepOnce()
}

// runTo runs to an internal trap. It returns a stop only if the session stopped for another reason.
func (l *lineStep) runTo(at internal) (*Stop, error) {
	at.reason = arrived
	if err := l.breakInternally(at); err != nil {
		return nil, err
	}
	stop, err := l.proceed()
	l.internals = l.dropInternals()
	if err != nil || stop.Reason != arrived {
		return stop, err
	}
	if stop.Breakpoint != nil {
		stop.Reason = AtBreakpoint
		return stop, nil
	}
	return nil, nil
}

// arrived is the reason of stops at the internal traps of steps.
const arrived Reason = 0xff

// runToCaller runs until the current function returns, or to the next stop if its caller is unknown
// or outside the images.
func (l *lineStep) runToCaller(c *calls) (*Stop, error) {
	if c.pc == 0 || c.pc != returnAddress(l.returns) && l.Image(c.pc) == nil {
		return l.proceed()
	}
	return l.runTo(internal{address: c.pc, cfa: c.caller})
}

// verdict is the next action of a step at a position outside its range.
type verdict uint8

const (
	done      verdict = iota
	stepRange         // step through the range again
	toCaller          // run until the current function returns
	into              // run to the end of the current function's prologue
)

// judge returns the next action of a step at a position outside its range. It may enter inlined calls
// of p. target is the end of the prologue for into.
func (l *lineStep) judge(p *position, c *calls) (v verdict, target uint64) {
	if l.isCall(p, c) {
		if !l.over && p.file != nil {
			if target, ok := l.target(p); ok {
				if target == p.pc {
					return done, 0
				}
				return into, target
			}
		}
		return toCaller, 0
	}
	if p.row.Line == 0 {
		if p.function() == nil && !l.over && c.pc != 0 {
			return toCaller, 0
		}
		return done, 0
	}
	here := p.id(c.cfa, p.skipped)
	if p.skipped > 0 && here.is(l.frame) {
		file, line := p.line()
		same := file == l.file && line == l.line
		switch {
		case l.over && same:
			return stepRange, 0
		case same:
			p.skipped-- // the call is on the line that the step leaves: enter it
		}
		return done, 0
	}
	if f := p.frame(); f != nil && f.Inlined && !here.is(l.frame) && l.within(p, c.cfa) {
		if l.over {
			return stepRange, 0
		}
		return done, 0
	}
	refresh, line := true, p.row.Line
	if p.pc == p.row.Start && (p.row.Line != l.line || p.row.File != l.file) {
		if p.row.Statement {
			return done, 0
		}
		// The step continues through a row that is not a statement. Its line does not replace the
		// line that the step leaves.
		refresh, line = !here.is(l.frame), 0
	}
	l.start, l.end = p.row.Start, p.row.End
	if refresh {
		l.setFrame(p)
		l.file, l.line = p.row.File, line
	}
	return stepRange, 0
}

// within reports whether the innermost frame of p is inlined in the step's frame.
func (l *lineStep) within(p *position, cfa uint64) bool {
	for n := p.skipped + 1; n < len(p.functions); n++ {
		if p.id(cfa, n).is(l.frame) {
			return true
		}
	}
	return false
}

// isCall reports whether the step's function has called the function of p.
func (l *lineStep) isCall(p *position, c *calls) bool {
	if p.id(c.cfa, len(p.functions)-1).is(l.function) || c.caller == 0 || c.caller != l.function.cfa {
		return false
	}
	return l.entry(c.lookup) == l.function.entry
}

// entry returns the start of the function that contains a call instruction.
func (s *Session) entry(call uint64) uint64 {
	i := s.Image(call)
	if i == nil {
		return 0
	}
	if file := i.File(call); file != nil {
		if list, _ := file.FunctionsAt(call); len(list) > 0 {
			return list[len(list)-1].Entry
		}
	}
	f, _ := i.Function(call)
	return f.Start
}

// target returns the address where a step into the function at p ends, and false if the function has
// no line numbers.
func (l *lineStep) target(p *position) (target uint64, ok bool) {
	entry := p.extent().Low
	if row, _ := p.file.LineRange(entry); row.Line == 0 {
		return 0, false
	}
	target, err := p.file.StepTarget(l.Session, entry)
	return target, err == nil && l.Image(target) != nil
}
