// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/object"
)

// An inlined call has no instruction: at the first instruction of the inlined function, the worker
// is both before the call and in it. As in gdb, a session that stops there is before the call, and
// a step enters the call without executing anything. The code below keeps track of the calls at
// the program counter that are entered.

// inlineState is the number of inlined calls at a stop that are not entered yet.
type inlineState struct {
	stop    *Stop
	known   bool
	skipped int
}

// position is the worker's place in the source.
type position struct {
	pc   uint64
	file *object.File
	row  object.LineRange

	// functions are the inlined calls at the program counter, innermost first, then the function
	// itself. It is empty if the function is unknown.
	functions []object.Function
	skipped   int // number of functions that are not entered
}

// position returns the worker's place before all inlined calls that start there.
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

// shownPosition is position after the calls that the user sees as entered.
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

// skippedAt returns how many calls are not entered at a breakpoint. The calls of the function at
// which it was set, and those around it, are entered.
func (p *position) skippedAt(b *Breakpoint) int {
	if b == nil || p.skipped == 0 {
		return p.skipped
	}
	if fileColon(b.Location) > 0 || strings.ContainsAny(b.Location[:min(1, len(b.Location))], "*+-") || isNumber(b.Location) {
		if p.isMoved(b.Location) {
			return p.skipped
		}
		return 0
	}
	if n := slices.IndexFunc(p.functions, func(f object.Function) bool { return f.Inlined && isNamed(f.Name, b.Location) }); n >= 0 {
		return min(n, p.skipped)
	}
	return p.skipped
}

// isMoved reports whether a breakpoint at FILE:LINE or LINE was moved from the first instruction of
// the function to the end of its prologue: then the user asked for the function, and not for the
// calls that are inlined there.
func (p *position) isMoved(location string) bool {
	line, err := strconv.Atoi(location[fileColon(location)+1:])
	if err != nil || p.file == nil || p.row.Line == line {
		return false
	}
	entry := p.function().Entry
	row, err := p.file.LineRange(entry)
	return err == nil && entry != p.pc && row.Line == line
}

// frame returns the function of the innermost frame that the user sees: an inlined call, or the
// function itself. It returns nil if that is unknown.
func (p *position) frame() *object.Function {
	if len(p.functions) == 0 {
		return nil
	}
	return &p.functions[p.skipped]
}

// function returns the function around all inlined calls, or nil if it is unknown.
func (p *position) function() *object.Function {
	if len(p.functions) == 0 {
		return nil
	}
	return &p.functions[len(p.functions)-1]
}

// extent returns the range of the function that contains the program counter.
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

// line returns the line that the user sees: of the call that the worker is about to enter, or of
// the instruction.
func (p *position) line() (file string, line int) {
	if p.skipped > 0 {
		call := &p.functions[p.skipped-1]
		return call.CallFile, call.CallLine
	}
	return p.row.File, p.row.Line
}
