// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package amend

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// relative32 is the type of the relocation S + A - P of 32 bits, by machine.
var relative32 = map[elf.Machine]uint32{elf.EM_X86_64: uint32(elf.R_X86_64_PC32), elf.EM_AARCH64: uint32(elf.R_AARCH64_PREL32)}

// addEHFrame adds the tables of functions of an object file.
func (e *editor) addEHFrame(m *arch.Machine, functions []Function) error {
	relocation, ok := relative32[m.ELF]
	if !ok {
		return fmt.Errorf("tables cannot be added to object files for %s: %w", m.Name, errors.ErrUnsupported)
	}
	symbols, err := e.openSymbols()
	if err != nil {
		return err
	}
	frames := cfi.Encoder{Kind: cfi.EHFrame, Machine: m}
	ofSections := make([]int, 0, len(functions))
	for _, f := range functions {
		if f.Section <= 0 || f.Section >= len(e.sections) {
			return fmt.Errorf("%w: a function in section %d of %d", ErrDamaged, f.Section, len(e.sections))
		}
		if s := &e.sections[f.Section]; s.flags&elf.SHF_EXECINSTR == 0 || f.Address > s.size || f.Size > s.size-f.Address {
			return fmt.Errorf("%w: a function of %#x bytes at %#x, section %s has %#x bytes", ErrDamaged, f.Size, f.Address, e.nameOf(f.Section), s.size)
		}
		ofSections = append(ofSections, f.Section)
		if err := frames.Program(f.Unwind, 0, f.Size); err != nil {
			return err
		}
	}
	numbers, err := symbols.ofSections(ofSections)
	if err != nil {
		return err
	}
	frame, table, err := e.openEHFrame(m, symbols.index)
	if err != nil {
		return err
	}
	old, err := e.content(frame)
	if err != nil {
		return err
	}
	old, terminator, err := cutTerminator(old)
	if err != nil {
		return fmt.Errorf("section %s: %w", e.nameOf(frame), err)
	}
	if len(old)+len(frames.Data) > maxSection {
		return fmt.Errorf("section %s: %d bytes and %d new ones, at most %d: %w", e.nameOf(frame), len(old), len(frames.Data), maxSection, errors.ErrUnsupported)
	}
	relocations := make([]byte, 0, relocationSize*len(functions))
	added := cfi.Section{Data: frames.Data, Machine: m, Kind: cfi.EHFrame}
	n := 0
	for fde := range added.FDEs() { // in the order of functions
		const start = 8 // offset of the initial location in an FDE
		little.PutUint32(frames.Data[fde.Offset+start:], 0)
		relocations = little.AppendUint64(relocations, uint64(len(old))+fde.Offset+start)
		relocations = little.AppendUint64(relocations, uint64(numbers[functions[n].Section])<<32|uint64(relocation))
		relocations = little.AppendUint64(relocations, functions[n].Address)
		n++
	}
	e.sections[frame].set(old, frames.Data, terminator)
	before, err := e.content(table)
	if err != nil {
		return err
	}
	e.sections[table].set(before, relocations)
	return nil
}

// openEHFrame returns the indexes of .eh_frame and of its relocations. It adds those that the file
// lacks. Sections of a group are left alone, because a linker can discard them.
func (e *editor) openEHFrame(m *arch.Machine, symbols int) (frame, table int, err error) {
	const name = ".eh_frame"
	frame, found := e.find(name, func(s *section) bool {
		return (s.typ == elf.SHT_PROGBITS || s.typ == m.UnwindSection && s.typ != 0) && s.flags&(elf.SHF_ALLOC|elf.SHF_GROUP|elf.SHF_COMPRESSED) == elf.SHF_ALLOC
	})
	if !found {
		frame = e.add(name, section{typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, align: 8})
	}
	for i := range e.sections {
		switch s := &e.sections[i]; {
		case int(s.info) != frame || s.typ != elf.SHT_RELA && s.typ != elf.SHT_REL && s.typ != shtCrel:
		case s.typ != elf.SHT_RELA || s.entry != relocationSize || int(s.link) != symbols || s.flags&elf.SHF_GROUP != 0:
			return 0, 0, fmt.Errorf("section %s: relocations of type %v with entries of %d bytes cannot be extended: %w", name, s.typ, s.entry, errors.ErrUnsupported)
		default:
			return frame, i, nil
		}
	}
	table = e.add(".rela"+name, section{typ: elf.SHT_RELA, flags: elf.SHF_INFO_LINK, link: uint32(symbols), info: uint32(frame), align: 8, entry: relocationSize})
	return frame, table, nil
}

// cutTerminator returns the entries of an .eh_frame, and after them the zero length that ends it in
// the last object file of a program.
func cutTerminator(b []byte) (entries, terminator []byte, err error) {
	for at := uint64(0); at < uint64(len(b)); {
		rest := b[at:]
		if len(rest) < 4 {
			return nil, nil, fmt.Errorf("%w: %d bytes after the last entry", ErrDamaged, len(rest))
		}
		length, size := uint64(little.Uint32(rest)), uint64(4)
		if length == 0xffffffff && len(rest) >= 12 { // DWARF 5 §7.4
			length, size = little.Uint64(rest[4:]), 12
		}
		switch {
		case length == 0 && len(rest) == 4:
			return b[:at], rest, nil
		case length == 0:
			return nil, nil, fmt.Errorf("%w: entries after the terminator at offset %#x", ErrDamaged, at)
		case length > uint64(len(rest))-size:
			return nil, nil, fmt.Errorf("%w: the entry at offset %#x has %#x bytes, the section ends at %#x", ErrDamaged, at, length, len(b))
		}
		at += size + length
	}
	return b, nil, nil
}
