// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/object"
)

// scan goes through the relocations of what is mapped, looks for the symbols
// that no file defines, and counts slots and stubs.
func (l *linker) scan() error {
	for _, in := range l.inputs {
		for i := range in.tables {
			t := &in.tables[i]
			s := &in.sections[t.Section]
			if !s.mapped || s.discarded {
				continue
			}
			if s.typ == elf.SHT_NOBITS && t.Len() > 0 {
				return fmt.Errorf("%w: %s: %d relocations of a section without content", ErrObject, s.place(0), t.Len())
			}
			for k := 0; k < t.Len(); k++ {
				r := t.At(k)
				if err := l.scanOne(in, s, t, &r); err != nil {
					l.problems.add(err)
				}
				if l.machine.howto(r.Type).value == rewriteValue && l.machine.called(r.Type) {
					k++ // the call of __tls_get_addr goes away
				}
			}
		}
	}
	return nil
}

func (l *linker) scanOne(in *input, s *section, t *object.RelocationTable, r *object.Relocation) error {
	h := l.machine.howto(r.Type)
	if h.value == unknownValue {
		return fmt.Errorf("%s: relocation of type %s: %w", s.place(r.Offset), l.machine.name(r.Type), ErrUnsupported)
	}
	if uint64(r.Symbol) >= uint64(len(in.refs)) {
		return fmt.Errorf("%s: %w: relocation of symbol %d of %d", s.place(r.Offset), ErrObject, r.Symbol, len(in.refs))
	}
	if r.Offset > uint64(len(s.stored)) || uint64(len(s.stored))-r.Offset < uint64(h.field.size) {
		return fmt.Errorf("%s: %w: relocation outside of the section's %#x bytes", s.place(r.Offset), ErrObject, len(s.stored))
	}
	if h.value == noValue {
		return nil
	}
	g := in.refs[r.Symbol]
	if g.kind == undefined && s.isUnwind() {
		// A personality routine is called by who throws, and nothing here does.
		return nil
	}
	l.find(g)
	switch {
	case g.kind == failed:
		l.undefined.add(g, s, r.Offset)
		return nil
	case h.value.ofThread() && h.value != moduleValue && (g.section == nil || g.section.flags&elf.SHF_TLS == 0):
		return fmt.Errorf("%s: relocation %s of %s: %w: not a thread-local variable of the program", s.place(r.Offset), l.machine.name(r.Type), in.symbolName(r.Symbol), ErrUnsupported)
	case g.kind == discarded && !s.isUnwind():
		return fmt.Errorf("%s: relocation %s of %s: %w: its section was discarded for that of another file (COMDAT)", s.place(r.Offset), l.machine.name(r.Type), in.symbolName(r.Symbol), ErrObject)
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
	for _, name := range []string{".eh_frame", ".gcc_except_table", ".data.rel.local.DW.ref.", ".data.rel.DW.ref.", ".data.DW.ref."} {
		if strings.HasPrefix(s.name, name) {
			return true
		}
	}
	return false
}

// slot is one of the GOT: it holds the address of a symbol and more, or the
// offset of a thread-local one from the thread pointer.
type slot struct {
	symbol *symbol
	addend int64
	thread bool
}

// slot makes a slot in the GOT.
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

// slotOf returns where a symbol has the number of one of its slots, nil for one
// with an addend.
func (g *symbol) slotOf(s slot) *int32 {
	switch {
	case s.addend != 0:
		return nil
	case s.thread:
		return &g.tpSlot
	}
	return &g.slot
}

// stub gives an imported symbol a stub.
func (l *linker) stub(g *symbol) {
	if g.stub == 0 {
		l.slot(slot{symbol: g})
		l.stubSymbols = append(l.stubSymbols, g)
		g.stub = int32(len(l.stubSymbols))
	}
}

// references are those to the symbols that nobody defines.
type references struct {
	symbols []*symbol
	places  map[*symbol]*places
}

type places struct {
	first [3]string
	count int
}

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
	if p.count < len(p.first) {
		p.first[p.count] = s.place(offset)
	}
	p.count++
}

// err returns one error that names all of them.
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
		fmt.Fprintf(&b, "%s, used at %s", name, strings.Join(p.first[:min(p.count, len(p.first))], ", "))
		if more := p.count - len(p.first); more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
	}
	return fmt.Errorf("%w: %s", ErrUndefined, b.String())
}

// problems collects errors, the first few in full.
type problems struct {
	list []error
	more int
}

func (p *problems) add(err error) {
	if len(p.list) < 16 {
		p.list = append(p.list, err)
	} else {
		p.more++
	}
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.list, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.list...)
}

func (l *linker) duplicate(g, s *symbol) {
	l.problems.add(fmt.Errorf("%w: %s, in %s and in %s", ErrDuplicate, g.name, g.owner.name, s.owner.name))
}
