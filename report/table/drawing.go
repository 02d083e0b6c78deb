// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/style"
)

// slot is a part of the stack in a drawing, [offset, end) in bytes from the CFA.
type slot struct {
	offset, end int64
	label       string
}

// pointer is a register that points to an offset from the CFA.
type pointer struct {
	offset int64
	name   string
}

// farthest is how far from the CFA something may lie to be drawn, in bytes.
const farthest = 1 << 40

// Drawing draws the stack frame as far as the table describes it, the highest
// address first. A line is named by its lowest address.
//
//	        │ the caller's frame │
//	   CFA  ├────────────────────┤ rsp+16
//	 CFA-8  │ return address     │ rsp+8
//	CFA-16  │ rbx                │ rsp     <- rsp
//	        └────────────────────┘
//
// It draws nothing where the CFA is not defined.
func (e *Explanation) Drawing(w io.Writer, p style.Palette) error {
	if e.CFA.Rule.Kind == cfi.Unspecified {
		return nil
	}
	pointers := e.pointers()
	slots := fill(e.slots(), pointers)
	d := drawing{palette: p, explanation: e, pointers: pointers}
	d.measure(slots)
	top, bottom := callersFrame, e.beyond()
	if d.machine().GrowsUp() {
		top, bottom = bottom, top
	}
	if top != "" {
		d.line("", "│ ", top, " │", "", "")
	}
	edge := false
	for _, s := range slots {
		if s.end <= 0 && !edge {
			d.edge()
			edge = true
		}
		d.slot(s)
	}
	if !edge {
		d.edge()
	}
	if bottom != "" {
		d.line("", "│ ", bottom, " │", "", "")
	}
	d.line("", "└─", "", "─┘", "", "")
	_, err := io.WriteString(w, d.text.String())
	return err
}

// slots returns where registers are saved, by falling address. Registers that
// share one make one slot.
func (e *Explanation) slots() (slots []slot) {
	cie := e.Function.FDE.CIE
	m := cie.Section.Machine
	for _, r := range e.Registers {
		if r.Rule.Kind != cfi.Offset || r.Rule.Offset < -farthest || r.Rule.Offset > farthest {
			continue
		}
		name := m.RegisterName(r.Column)
		size := int64(m.RegisterSize)
		if f := m.FloatRegisters; f != nil && r.Column >= f.First && r.Column <= f.Last {
			size = int64(f.Size)
		}
		if r.Column == cie.ReturnAddress {
			name = "return address"
		}
		i := slices.IndexFunc(slots, func(s slot) bool { return s.offset == r.Rule.Offset })
		if i >= 0 {
			slots[i].label += ", " + name
			continue
		}
		slots = append(slots, slot{r.Rule.Offset, r.Rule.Offset + size, name})
	}
	slices.SortFunc(slots, func(a, b slot) int { return cmp.Compare(b.offset, a.offset) })
	return slots
}

// pointers returns what points into the frame: the register that the CFA is
// relative to, and the stack pointer after the return.
func (e *Explanation) pointers() (list []pointer) {
	m := e.Function.FDE.CIE.Section.Machine
	if r := e.CFA.Rule; r.Kind == cfi.Register && r.Offset > -farthest && r.Offset < farthest {
		list = append(list, pointer{-r.Offset, m.RegisterName(uint64(r.Register))})
	}
	if m.StackPointer >= 0 {
		if _, ok := e.Register(uint64(m.StackPointer)); !ok {
			list = append(list, pointer{-m.CFAOffset, m.RegisterName(uint64(m.StackPointer)) + " after the return"})
		}
	}
	return list
}

// beyond says where the frame ends if the table does not say.
func (e *Explanation) beyond() string {
	m := e.Function.FDE.CIE.Section.Machine
	r := e.CFA.Rule
	if m.StackPointer < 0 || r.Kind == cfi.Register && int64(r.Register) == int64(m.StackPointer) {
		return ""
	}
	direction := "down"
	if m.GrowsUp() {
		direction = "up"
	}
	return direction + " to " + m.RegisterName(uint64(m.StackPointer)) + ", wherever it is"
}

