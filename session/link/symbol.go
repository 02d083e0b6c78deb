// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"debug/elf"
	"fmt"
	"strings"
)

// symbol is a global symbol, or an entry of a file's symbol table.
type symbol struct {
	kind    symbolKind
	weak    bool
	tls     bool
	ifunc   bool
	name    string   // of a global symbol
	owner   *input   // the file that defines it
	section *section // of a defined symbol
	value   uint64   // offset in the section, address, or alignment of a common symbol
	size    uint64

	stub, slot, tpSlot int32 // 1 + index in the linker's lists, or 0
}

type symbolKind uint8

const (
	undefined symbolKind = iota // not looked up yet
	defined                     // in a section
	absolute                    // a value
	common                      // gets a section when all files are read
	imported                    // defined by Options.Resolve
	missing                     // weak, and not defined
	failed                      // not defined
	discarded                   // a local symbol in a discarded section
)

// address returns the address of a symbol. settle must have set those of the sections.
func (s *symbol) address() uint64 {
	if s.section != nil {
		return s.section.address + s.value
	}
	return s.value
}

// readSymbols reads the symbols of a file, after discard.
func (l *linker) readSymbols(in *input) error {
	n := in.table.Len()
	in.own, in.refs = make([]symbol, n), make([]*symbol, n)
	for i := 1; i < n; i++ {
		e := in.table.At(i)
		s := &in.own[i]
		*s = symbol{owner: in, value: e.Value, size: e.Size, tls: e.Type == elf.STT_TLS, ifunc: e.Type == elf.STT_GNU_IFUNC, weak: e.Binding == elf.STB_WEAK}
		switch {
		case e.Section >= len(in.sections):
			return fmt.Errorf("%s: %w: symbol %s is in section %d of %d", in.name, errObject, in.symbolName(uint32(i)), e.Section, len(in.sections))
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
				return fmt.Errorf("%s: %w: common symbol %s has alignment %#x", in.name, errObject, in.symbolName(uint32(i)), e.Value)
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
				return fmt.Errorf("%s: %w: common symbol %s is local", in.name, errObject, in.symbolName(uint32(i)))
			}
			in.refs[i] = s
			continue
		}
		if s.section != nil && !s.section.mapped {
			in.refs[i] = s // symbols of debugging information are local to the file
			continue
		}
		name, err := in.copyName(&in.table, &e)
		if err != nil {
			return fmt.Errorf("%w: %w", errObject, err)
		}
		if name == "__gnu_lto_slim" {
			return fmt.Errorf("%s: %w: the file has only code for link-time optimization; compile with -fno-lto", in.name, ErrUnsupported)
		}
		in.refs[i] = l.global(name, s)
	}
	if n > 0 {
		in.refs[0] = &l.null
	}
	return nil
}

// global returns the global symbol of a name after merging a file's symbol s.
func (l *linker) global(name string, s *symbol) *symbol {
	g, ok := l.globals[name]
	if !ok {
		g = &symbol{name: name, weak: true}
		l.globals[name] = g
	}
	if s.kind == undefined || s.kind == discarded {
		// The symbol is weak only if every reference is.
		if g.kind == undefined {
			g.weak = g.weak && s.weak && s.kind == undefined
			g.tls = g.tls || s.tls
		}
		return g
	}
	replace := false
	switch {
	case g.kind == undefined:
		replace = true
	case g.kind == common && s.kind == common:
		// The largest size and the strictest alignment count.
		g.value = max(g.value, s.value)
		s.value = g.value
		replace = s.size > g.size
	case s.weak:
	case g.weak, g.kind == common:
		replace = true
	case s.kind == common:
	default:
		l.problems.Add(fmt.Errorf("%w: %s, in %s and in %s", errDuplicate, g.name, g.owner.name, s.owner.name))
	}
	if replace {
		*g = *s
		g.name = name
	}
	return g
}

// placeCommon assigns each common symbol a place in the section common of its file.
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
				return fmt.Errorf("%s: %w: common symbol %s of %#x bytes", in.name, errTooLarge, g.name, g.size)
			}
			c.align = max(c.align, g.value)
			g.kind, g.section, g.value = defined, c, at
			c.size = at + g.size
		}
	}
	return nil
}

// find looks up a symbol that no file defines, at the first reference.
func (l *linker) find(g *symbol) {
	if g.kind != undefined {
		return
	}
	switch {
	case g.name == "_GLOBAL_OFFSET_TABLE_", g.name == "__dso_handle":
		// psABI amd64 and AAELF64: the base of offsets in the GOT. Itanium C++ ABI 3.3.6.3: any
		// address in the image.
		g.kind, g.section = defined, &l.got
	case g.name == "_TLS_MODULE_BASE_" && l.threadSection() != nil:
		// The base of offsets of R_X86_64_DTPOFF32, which here is the thread pointer.
		g.kind, g.section = defined, l.threadSection()
		l.moduleBase = g
	case l.bound(g):
	case g.tls && !l.analysed:
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

// bound defines __start_NAME and __stop_NAME, the bounds of sections named by an identifier of C (ld
// manual, "Orphan Sections").
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
