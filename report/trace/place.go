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

// maxPlaceText limits the text that is kept for other frames at the same addresses, in bytes.
const maxPlaceText = 1 << 20

// placeText is the text that all frames at an address share.
type placeText struct {
	frame stack.Frame // the first frame at the address
	calls int
	lines []lineText // of inlined calls, and last of the function
}

// lineText is the parts of a line before and after the arguments.
type lineText struct{ before, after string }

// textAt returns the text that a frame shares with others. Threads have many frames at a few
// addresses, so the printer keeps the text.
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
		p.out = appendSource(p.out, p.Palette.Source, l.File, l.Line)
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
	// Arguments and a source line identify the place, so the module is omitted.
	if c == nil || l == nil || l.File == "" {
		p.place(f, name)
	}
	if l != nil {
		p.out = appendSource(p.out, p.Palette.Source, l.File, l.Line)
	}
	t.lines = append(t.lines, lineText{before, string(p.out)})
	p.out = out
	for _, l := range t.lines {
		p.placesSize += len(l.before) + len(l.after)
	}
	if p.places == nil || p.placesSize > maxPlaceText {
		p.places, p.placesSize = make(map[uint64]*placeText), 0
	}
	p.places[f.PC] = t
	return t
}

// isOf reports whether t is also the text of f, which has the same PC. calls is the number of
// its calls with known variables.
func (t *placeText) isOf(f *stack.Frame, calls int) bool {
	o := &t.frame
	return t.calls == calls && o.LookupPC == f.LookupPC && o.Object == f.Object && o.Address == f.Address && o.Trampoline == f.Trampoline &&
		o.Symbol == f.Symbol && slices.Equal(o.Locations, f.Locations)
}
