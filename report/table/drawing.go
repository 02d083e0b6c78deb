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

// farthest is the largest distance from the CFA of a slot in a drawing, in bytes.
const farthest = 1 << 40

// Drawing draws the described part of the stack frame, the highest address first. Each line
// has the name of its lowest address.
//
//	        │ the caller's frame │
//	   CFA  ├────────────────────┤ rsp+16
//	 CFA-8  │ return address     │ rsp+8
//	CFA-16  │ rbx                │ rsp     <- rsp
//	        └────────────────────┘
//
// Drawing writes nothing if the CFA is not defined.
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

// slots returns the slots of saved registers, by descending address. Registers with the same
// address share a slot.
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
		if i := slices.IndexFunc(slots, func(s slot) bool { return s.offset == r.Rule.Offset }); i >= 0 {
			slots[i].label += ", " + name
		} else {
			slots = append(slots, slot{r.Rule.Offset, r.Rule.Offset + size, name})
		}
	}
	slices.SortFunc(slots, func(a, b slot) int { return cmp.Compare(b.offset, a.offset) })
	return slots
}

// pointers returns the register that the CFA is relative to, and the stack pointer after the
// return.
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

// beyond returns a label for the end of the frame if the table does not describe it, or "".
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
	return direction + " to " + m.RegisterName(uint64(m.StackPointer)) + ", which is unknown"
}

const callersFrame = "the caller's frame"

// fill adds slots for the gaps between the others and down to the lowest pointer, split at the
// CFA and at every pointer.
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

type drawing struct {
	text        strings.Builder
	palette     style.Palette
	explanation *Explanation
	pointers    []pointer

	names, labels, addresses int // widths of the columns
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
		pointing = "" // the edge has these pointers
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
	// The slot was popped but is still valid, or is in the red zone of the ABI.
	if r := d.explanation.CFA.Rule; d.explanation.beyond() == "" && r.Kind == cfi.Register && s.offset < -r.Offset && !d.machine().GrowsUp() {
		return s.label + " (below " + d.pointers[0].name + ")"
	}
	return s.label
}

// address converts an offset from the CFA to one from the register that the CFA is relative
// to.
func (d *drawing) address(offset int64) string {
	r := d.explanation.CFA.Rule
	if r.Kind != cfi.Register {
		return ""
	}
	name := d.machine().RegisterName(uint64(r.Register))
	return string(appendOffset([]byte(name), r.Offset+offset))
}

// pointing names the registers that point into [from, to).
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

// line draws one line. In lines of an edge, the label is a horizontal line.
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
