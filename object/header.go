// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/internal/leb128"
)

// header is the ELF header (gABI, "ELF Header"). readTables replaces counts that are stored
// elsewhere.
type header struct {
	class   elf.Class
	data    elf.Data
	order   binary.ByteOrder
	typ     elf.Type
	machine elf.Machine
	flags   uint32
	entry   uint64

	phoff, shoff         uint64
	phentsize, shentsize uint64
	phnum, shnum         uint64
	shstrndx             uint64
}

// sectionHeader is an entry of the section table. name is an offset in the table of names.
type sectionHeader struct {
	name       uint32
	typ        elf.SectionType
	flags      elf.SectionFlag
	addr       uint64
	off, size  uint64
	link, info uint32
	align      uint64
	entsize    uint64
}

const (
	ehdr32, ehdr64 = 52, 64
	phdr32, phdr64 = 32, 56
	shdr32, shdr64 = 40, 64
)

// decodeHeader decodes the ELF header at the start of b.
func decodeHeader(b []byte) (h header, err error) {
	if len(b) < len(elf.ELFMAG) || string(b[:4]) != elf.ELFMAG {
		return h, fmt.Errorf("%w: it starts with % x, not with 7f 45 4c 46", ErrNotELF, b[:min(4, len(b))])
	}
	if len(b) < elf.EI_NIDENT {
		return h, fmt.Errorf("ELF header: %d bytes, at least %d expected", len(b), ehdr32)
	}
	h.class, h.data = elf.Class(b[elf.EI_CLASS]), elf.Data(b[elf.EI_DATA])
	switch h.data {
	case elf.ELFDATA2LSB:
		h.order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		h.order = binary.BigEndian
	default:
		return h, fmt.Errorf("ELF header: unknown byte order %d", b[elf.EI_DATA])
	}
	size := ehdr32
	if h.class == elf.ELFCLASS64 {
		size = ehdr64
	} else if h.class != elf.ELFCLASS32 {
		return h, fmt.Errorf("ELF header: unknown class %d", b[elf.EI_CLASS])
	}
	if len(b) < size {
		return h, fmt.Errorf("ELF header: %d bytes, %d expected", len(b), size)
	}
	c := h.cursor(b[16:])
	h.typ, h.machine = elf.Type(c.Uint16()), elf.Machine(c.Uint16())
	c.Uint32() // e_version
	h.entry, h.phoff, h.shoff = c.Uint(h.wordSize()), c.Uint(h.wordSize()), c.Uint(h.wordSize())
	h.flags = c.Uint32()
	c.Uint16() // e_ehsize
	h.phentsize, h.phnum = uint64(c.Uint16()), uint64(c.Uint16())
	h.shentsize, h.shnum, h.shstrndx = uint64(c.Uint16()), uint64(c.Uint16()), uint64(c.Uint16())
	return h, nil
}

// cursor reads b in the byte order of the file.
func (h *header) cursor(b []byte) leb128.Cursor {
	return leb128.Cursor{Data: b, End: uint64(len(b)), Big: h.data == elf.ELFDATA2MSB}
}

// decodeSection decodes the entry of the section table at the start of b.
func (h *header) decodeSection(b []byte) (s sectionHeader) {
	if h.class == elf.ELFCLASS64 && h.data == elf.ELFDATA2LSB {
		// The fast path for most files makes no calls through an interface.
		o := binary.LittleEndian
		b = b[:shdr64]
		return sectionHeader{
			name: o.Uint32(b), typ: elf.SectionType(o.Uint32(b[4:])), flags: elf.SectionFlag(o.Uint64(b[8:])),
			addr: o.Uint64(b[16:]), off: o.Uint64(b[24:]), size: o.Uint64(b[32:]),
			link: o.Uint32(b[40:]), info: o.Uint32(b[44:]), align: o.Uint64(b[48:]), entsize: o.Uint64(b[56:]),
		}
	}
	c, word := h.cursor(b), h.wordSize()
	s.name, s.typ, s.flags = c.Uint32(), elf.SectionType(c.Uint32()), elf.SectionFlag(c.Uint(word))
	s.addr, s.off, s.size = c.Uint(word), c.Uint(word), c.Uint(word)
	s.link, s.info, s.align, s.entsize = c.Uint32(), c.Uint32(), c.Uint(word), c.Uint(word)
	return s
}

