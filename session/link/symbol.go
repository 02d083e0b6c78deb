// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"debug/elf"
	"fmt"
	"strings"
)

// symbol is what a name means, or an entry of a file's symbol table.
type symbol struct {
	kind    symbolKind
	weak    bool
	tls     bool
	ifunc   bool
	name    string   // of global ones
	owner   *input   // the file that defines it
	section *section // of defined ones
	value   uint64   // in the section; else an address; the alignment of a common one
	size    uint64

	stub, slot, tpSlot int32 // 1 + index in the linker's lists, 0 where it has none
}

type symbolKind uint8

const (
	undefined symbolKind = iota // and not looked for yet
	defined                     // in a section
	absolute                    // a value; also what is imported
	common                      // in a section when all files are read
	imported                    // by Options.Resolve
	missing                     // by nobody, and weak
	failed                      // by nobody
	discarded                   // a local symbol in a section that another file's stands for
)

// address returns the address of a symbol when sections have theirs.
func (s *symbol) address() uint64 {
	if s.section != nil {
		return s.section.address + s.value
	}
	return s.value
}

// readSymbols takes the symbols of a file: local ones for itself, global ones
// for all. COMDAT groups of the file must have been decided about.
func (l *linker) readSymbols(in *input) error {
	n := in.table.Len()
	in.own, in.refs = make([]symbol, n), make([]*symbol, n)
	for i := 1; i < n; i++ {
		e := in.table.At(i)
		s := &in.own[i]
		*s = symbol{owner: in, value: e.Value, size: e.Size, tls: e.Type == elf.STT_TLS, ifunc: e.Type == elf.STT_GNU_IFUNC, weak: e.Binding == elf.STB_WEAK}
		switch {
		case e.Section >= len(in.sections):
			return fmt.Errorf("%s: %w: symbol %s is in section %d of %d", in.name, ErrObject, in.symbolName(uint32(i)), e.Section, len(in.sections))
		case e.Section > 0:
			s.kind, s.section = defined, &in.sections[e.Section]
			if s.section.discarded {
				s.kind, s.section, s.value = discarded, nil, 0
			}
		case e.Special == elf.SHN_ABS:
			s.kind = absolute
		case e.Special == elf.SHN_COMMON, e.Special != 0 && e.Special == l.machine.largeCommon:
			s.kind = common
			if e.Value > maxAlign || e.Value&(e.Value-1) != 0 {
				return fmt.Errorf("%s: %w: common symbol %s has alignment %#x", in.name, ErrObject, in.symbolName(uint32(i)), e.Value)
			}
			s.value = max(s.value, 1)
		case e.Special != 0:
			return fmt.Errorf("%s: %w: symbol %s has the section index %v", in.name, ErrUnsupported, in.symbolName(uint32(i)), e.Special)
		}
		if s.ifunc && s.kind == defined {
			return fmt.Errorf("%s: %w: %s is an indirect function (STT_GNU_IFUNC), which only a dynamic linker can choose", in.name, ErrUnsupported, in.symbolName(uint32(i)))
		}
		if e.Binding == elf.STB_LOCAL {
			if s.kind == common {
				return fmt.Errorf("%s: %w: common symbol %s is local", in.name, ErrObject, in.symbolName(uint32(i)))
			}
			in.refs[i] = s
			continue
		}
		if s.section != nil && !s.section.mapped {
			// Of debugging information: for this file alone.
			in.refs[i] = s
			continue
		}
		name, err := in.copyName(&in.table, &e)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrObject, err)
		}
		if name == "__gnu_lto_slim" {
			return fmt.Errorf("%s: %w: the file has code for link-time optimization alone; compile with -fno-lto", in.name, ErrUnsupported)
		}
		in.refs[i] = l.global(name, s)
	}
	if n > 0 {
		in.refs[0] = &l.null
	}
	return nil
}

// global returns what a name means after one more file says what it does.
func (l *linker) global(name string, s *symbol) *symbol {
	g, ok := l.globals[name]
	if !ok {
		g = &symbol{name: name, weak: true}
		l.globals[name] = g
	}
	if s.kind == undefined || s.kind == discarded {
		// Weak only where every reference is.
		if g.kind == undefined {
			g.weak = g.weak && s.weak && s.kind == undefined
			g.tls = g.tls || s.tls
		}
		return g
	}
	take := false
	switch {
	case g.kind == undefined:
		take = true
	case g.kind == common && s.kind == common:
		// The largest, and with the strictest alignment.
		align := max(g.value, s.value)
		if take = s.size > g.size; !take {
			g.value = align
		}
		s.value = align
	case s.weak:
	case g.weak, g.kind == common:
		take = true
	case s.kind == common:
	default:
		l.duplicate(g, s)
	}
	if take {
		*g = *s
		g.name = name
	}
	return g
}

// placeCommon gives each common symbol a place in the file that it is from.
func (l *linker) placeCommon() error {
	for _, in := range l.inputs {
		for i := range in.own {
			g := in.refs[i]
			if in.own[i].kind != common || g.kind != common || g.owner != in {
				continue
			}
			c := &in.common
			if c.owner == nil {
				*c = section{
					name: "COMMON", owner: in, index: len(in.sections), typ: elf.SHT_NOBITS,
					flags: elf.SHF_ALLOC | elf.SHF_WRITE, align: 1, mapped: true,
				}
			}
			at := roundUp(c.size, g.value)
			if g.size > maxMemory || at > maxMemory {
				return fmt.Errorf("%s: %w: common symbol %s of %#x bytes", in.name, ErrTooLarge, g.name, g.size)
			}
			c.align = max(c.align, g.value)
			g.kind, g.section, g.value = defined, c, at
			c.size = at + g.size
		}
	}
	return nil
}

// find looks for a symbol that no file defines, at the first reference.
func (l *linker) find(g *symbol) {
	if g.kind != undefined {
		return
	}
	switch {
	case g.name == "_GLOBAL_OFFSET_TABLE_":
		// psABI amd64 and AAELF64: where offsets in the GOT count from.
		g.kind, g.section = defined, &l.got
	case g.name == "__dso_handle":
		// Itanium C++ ABI 3.3.6.3: an address that is the image's own.
		g.kind, g.section = defined, &l.got
	case g.name == "_TLS_MODULE_BASE_" && l.threadSection() != nil:
		// What offsets of R_X86_64_DTPOFF32 count from, which here is the thread pointer.
		g.kind, g.section = defined, l.threadSection()
		l.moduleBase = g
	case l.bound(g):
	case g.tls:
		g.kind = failed
	default:
		if l.resolve != nil {
			if address, ok := l.resolve(g.name); ok {
				g.kind, g.value = imported, address
				return
			}
		}
		g.kind = failed
		if g.weak {
			g.kind = missing
		}
	}
}

// bound defines __start_NAME and __stop_NAME, the bounds of the sections whose
// name is an identifier of C (ld manual, "Orphan Sections").
func (l *linker) bound(g *symbol) bool {
	name, start := strings.CutPrefix(g.name, "__start_")
	if !start {
		var stop bool
		if name, stop = strings.CutPrefix(g.name, "__stop_"); !stop {
			return false
		}
	}
	run, ok := l.runs[name]
	if !ok {
		return false
	}
	g.kind, g.section, g.value = defined, run.first, 0
	if !start {
		g.section, g.value = run.last, run.last.size
	}
	return true
}
