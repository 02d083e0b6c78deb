// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"cmp"
	"slices"

	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
)

// maxPlaceText is how many bytes of text are kept for other frames at the same addresses.
const maxPlaceText = 1 << 20

// placeText is the text that the lines of all frames at an address have in common.
type placeText struct {
	frame stack.Frame // the first one there
	calls int
	lines []lineText // of inlined calls, and last of the function
}

// lineText is the parts of a line before and after the arguments.
type lineText struct{ before, after string }

// textAt returns what the lines of a frame have in common with those of others. Threads
// have many frames at a few addresses.
func (p *stackPrinter) textAt(f *stack.Frame, calls []shownCall) *placeText {
	if t := p.places[f.PC]; t != nil && t.isOf(f, len(calls)) {
		return t
	}
	t := &placeText{frame: *f, calls: len(calls)}
	t.frame.Registers = nil
	out := p.out
	for i := range max(len(f.Locations)-1, 0) {
		l := &f.Locations[i]
		p.out = nil
		for range p.digits + 4 {
			p.out = append(p.out, ' ')
		}
		p.function(cmp.Or(style.CallName(&f.Symbol, l.Function), unnamed), call(calls, i, len(f.Locations)))
		before := string(p.out)
		p.out = p.Palette.Dim.Append(p.out[:0], " (inlined)")
		p.source(l.File, l.Line)
		t.lines = append(t.lines, lineText{before, string(p.out)})
	}
	p.out = append([]byte(nil), "0x"...)
	p.out = appendPadded(p.out, f.PC, p.digits)
	p.out = append(p.out, "  "...)
	name, c := FunctionName(f), call(calls, len(f.Locations)-1, len(f.Locations))
	p.function(name, c)
	before := string(p.out)
	p.out = p.out[:0]
	l := f.Location()
	// Who has the arguments and the line has the module's debugging information.
	if c == nil || l == nil || l.File == "" {
		p.place(f, name)
	}
	if l != nil {
		p.source(l.File, l.Line)
	}
	t.lines = append(t.lines, lineText{before, string(p.out)})
	p.out = out
	for _, l := range t.lines {
		p.kept += len(l.before) + len(l.after)
	}
	if p.places == nil || p.kept > maxPlaceText {
		p.places, p.kept = make(map[uint64]*placeText), 0
	}
	p.places[f.PC] = t
	return t
}

// isOf reports whether a frame with the same PC, and with so many calls of which more is
// known, has the text.
func (t *placeText) isOf(f *stack.Frame, calls int) bool {
	o := &t.frame
	return t.calls == calls && o.LookupPC == f.LookupPC && o.Object == f.Object && o.Address == f.Address && o.Trampoline == f.Trampoline &&
		o.Symbol == f.Symbol && slices.Equal(o.Locations, f.Locations)
}
