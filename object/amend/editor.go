// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package amend

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

var little = binary.LittleEndian

// Sizes of the structures of a 64-bit file in bytes (gABI, "ELF Header", "Sections", "Symbol
// Table", "Relocation").
const (
	headerSize     = 64
	sectionSize    = 64
	symbolSize     = elf.Sym64Size
	relocationSize = 24 // with an addend
)

// Offsets of fields in the ELF header.
const (
	headerPhnum    = 56
	headerShoff    = 40
	headerShnum    = 60
	headerShstrndx = 62
)

// maxSections bounds the section table. Compilers write one section for each function, at most.
const maxSections = 1 << 24

// maxSection is the largest section that the package writes, so that 32-bit offsets reach all of it.
const maxSection = 1<<31 - 1

// section is an entry of the section table with the content of the section.
type section struct {
	name         uint32
	typ          elf.SectionType
	flags        elf.SectionFlag
	address      uint64
	offset, size uint64
	link, info   uint32
	align, entry uint64
	moves        bool   // to another place in the file
	content      []byte // if it moves
}

// set replaces the content.
func (s *section) set(parts ...[]byte) {
	s.content = slices.Concat(parts...)
	s.size, s.moves = uint64(len(s.content)), true
}

// editor changes sections of a file, and adds some.
type editor struct {
	data     []byte
	header   [headerSize]byte
	sections []section
	names    int // index of the section name table
}

// open reads the section table of a file.
func open(data []byte) (*editor, error) {
	e := &editor{data: data}
	size := uint64(len(data))
	if size < headerSize {
		return nil, fmt.Errorf("%w: %d bytes, the ELF header has %d", ErrDamaged, size, headerSize)
	}
	copy(e.header[:], data)
	start, entry := little.Uint64(data[headerShoff:]), uint64(little.Uint16(data[headerShnum-2:]))
	switch {
	case start == 0:
		return nil, fmt.Errorf("%w: no section table", ErrDamaged)
	case entry != sectionSize:
		return nil, fmt.Errorf("%w: section table: entries of %d bytes, expected %d", ErrDamaged, entry, sectionSize)
	case start > size || size-start < sectionSize:
		return nil, fmt.Errorf("%w: section table at offset %#x: the file ends at %#x", ErrDamaged, start, size)
	}
	// Entry 0 has the numbers that do not fit in the header (gABI, "Sections").
	first := decodeSection(data[start:])
	n, names := uint64(little.Uint16(data[headerShnum:])), uint64(little.Uint16(data[headerShstrndx:]))
	if n == 0 {
		n = first.size
	}
	if names == uint64(elf.SHN_XINDEX) {
		names = uint64(first.link)
	}
	if n > (size-start)/sectionSize {
		return nil, fmt.Errorf("%w: section table at offset %#x: %d entries, the file ends at %#x", ErrDamaged, start, n, size)
	}
	if names == 0 || names >= n {
		return nil, fmt.Errorf("%w: section name table: section %d of %d", ErrDamaged, names, n)
	}
	if n >= maxSections {
		return nil, fmt.Errorf("section table: %d entries, at most %d can be extended: %w", n, maxSections, errors.ErrUnsupported)
	}
	e.sections, e.names = make([]section, n, n+2), int(names)
	for i := range e.sections {
		e.sections[i] = decodeSection(data[start+uint64(i)*sectionSize:])
	}
	if typ := e.sections[e.names].typ; typ != elf.SHT_STRTAB {
		return nil, fmt.Errorf("%w: section name table: section %d has type %v, expected SHT_STRTAB", ErrDamaged, names, typ)
	}
	if _, err := e.content(e.names); err != nil {
		return nil, err
	}
	return e, nil
}

func decodeSection(b []byte) section {
	return section{
		name: little.Uint32(b), typ: elf.SectionType(little.Uint32(b[4:])), flags: elf.SectionFlag(little.Uint64(b[8:])),
		address: little.Uint64(b[16:]), offset: little.Uint64(b[24:]), size: little.Uint64(b[32:]),
		link: little.Uint32(b[40:]), info: little.Uint32(b[44:]), align: little.Uint64(b[48:]), entry: little.Uint64(b[56:]),
	}
}

func (s *section) encode(b []byte) {
	little.PutUint32(b, s.name)
	little.PutUint32(b[4:], uint32(s.typ))
	little.PutUint64(b[8:], uint64(s.flags))
	little.PutUint64(b[16:], s.address)
	little.PutUint64(b[24:], s.offset)
	little.PutUint64(b[32:], s.size)
	little.PutUint32(b[40:], s.link)
	little.PutUint32(b[44:], s.info)
	little.PutUint64(b[48:], s.align)
	little.PutUint64(b[56:], s.entry)
}