// decodeSegment decodes the program header at the start of b.
func (h *header) decodeSegment(b []byte) (p elf.ProgHeader) {
	c, word := h.cursor(b), h.wordSize()
	p.Type = elf.ProgType(c.Uint32())
	if word == 8 {
		p.Flags = elf.ProgFlag(c.Uint32())
	}
	p.Off, p.Vaddr, p.Paddr, p.Filesz, p.Memsz = c.Uint(word), c.Uint(word), c.Uint(word), c.Uint(word), c.Uint(word)
	if word == 4 {
		p.Flags = elf.ProgFlag(c.Uint32())
	}
	p.Align = c.Uint(word)
	return p
}

// wordSize returns the size of an address in bytes.
func (h *header) wordSize() int {
	if h.class == elf.ELFCLASS64 {
		return 8
	}
	return 4
}

// sizes returns the sizes of a program header and of a section header.
func (h *header) sizes() (segment, section uint64) {
	if h.class == elf.ELFCLASS64 {
		return phdr64, shdr64
	}
	return phdr32, shdr32
}

// readTables finds the section table, its names and the program headers. It keeps the parts
// inside of the file and notes the others.
func (f *File) readTables() {
	h, size := &f.header, uint64(len(f.data))
	segmentSize, sectionSize := h.sizes()
	switch {
	case h.shoff == 0:
	case h.shentsize < sectionSize:
		f.note(fmt.Errorf("section table: entries of %d bytes, at least %d expected", h.shentsize, sectionSize))
	case h.shoff > size || size-h.shoff < sectionSize:
		f.cut = true
		f.note(fmt.Errorf("section table at offset %#x: the file ends at %#x", h.shoff, size))
	default:
		// Entry 0 holds the counts that do not fit in the header (gABI, "Sections").
		first := h.decodeSection(f.data[h.shoff:])
		n := h.shnum
		if n == 0 {
			n = first.size
		}
		if h.shstrndx == uint64(elf.SHN_XINDEX) {
			h.shstrndx = uint64(first.link)
		}
		if h.phnum == 0xffff { // PN_XNUM
			h.phnum = uint64(first.info)
		}
		f.cut = n > (size-h.shoff)/h.shentsize
		n = f.heldEntries("section table", h.shoff, n, h.shentsize)
		f.sections = f.data[h.shoff:][:n*h.shentsize]
	}
	h.shnum = 0
	if f.sections != nil {
		h.shnum = uint64(len(f.sections)) / h.shentsize
	}
	if h.shstrndx != 0 && h.shnum != 0 {
		if h.shstrndx >= h.shnum {
			f.note(fmt.Errorf("section name table: section %d of %d", h.shstrndx, h.shnum))
		} else {
			names, err := f.raw(f.section(int(h.shstrndx)))
			if err != nil {
				f.note(fmt.Errorf("section name table: %w", err))
			}
			f.names = names
		}
	}
	switch {
	case h.phnum == 0 || h.phoff == 0:
	case h.phentsize < segmentSize:
		f.note(fmt.Errorf("program headers: entries of %d bytes, at least %d expected", h.phentsize, segmentSize))
	case h.phoff > size:
		f.note(fmt.Errorf("program headers at offset %#x: the file ends at %#x", h.phoff, size))
	default:
		f.segments = make([]elf.ProgHeader, f.heldEntries("program headers", h.phoff, h.phnum, h.phentsize))
		for i := range f.segments {
			f.segments[i] = h.decodeSegment(f.data[h.phoff+uint64(i)*h.phentsize:])
		}
	}
}

// heldEntries returns how many of the n entries of a table at an offset the file holds. It
// notes if they are fewer.
func (f *File) heldEntries(table string, offset, n, entrySize uint64) uint64 {
	if most := (uint64(len(f.data)) - offset) / entrySize; n > most {
		f.note(fmt.Errorf("%s at offset %#x: %d entries, the file holds %d", table, offset, n, most))
		n = most
	}
	if most := f.portion() / entrySize; n > most {
		f.note(fmt.Errorf("%s at offset %#x: %d entries, %w", table, offset, n, f.sparse()))
		n = most
	}
	return n
}
