// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"slices"
	"strings"

	"github.com/clewdev/clew/object"
)

// Inlined calls have no instruction of their own: at the first instruction of the inlined
// function, the worker is both before the call and in it. As in gdb, a session that stops there
// is before the call, and a step enters it without executing anything. The code below keeps
// track of which calls at the program counter are entered.

// inlineState says how many of the inlined calls at a stop are not entered yet.
type inlineState struct {
	stop    *Stop
	known   bool
	skipped int
}

// position is where the worker is in the source.
type position struct {
	pc   uint64
	file *object.File
	row  object.LineRange

	// functions are the inlined calls at the program counter, the innermost first,
	// and the function itself; none where it is not known.
	functions []object.Function
	skipped   int // of them, not entered
}

// position returns where the worker is, with no call that starts there entered.
func (s *Session) position() position {
	p := position{pc: s.registers.PC()}
	i := s.Image(p.pc)
	if i == nil {
		return p
	}
	if p.file = i.File(p.pc); p.file != nil {
		p.row, _ = p.file.LineRange(p.pc)
		p.functions, _ = p.file.FunctionsAt(p.pc)
	}
	if len(p.functions) == 0 {
		if f, ok := i.Function(p.pc); ok {
			p.functions = []object.Function{{Name: f.Name, Entry: f.Start, Ranges: []object.AddressRange{{Low: f.Start, High: f.Start + f.Size}}}}
		}
	}
	for p.skipped < len(p.functions) && p.functions[p.skipped].Inlined && p.functions[p.skipped].Starts {
		p.skipped++
	}
	return p
}

// shownPosition is position with the calls entered that the user sees entered.
func (s *Session) shownPosition() position {
	p := s.position()
	if !s.inline.known {
		s.inline.known, s.inline.skipped = true, p.skipped
		if stop := s.inline.stop; stop != nil {
			switch stop.Reason {
			case AtBreakpoint:
				s.inline.skipped = p.skippedAt(stop.Breakpoint)
			case AtEntry, AtWatchpoint, SteppedInstruction:
				s.inline.skipped = 0
			}
		}
	}
	p.skipped = min(p.skipped, s.inline.skipped)
	return p
}

// skippedAt returns how many calls are not entered at a breakpoint: none that it
// was set in.
func (p *position) skippedAt(b *Breakpoint) int {
	if b == nil || p.skipped == 0 {
		return p.skipped
	}
	if fileColon(b.Location) > 0 || strings.ContainsAny(b.Location[:min(1, len(b.Location))], "*+-") || isNumber(b.Location) {
		return 0
	}
	if n := slices.IndexFunc(p.functions, func(f object.Function) bool { return f.Inlined && isNamed(f.Name, b.Location) }); n >= 0 {
		return min(n, p.skipped)
	}
	return p.skipped
}

// frame returns what the user sees as the innermost frame: an inlined call, or
// the function itself, nil where it is not known.
func (p *position) frame() *object.Function {
	if len(p.functions) == 0 {
		return nil
	}
	return &p.functions[p.skipped]
}

// function returns the function itself, nil where it is not known.
func (p *position) function() *object.Function {
	if len(p.functions) == 0 {
		return nil
	}
	return &p.functions[len(p.functions)-1]
}

// extent returns the range of the function that the program counter is in.
func (p *position) extent() object.AddressRange {
	if f := p.function(); f != nil {
		for _, r := range f.Ranges {
			if r.Contains(p.pc) {
				return r
			}
		}
	}
	return object.AddressRange{}
}

// line returns the line that the user sees: that of the call that the worker is about to enter,
// or of the instruction.
func (p *position) line() (file string, line int) {
	if p.skipped > 0 {
		call := &p.functions[p.skipped-1]
		return call.CallFile, call.CallLine
	}
	return p.row.File, p.row.Line
}