// nameOf returns the name of a section.
func (e *editor) nameOf(i int) string {
	names, _ := e.content(e.names) // open has read it
	at := uint64(e.sections[i].name)
	if at >= uint64(len(names)) {
		return ""
	}
	name, _, _ := bytes.Cut(names[at:], []byte{0})
	return string(name[:min(len(name), maxName)])
}

// maxName bounds the names that messages contain.
const maxName = 256

// find returns the first section with a name and a property.
func (e *editor) find(name string, ok func(*section) bool) (index int, found bool) {
	for i := range e.sections {
		if ok(&e.sections[i]) && e.hasName(i, name) {
			return i, true
		}
	}
	return 0, false
}

func (e *editor) hasName(i int, name string) bool {
	names, _ := e.content(e.names)
	at := uint64(e.sections[i].name)
	return at < uint64(len(names)) && bytes.HasPrefix(names[at:], []byte(name)) && uint64(len(names))-at > uint64(len(name)) && names[at+uint64(len(name))] == 0
}

// content returns the bytes of a section, none if the file stores none.
func (e *editor) content(i int) ([]byte, error) {
	s := &e.sections[i]
	if s.moves {
		return s.content, nil
	}
	if s.typ == elf.SHT_NOBITS || s.typ == elf.SHT_NULL {
		return nil, nil
	}
	if size := uint64(len(e.data)); s.offset > size || s.size > size-s.offset {
		return nil, fmt.Errorf("%w: section %d: %#x bytes at offset %#x, the file ends at %#x", ErrDamaged, i, s.size, s.offset, size)
	}
	return e.data[s.offset:][:s.size:s.size], nil
}

// add adds a section to the end of the table, and returns its index.
func (e *editor) add(name string, s section) int {
	names, _ := e.content(e.names)
	s.name = uint32(len(names))
	e.sections[e.names].set(names, []byte(name), []byte{0})
	s.moves = true
	e.sections = append(e.sections, s)
	return len(e.sections) - 1
}

// maxAlign is the largest alignment in the file. Alignment in memory does not depend on it, but
// linkers read tables in place.
const maxAlign = 64

// write writes the file. A linked file stays as it is up to its end, since segments contain its
// sections; the sections that have changed come after it. The sections of an object file are
// written one after another.
func (e *editor) write(w io.Writer) error {
	kept := e.data
	at := uint64(len(kept))
	if elf.Type(little.Uint16(e.header[16:])) == elf.ET_REL {
		if err := e.moveAll(); err != nil {
			return err
		}
		kept, at = kept[:headerSize], headerSize
	}
	for i := range e.sections {
		s := &e.sections[i]
		if !s.moves {
			continue
		}
		if s.offset = at; len(s.content) > 0 {
			at = alignUp(at, s.fileAlign())
			s.offset = at
			at += uint64(len(s.content))
		}
	}
	table := alignUp(at, 8)
	little.PutUint64(e.header[headerShoff:], table)
	if n := len(e.sections); n < int(elf.SHN_LORESERVE) {
		little.PutUint16(e.header[headerShnum:], uint16(n))
	} else {
		little.PutUint16(e.header[headerShnum:], 0)
		e.sections[0].size = uint64(n)
	}
	out := &counter{w: w}
	out.write(e.header[:])
	out.write(kept[headerSize:])
	for i := range e.sections {
		if s := &e.sections[i]; len(s.content) > 0 {
			out.pad(s.offset)
			out.write(s.content)
		}
	}
	out.pad(table)
	var b [sectionSize]byte
	for i := range e.sections {
		e.sections[i].encode(b[:])
		out.write(b[:])
	}
	return out.err
}

// moveAll makes all sections of an object file movable.
func (e *editor) moveAll() error {
	if little.Uint16(e.header[headerPhnum:]) != 0 {
		return fmt.Errorf("%w: an object file with program headers", ErrDamaged)
	}
	total := uint64(0)
	for i := 1; i < len(e.sections); i++ { // entry 0 is not a section
		content, err := e.content(i)
		if err != nil {
			return err
		}
		s := &e.sections[i]
		if !s.moves {
			if total += uint64(len(content)); total > uint64(len(e.data)) {
				return fmt.Errorf("%w: the sections have more bytes than the file, %d", ErrDamaged, len(e.data))
			}
		}
		s.content, s.moves = content, true
	}
	return nil
}

func (s *section) fileAlign() uint64 {
	if s.align == 0 || s.align&(s.align-1) != 0 {
		return 1
	}
	return min(s.align, maxAlign)
}

func alignUp(n, align uint64) uint64 { return (n + align - 1) &^ (align - 1) }

// counter counts what is written, and keeps the first error.
type counter struct {
	w   io.Writer
	n   uint64
	err error
}

func (c *counter) write(b []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(b)
	}
	c.n += uint64(len(b))
}

func (c *counter) pad(to uint64) {
	var zeros [maxAlign]byte
	c.write(zeros[:to-c.n])
}