const callersFrame = "the caller's frame"

// fill adds slots for what lies between the others and down to the lowest
// pointer, cut at the CFA and at every pointer.
func fill(slots []slot, pointers []pointer) (filled []slot) {
	cuts := []int64{0}
	for _, p := range pointers {
		cuts = append(cuts, p.offset)
	}
	slices.SortFunc(cuts, func(a, b int64) int { return cmp.Compare(b, a) })
	at := cuts[0]
	if len(slots) > 0 {
		at = max(at, slots[0].end)
	}
	gap := func(to int64) {
		for _, c := range append(slices.Clone(cuts), to) {
			if c < at && c >= to {
				filled = append(filled, slot{c, at, ""})
				at = c
			}
		}
	}
	for _, s := range slots {
		gap(s.end)
		filled = append(filled, s)
		at = min(at, s.offset)
	}
	gap(min(at, cuts[len(cuts)-1]))
	return filled
}

// drawing is a drawing in the making.
type drawing struct {
	text        strings.Builder
	palette     style.Palette
	explanation *Explanation
	pointers    []pointer

	names, labels, addresses int // the widths of its columns
}

func (d *drawing) machine() *arch.Machine { return d.explanation.Function.FDE.CIE.Section.Machine }

func (d *drawing) measure(slots []slot) {
	d.names = len("CFA")
	d.labels = max(len(callersFrame), len(d.explanation.beyond()))
	d.addresses = len(d.address(0))
	for _, s := range slots {
		d.names = max(d.names, len(d.name(s.offset)))
		d.labels = max(d.labels, len(d.label(s)))
		d.addresses = max(d.addresses, len(d.address(s.offset)))
	}
}

// edge draws the line at the CFA.
func (d *drawing) edge() { d.line("CFA", "├─", "", "─┤", d.address(0), d.pointing(0, 1)) }

func (d *drawing) slot(s slot) {
	pointing := d.pointing(s.offset, s.end)
	if s.offset == 0 {
		pointing = "" // they point to the edge
	}
	d.line(d.name(s.offset), "│ ", d.label(s), " │", d.address(s.offset), pointing)
}

func (d *drawing) name(offset int64) string {
	return fmt.Sprintf("CFA%+d", offset)
}

func (d *drawing) label(s slot) string {
	if s.label == "" {
		return fmt.Sprintf("%d bytes, not described", s.end-s.offset)
	}
	// Popped, and still there; or saved in the red zone of the ABI.
	if r := d.explanation.CFA.Rule; d.explanation.beyond() == "" && r.Kind == cfi.Register && s.offset < -r.Offset && !d.machine().GrowsUp() {
		return s.label + " (below " + d.pointers[0].name + ")"
	}
	return s.label
}

// address writes an offset from the CFA as one from the register that the CFA
// is relative to.
func (d *drawing) address(offset int64) string {
	r := d.explanation.CFA.Rule
	if r.Kind != cfi.Register {
		return ""
	}
	name := d.machine().RegisterName(uint64(r.Register))
	return string(appendOffset([]byte(name), r.Offset+offset))
}

// pointing names what points into [from, to).
func (d *drawing) pointing(from, to int64) string {
	var names []string
	for _, p := range d.pointers {
		if from <= p.offset && p.offset < to {
			names = append(names, p.name)
		}
	}
	if names == nil {
		return ""
	}
	return "<- " + strings.Join(names, ", ")
}

// line draws one line; a label of an edge is a rule.
func (d *drawing) line(name, left, label, right, address, pointing string) {
	pad := " "
	if strings.HasSuffix(left, "─") {
		pad = "─"
	}
	line := fmt.Sprintf("  %*s  %s", d.names, name, d.palette.Dim.Text(left)) + label +
		d.palette.Dim.Text(strings.Repeat(pad, d.labels-utf8.RuneCountInString(label))+right)
	if address != "" || pointing != "" {
		line += fmt.Sprintf(" %-*s", d.addresses, address)
	}
	if pointing != "" {
		line += "  " + d.palette.Mark.Text(pointing)
	}
	d.text.WriteString(strings.TrimRight(line, " ") + "\n")
}
