// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf_test

import (
	"debug/elf"
	"encoding/binary"
)

// frames builds a section of call frame information entry by entry.
type frames struct {
	order   binary.AppendByteOrder
	eh      bool
	dwarf64 bool // of the following entries
	wideID  bool // .eh_frame of 64-bit DWARF with ids of 64 bits, as readelf expects them
	b       []byte
}

func newEH() *frames    { return &frames{order: binary.LittleEndian, eh: true} }
func newDebug() *frames { return &frames{order: binary.LittleEndian} }

// entry appends an entry, padded to a multiple of eight bytes by DW_CFA_nop,
// and returns its offset. id gets its own offset.
func (f *frames) entry(id func(at int) uint64, body ...byte) int {
	offset, wide := len(f.b), f.dwarf64 && (!f.eh || f.wideID)
	size := len(body) + 4
	if wide {
		size += 4
	}
	for (size+4)%8 != 0 {
		body, size = append(body, 0), size+1
	}
	if f.dwarf64 {
		f.b = f.order.AppendUint32(f.b, 0xffffffff)
		f.b = f.order.AppendUint64(f.b, uint64(size))
	} else {
		f.b = f.order.AppendUint32(f.b, uint32(size))
	}
	if v := id(len(f.b)); wide {
		f.b = f.order.AppendUint64(f.b, v)
	} else {
		f.b = f.order.AppendUint32(f.b, uint32(v))
	}
	f.b = append(f.b, body...)
	return offset
}

// cie appends a CIE. The body starts with the version.
func (f *frames) cie(body ...byte) int {
	return f.entry(func(int) uint64 {
		if f.eh {
			return 0
		}
		return 1<<64 - 1
	}, body...)
}

// fde appends an FDE. The body starts after the CIE pointer.
func (f *frames) fde(cie int, body ...byte) int {
	return f.entry(func(at int) uint64 {
		if f.eh {
			return uint64(at - cie)
		}
		return uint64(cie)
	}, body...)
}

func (f *frames) raw(b ...byte) { f.b = append(f.b, b...) }

// address appends a value of size bytes.
func (f *frames) address(dst []byte, v uint64, size int) []byte {
	switch size {
	case 1:
		return append(dst, byte(v))
	case 2:
		return f.order.AppendUint16(dst, uint16(v))
	case 4:
		return f.order.AppendUint32(dst, uint32(v))
	}
	return f.order.AppendUint64(dst, v)
}

// code returns the start and length of a function, each as size bytes.
func (f *frames) code(start, length uint64, size int) []byte {
	return f.address(f.address(nil, start, size), length, size)
}

// cat joins bytes, slices of bytes and strings.
func cat(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = append(b, byte(p))
		case []byte:
			b = append(b, p...)
		case string:
			b = append(append(b, p...), 0)
		}
	}
	return b
}

// section is a section of an ELF file.
type section struct {
	name    string
	typ     elf.SectionType // 0: SHT_PROGBITS
	flags   elf.SectionFlag
	address uint64
	data    []byte
	size    uint64 // of SHT_NOBITS
}

// elfFile returns an ELF file with sections and no segments.
func elfFile(machine elf.Machine, class elf.Class, order binary.AppendByteOrder, sections ...section) []byte {
	wide := class == elf.ELFCLASS64
	word := func(b []byte, v uint64) []byte {
		if wide {
			return order.AppendUint64(b, v)
		}
		return order.AppendUint32(b, uint32(v))
	}
	headerSize, sectionSize := 52, 40
	if wide {
		headerSize, sectionSize = 64, 64
	}
	names := []byte{0}
	sections = append(sections, section{name: ".shstrtab", typ: elf.SHT_STRTAB})
	var content, table []byte
	table = append(table, make([]byte, sectionSize)...)
	for i, s := range sections {
		name := len(names)
		names = append(append(names, s.name...), 0)
		if i == len(sections)-1 {
			s.data = names
		}
		if s.typ == 0 {
			s.typ = elf.SHT_PROGBITS
		}
		for len(content)%8 != 0 {
			content = append(content, 0)
		}
		offset, size := headerSize+len(content), uint64(len(s.data))
		if s.typ == elf.SHT_NOBITS {
			size = s.size
		}
		content = append(content, s.data...)
		table = order.AppendUint32(table, uint32(name))
		table = order.AppendUint32(table, uint32(s.typ))
		table = word(table, uint64(s.flags))
		table = word(table, s.address)
		table = word(table, uint64(offset))
		table = word(table, size)
		table = order.AppendUint32(table, 0)
		table = order.AppendUint32(table, 0)
		table = word(table, 8)
		table = word(table, 0)
	}
	for len(content)%8 != 0 {
		content = append(content, 0)
	}
	data := byte(elf.ELFDATA2LSB)
	if order.AppendUint16(nil, 1)[1] == 1 {
		data = byte(elf.ELFDATA2MSB)
	}
	b := []byte{0x7f, 'E', 'L', 'F', byte(class), data, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	b = order.AppendUint16(b, uint16(elf.ET_DYN))
	b = order.AppendUint16(b, uint16(machine))
	b = order.AppendUint32(b, 1)
	b = word(b, 0)
	b = word(b, 0)
	b = word(b, uint64(headerSize+len(content)))
	b = order.AppendUint32(b, 0)
	b = order.AppendUint16(b, uint16(headerSize))
	b = order.AppendUint16(b, 0)
	b = order.AppendUint16(b, 0)
	b = order.AppendUint16(b, uint16(sectionSize))
	b = order.AppendUint16(b, uint16(len(sections)+1))
	b = order.AppendUint16(b, uint16(len(sections)))
	return append(append(b, content...), table...)
}

// fixPointer sets the CIE pointer of the FDE at an offset, in 32-bit .debug_frame.
func (f *frames) fixPointer(fde, cie int) {
	copy(f.b[fde+4:], f.address(nil, uint64(cie), 4))
}
