// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/object"
)

// scan checks the relocations of mapped sections, looks up symbols that no file defines, and counts
// slots and stubs.
func (l *linker) scan() error {
	for _, in := range l.inputs {
		for i := range in.tables {
			t := &in.tables[i]
			s := &in.sections[t.Section]
			if !s.mapped || s.discarded {
				continue
			}
			if s.typ == elf.SHT_NOBITS && t.Len() > 0 {
				return fmt.Errorf("%w: %s: %d relocations of a section without content", errObject, s.place(0), t.Len())
			}
			for k := 0; k < t.Len(); k++ {
				r := t.At(k)
				l.problems.Add(l.scanOne(in, s, &r))
				if l.machine.howto(r.Type).value == rewriteValue && l.machine.callsResolver(r.Type) {
					k++ // the rewritten code does not call __tls_get_addr
				}
			}
		}
	}
	return nil
}

func (l *linker) scanOne(in *input, s *section, r *object.Relocation) error {
	h := l.machine.howto(r.Type)
	if err := l.check(in, s, r, h, len(s.stored)); err != nil {
		return err
	}
	if h.value == noValue {
		return nil
	}
	g := in.refs[r.Symbol]
	if g.kind == undefined && s.isUnwind() {
		return nil // a personality routine, which is needed only to throw exceptions
	}
	l.find(g)
	switch {
	case g.kind == failed:
		l.undefined.add(g, s, r.Offset)
		return nil
	case !l.analysed && h.value.ofThread() && h.value != moduleValue && (g.section == nil || g.section.flags&elf.SHF_TLS == 0):
		return l.relocationError(in, s, r, ErrUnsupported, ": not a thread-local variable of the program")
	case g.kind == discarded && !s.isUnwind():
		return l.relocationError(in, s, r, errObject, ": its section was discarded for that of another file (COMDAT)")
	}
	if use, thread := h.value.slotUse(); use {
		inside, _ := l.machine.slotAddend(h, r.Addend)
		l.slot(slot{g, inside, thread})
	}
	if g.kind == imported || g.kind == missing {
		branch := h.value == branchValue || h.value == relativeValue && l.machine.branch(r.Type, s.stored, r.Offset, r.Addend)
		if branch && !(g.kind == missing && l.machine.skipsMissing) {
			l.stub(g)
		}
	}
	if h.value == absoluteValue && h.field.bits == 32 && g.section != nil {
		l.low = true
	}
	return nil
}

// isUnwind reports whether a section is a table that only unwinders read.
func (s *section) isUnwind() bool {
	if s.typ != elf.SHT_NULL && s.owner != nil && s.typ == s.owner.file.Machine().UnwindSection {
		return true
	}
	prefixes := []string{".eh_frame", ".gcc_except_table", ".data.rel.local.DW.ref.", ".data.rel.DW.ref.", ".data.DW.ref."}
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s.name, prefix) })
}

// slot is a slot of the GOT. It holds the address of a symbol plus an addend, or the offset of a
// thread-local variable from the thread pointer.
type slot struct {
	symbol *symbol
	addend int64
	thread bool
}

// slot adds a slot to the GOT, unless it has it.
func (l *linker) slot(s slot) {
	at := s.symbol.slotOf(s)
	if at == nil {
		if l.otherSlots[s] == 0 {
			l.slots = append(l.slots, s)
			l.otherSlots[s] = int32(len(l.slots))
		}
	} else if *at == 0 {
		l.slots = append(l.slots, s)
		*at = int32(len(l.slots))
	}
}

// slotOf returns the symbol's field with the number of a slot, or nil if the slot has an addend.
func (g *symbol) slotOf(s slot) *int32 {
	switch {
	case s.addend != 0:
		return nil
	case s.thread:
		return &g.tpSlot
	}
	return &g.slot
}

// stub adds a stub for an imported symbol, unless it has one.
func (l *linker) stub(g *symbol) {
	if g.stub == 0 {
		l.slot(slot{symbol: g})
		l.stubSymbols = append(l.stubSymbols, g)
		g.stub = int32(len(l.stubSymbols))
	}
}

// references are the undefined symbols, and the places that refer to them.
type references struct {
	symbols []*symbol
	places  map[*symbol]*places
}

// places are the first places that refer to a symbol, and the number of all.
type places struct {
	first []string
	count int
}

const maxPlaces = 3

func (u *references) add(g *symbol, s *section, offset uint64) {
	p, ok := u.places[g]
	if !ok {
		if u.places == nil {
			u.places = make(map[*symbol]*places)
		}
		p = new(places)
		u.places[g] = p
		u.symbols = append(u.symbols, g)
	}
	if len(p.first) < maxPlaces {
		p.first = append(p.first, s.place(offset))
	}
	p.count++
}

// err returns one error that names all symbols, or nil.
func (u *references) err() error {
	if len(u.symbols) == 0 {
		return nil
	}
	slices.SortFunc(u.symbols, func(a, b *symbol) int { return strings.Compare(a.name, b.name) })
	var b strings.Builder
	for i, g := range u.symbols {
		if i > 0 {
			b.WriteString("; ")
		}
		p := u.places[g]
		name := g.name
		if g.tls {
			name += " (thread-local)"
		}
		fmt.Fprintf(&b, "%s, used at %s", name, strings.Join(p.first, ", "))
		if more := p.count - len(p.first); more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
	}
	return fmt.Errorf("%w: %s", ErrUndefined, b.String())
}
