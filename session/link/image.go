// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"

	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/symfile"
)

const (
	headerSize        = 64 // of Elf64_Ehdr
	sectionHeaderSize = 64
	symbolEntrySize   = 24
)

// makeImage makes a file's ELF with the sections' content, which is not relocated yet.
func (l *linker) makeImage(in *input) {
	list := make([]*section, 0, len(in.sections)+2)
	for i := range in.sections {
		list = append(list, &in.sections[i])
	}
	if in.common.mapped {
		list = append(list, &in.common)
	}
	names := &section{name: ".shstrtab", typ: elf.SHT_STRTAB, align: 1, stored: []byte{0}}
	list = append(list, names)
	nameOffsets := make([]uint32, len(list))
	for i, s := range list {
		if s.name != "" && !s.dropped() {
			nameOffsets[i] = uint32(len(names.stored))
			name := s.name
			if suffix, ok := strings.CutPrefix(name, ".zdebug_"); ok && !bytes.HasPrefix(s.stored, []byte("ZLIB")) {
				name = ".debug_" + suffix // StoredData has decompressed it
			}
			names.stored = append(append(names.stored, name...), 0)
		}
	}

	size := uint64(headerSize)
	offsets := make([]uint64, len(list))
	for i, s := range list {
		if s.dropped() {
			continue
		}
		size = roundUp(size, min(s.align, 16))
		offsets[i] = size
		size += uint64(len(s.stored))
	}
	size = roundUp(size, 8)
	headers := size
	size += uint64(len(list)) * sectionHeaderSize
	image := make([]byte, size)
	copy(image, elf.ELFMAG)
	image[elf.EI_CLASS], image[elf.EI_DATA], image[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	order.PutUint16(image[16:], uint16(elf.ET_EXEC))
	order.PutUint16(image[18:], uint16(l.machine.elf))
	order.PutUint32(image[20:], uint32(elf.EV_CURRENT))
	order.PutUint64(image[40:], headers)
	order.PutUint16(image[52:], headerSize)
	order.PutUint16(image[58:], sectionHeaderSize)
	order.PutUint16(image[60:], uint16(len(list)))
	order.PutUint16(image[62:], uint16(len(list)-1))
	if len(list) >= int(elf.SHN_LORESERVE) {
		// gABI, "ELF Header": the first section header has numbers of this size.
		order.PutUint16(image[60:], 0)
		order.PutUint16(image[62:], uint16(elf.SHN_XINDEX))
		order.PutUint64(image[headers+32:], uint64(len(list)))
		order.PutUint32(image[headers+40:], uint32(len(list)-1))
	}
	for i, s := range list {
		if s.dropped() {
			continue
		}
		if s.typ != elf.SHT_NOBITS {
			end := offsets[i] + uint64(len(s.stored))
			s.data = image[offsets[i]:end:end]
			copy(s.data, s.stored)
			s.size, s.stored = uint64(len(s.data)), nil
		}
		h := image[headers+uint64(i)*sectionHeaderSize:]
		order.PutUint32(h, nameOffsets[i])
		order.PutUint32(h[4:], uint32(s.typ))
		order.PutUint64(h[8:], uint64(s.flags&^(elf.SHF_GROUP|elf.SHF_COMPRESSED|elf.SHF_INFO_LINK)))
		order.PutUint64(h[16:], s.address)
		order.PutUint64(h[24:], offsets[i])
		order.PutUint64(h[32:], s.size)
		order.PutUint32(h[40:], uint32(s.linked))
		order.PutUint32(h[44:], s.info)
		order.PutUint64(h[48:], s.align)
		order.PutUint64(h[56:], s.entry)
	}
	in.image = image
	if in.symtab != 0 {
		l.moveSymbols(in, in.sections[in.symtab].data)
	}
}

// dropped reports whether a section is not in the image.
func (s *section) dropped() bool {
	switch s.typ {
	case elf.SHT_NULL, elf.SHT_RELA, elf.SHT_GROUP:
		return true
	}
	return s.discarded
}

// moveSymbols sets the addresses of symbols in an image.
func (l *linker) moveSymbols(in *input, table []byte) {
	for i := 1; i < len(in.own) && (i+1)*symbolEntrySize <= len(table); i++ {
		b := table[i*symbolEntrySize:]
		put := func(section int, value uint64) {
			if section >= 0 {
				order.PutUint16(b[6:], uint16(section))
			}
			order.PutUint64(b[8:], value)
		}
		switch s := &in.own[i]; s.kind {
		case defined:
			switch {
			case !s.section.mapped:
			case s.tls:
				// As in an executable, the offset from the start of the variables.
				put(-1, s.section.offset-l.template.start+s.value)
			default:
				put(-1, s.address())
			}
		case discarded:
			put(0, 0)
		case common:
			if g := in.refs[i]; g.section == &in.common && in.common.index < int(elf.SHN_LORESERVE) {
				put(in.common.index, g.address())
			} else if g.section == &in.common {
				put(int(elf.SHN_ABS), g.address())
			} else {
				put(0, 0)
			}
		}
	}
}

// makeStubs writes the stubs, and adds their description to the program.
func (l *linker) makeStubs(p *Program) error {
	if len(l.stubSymbols) == 0 {
		return nil
	}
	size := l.machine.stubSize
	l.stubs.data = make([]byte, l.stubs.size)
	code := &jit.Code{
		Name: "stubs", Machine: l.inputs[0].file.Machine(), Address: l.stubs.address, Text: l.stubs.data,
		Functions: make([]jit.Function, len(l.stubSymbols)),
	}
	// A stub changes neither the stack nor callee-saved registers.
	unwind, err := preset.Leaf(code.Machine, preset.Frame{})
	if err != nil {
		return fmt.Errorf("unwind table of stubs: %w", err)
	}
	for i, g := range l.stubSymbols {
		l.machine.stub(l.stubs.data[i*size:], l.stubs.address+uint64(i*size), l.got.address+8*uint64(g.slot-1))
		code.Functions[i] = jit.Function{Name: g.name + "@plt", Offset: uint64(i * size), Size: uint64(size), Unwind: unwind}
	}
	image, err := symfile.Append(nil, code)
	if err != nil {
		return fmt.Errorf("description of stubs: %w", err)
	}
	p.Objects = append(p.Objects, &Object{
		Name: code.Name, ELF: image, Text: []Range{{l.stubs.address, l.stubs.address + l.stubs.size}},
	})
	return nil
}
