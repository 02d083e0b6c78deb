// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"debug/elf"
	"fmt"
	"strings"

	"github.com/clewdev/clew/object"
)

// relocate applies all relocations of a file to its image.
func (l *linker) relocate(in *input) {
	for i := range in.tables {
		t := &in.tables[i]
		s := &in.sections[t.Section]
		if s.discarded || s.data == nil {
			continue
		}
		var dropped []drop
		for k := 0; k < t.Len(); k++ {
			r := t.At(k)
			h := l.machine.howto(r.Type)
			if uint64(r.Symbol) < uint64(len(in.refs)) && in.refs[r.Symbol].kind == discarded && s.isUnwind() {
				dropped = append(dropped, drop{r.Offset, uint64(h.field.size)})
				continue
			}
			var err error
			if h.value == rewriteValue {
				w := sequence{linker: l, in: in, section: s, r: r}
				if k+1 < t.Len() {
					w.next = t.At(k + 1)
				}
				if err = w.run(); err == nil && l.machine.callsResolver(r.Type) {
					k++
				}
			} else {
				err = l.apply(in, s, &r, h)
			}
			l.problems.Add(err)
		}
		if len(dropped) > 0 {
			dropFrames(s.data, dropped)
		}
	}
}

// relocationError returns an error that names a relocation, its place and its symbol.
func (l *linker) relocationError(in *input, s *section, r *object.Relocation, err error, details string) error {
	return fmt.Errorf("%s: relocation %s of %s: %w%s", s.place(r.Offset), l.machine.name(r.Type), in.symbolName(r.Symbol), err, details)
}

// check checks the type, symbol and offset of a relocation in a section of size bytes.
func (l *linker) check(in *input, s *section, r *object.Relocation, h howto, size int) error {
	switch {
	case h.value == unknownValue:
		return l.relocationError(in, s, r, ErrUnsupported, "")
	case uint64(r.Symbol) >= uint64(len(in.refs)):
		return l.relocationError(in, s, r, errObject, fmt.Sprintf(": symbol %d of %d", r.Symbol, len(in.refs)))
	case r.Offset > uint64(size) || uint64(size)-r.Offset < uint64(h.field.size):
		return l.relocationError(in, s, r, errObject, fmt.Sprintf(": outside the section's %#x bytes", size))
	}
	return nil
}

// apply applies one relocation.
func (l *linker) apply(in *input, s *section, r *object.Relocation, h howto) error {
	if h.value == noValue {
		return nil
	}
	if err := l.check(in, s, r, h, len(s.data)); err != nil {
		return err
	}
	g := in.refs[r.Symbol]
	o := operands{linker: l, symbol: g, mapped: s.mapped, addend: uint64(r.Addend), target: g.address() + uint64(r.Addend), place: s.address + r.Offset}
	b := s.data[r.Offset:]
	computed := h.value
	switch {
	case g.section == nil && g.kind != absolute && s.mapped && s.isUnwind():
		// A personality routine becomes a null pointer if it is missing or out of reach.
		if g.kind != imported || !h.field.put(b, o.target) || h.value != absoluteValue {
			h.field.put(b, 0)
		}
		return nil
	case s.mapped && g.section != nil && g.section.flags&elf.SHF_TLS != 0 && !h.value.ofThread() && h.value != sizeValue:
		return l.relocationError(in, s, r, errObject, ": it is a thread-local variable")
	case !s.mapped && g.section == nil && g.kind != absolute && g.kind != imported:
		// Debugging information of code that is not in the program.
		computed, o.target = absoluteValue, tombstone(s.name)
	case g.kind == missing && h.value == branchValue && l.machine.skipsMissing && h.field == branch26:
		// AAELF64 §5.7.9: a call of an undefined weak symbol continues after the call.
		order.PutUint32(b, nopARM64)
		return nil
	case g.stub != 0 && h.value == relativeValue && l.machine.branch(r.Type, s.data, r.Offset, r.Addend):
		computed = branchValue
	}
	o.slot, o.slotAddend = l.slotAddress(g, howto{computed, h.field}, r)
	v := computed.of(&o)
	if h.field.put(b, v) {
		return nil
	}
	hint := ""
	switch {
	case g.kind == imported && h.value != branchValue:
		hint = "; it is imported and may be anywhere; compile the code with -fPIC"
	case g.kind == missing:
		hint = "; it is weak and not defined; compile the code with -fPIC"
	}
	return l.relocationError(in, s, r, ErrOverflow, fmt.Sprintf(": value %#x%s", v, hint))
}

// slotAddress returns the address of a relocation's slot and the addend to that address, or 0 if the
// relocation uses no slot.
func (l *linker) slotAddress(g *symbol, h howto, r *object.Relocation) (address, addend uint64) {
	use, thread := h.value.slotUse()
	if !use {
		return 0, 0
	}
	inside, outside := l.machine.slotAddend(h, r.Addend)
	s := slot{g, inside, thread}
	i := l.otherSlots[s]
	if at := g.slotOf(s); at != nil {
		i = *at
	}
	return l.got.address + 8*uint64(i-1), uint64(outside)
}

func (l *linker) stubAddress(g *symbol) uint64 {
	return l.stubs.address + uint64(l.machine.stubSize)*uint64(g.stub-1)
}

// tombstone returns the address for code that is not in the program, in debugging information. As in
// ld it is 1 in lists that 0 would end (DWARF 4 §2.17.3).
func tombstone(section string) uint64 {
	if strings.HasSuffix(section, "debug_ranges") || strings.HasSuffix(section, "debug_loc") {
		return 1
	}
	return 0
}

// drop is the place of a relocation that refers to a discarded section.
type drop struct {
	offset uint64
	size   uint64 // bytes
}

// dropFrames makes FDEs of an .eh_frame empty: those with the pointer to their code at one of the
// places, which are in ascending order.
func dropFrames(data []byte, places []drop) {
	for at := uint64(0); uint64(len(data))-at >= 12 && len(places) > 0; {
		size, head := uint64(order.Uint32(data[at:])), uint64(4)
		if size == 0xffffffff {
			size, head = order.Uint64(data[at+4:]), 12
		}
		if size > uint64(len(data))-at-head {
			return
		}
		next := at + head + size
		// LSB Core, "The Frame Description Entry Format": CIE pointer, start, range.
		start := at + head + 4
		for len(places) > 0 && places[0].offset < start {
			places = places[1:]
		}
		if len(places) > 0 && places[0].offset == start && start+2*places[0].size <= next {
			clear(data[start : start+2*places[0].size])
		}
		at = next
	}
}
