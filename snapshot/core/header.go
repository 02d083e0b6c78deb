// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/internal/stored"
)

// ErrNotCore is wrapped by Open's error if the file is not a core: another kind of ELF
// file, or not an ELF file.
var ErrNotCore error = stored.Unrecognized("not an ELF core")

// header is the ELF header of a core and its program headers.
type header struct {
	machine *arch.Machine
	class   elf.Class
	order   binary.ByteOrder
	loads   []stored.Segment // PT_LOAD
	notes   []elf.ProgHeader // PT_NOTE
}

const (
	pnXNUM = 0xffff // gABI, "ELF Header": e_phnum does not hold the number

	// maxSegments bounds the program headers that are read, at eight times the default of
	// vm.max_map_count.
	maxSegments = 1 << 19
)

// readHeader reads the header of a core of size bytes. If the core is truncated, the program
// headers after the cut are lost; damage reports it.
func readHeader(r io.ReaderAt, size int64) (h *header, damage []error, err error) {
	var b [64]byte
	n, err := r.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	if n == 0 {
		return nil, nil, fmt.Errorf("%w: it is empty", ErrNotCore)
	}
	if n < 4 || string(b[:4]) != elf.ELFMAG {
		return nil, nil, fmt.Errorf("%w: it starts with % x, not with 7f 45 4c 46", ErrNotCore, b[:min(n, 4)])
	}
	h = &header{class: elf.Class(b[elf.EI_CLASS])}
	need := 52
	if h.class == elf.ELFCLASS64 {
		need = 64
	} else if h.class != elf.ELFCLASS32 {
		return nil, nil, fmt.Errorf("%w: ELF header: unknown class %d", ErrNotCore, h.class)
	}
	switch data := elf.Data(b[elf.EI_DATA]); {
	case n < need:
		return nil, nil, fmt.Errorf("ELF header: %d bytes, %d expected: the core is truncated", n, need)
	case data == elf.ELFDATA2LSB:
		h.order = binary.LittleEndian
	case data == elf.ELFDATA2MSB:
		h.order = binary.BigEndian
	default:
		return nil, nil, fmt.Errorf("%w: ELF header: unknown byte order %d", ErrNotCore, data)
	}
	o := h.order
	if typ := elf.Type(o.Uint16(b[16:])); typ != elf.ET_CORE {
		return nil, nil, fmt.Errorf("%w: it is of type %v, not ET_CORE", ErrNotCore, typ)
	}
	var phoff, shoff uint64
	tail := b[48:]
	if h.class == elf.ELFCLASS64 {
		phoff, shoff = o.Uint64(b[32:]), o.Uint64(b[40:])
	} else {
		phoff, shoff, tail = uint64(o.Uint32(b[28:])), uint64(o.Uint32(b[32:])), b[36:]
	}
	h.machine = arch.LookupFlags(elf.Machine(o.Uint16(b[18:])), h.class, elf.Data(b[elf.EI_DATA]), o.Uint32(tail))
	entry, count := int64(o.Uint16(tail[6:])), uint64(o.Uint16(tail[8:]))
	if entry < h.segmentSize() {
		return nil, nil, fmt.Errorf("program headers: entries of %d bytes, at least %d expected", entry, h.segmentSize())
	}
	if phoff > uint64(size) {
		return nil, nil, fmt.Errorf("program headers at offset %#x: the core is truncated at %#x", phoff, size)
	}
	if count == pnXNUM {
		if count, err = h.extendedCount(r, size, phoff, shoff, entry); err != nil {
			damage = append(damage, err)
		}
	}
	if most := (uint64(size) - phoff) / uint64(entry); count > most {
		damage = append(damage, fmt.Errorf("%d program headers at offset %#x: only %d exist, the core is truncated at %#x", count, phoff, most, size))
		count = most
	}
	if count > maxSegments {
		damage = append(damage, fmt.Errorf("%d program headers: only the first %d are read", count, maxSegments))
		count = maxSegments
	}
	return h, damage, h.readSegments(r, int64(phoff), entry, int(count))
}

func (h *header) segmentSize() int64 {
	if h.class == elf.ELFCLASS64 {
		return 56
	}
	return 32
}

// extendedCount returns the number of program headers if it does not fit the header. The
// number is in the first entry of the section table, which the kernel writes at the very
// end (elf_core_dump). If the core is truncated, it is computed from the offset of the
// first segment, because the notes come directly after the program headers.
func (h *header) extendedCount(r io.ReaderAt, size int64, phoff, shoff uint64, entry int64) (uint64, error) {
	at := 28 // sh_info
	if h.class == elf.ELFCLASS64 {
		at = 44
	}
	var b [64]byte
	if shoff != 0 && shoff < uint64(size) {
		if n, _ := r.ReadAt(b[:], int64(shoff)); n >= at+4 {
			return uint64(h.order.Uint32(b[at:])), nil
		}
	}
	cut := fmt.Errorf("number of program headers: it is in the section table at offset %#x, and the core is truncated at %#x", shoff, size)
	if n, _ := r.ReadAt(b[:h.segmentSize()], int64(phoff)); int64(n) < h.segmentSize() {
		return 0, cut
	}
	if p := h.decodeSegment(b[:]); p.Off > phoff {
		return (p.Off - phoff) / uint64(entry), cut
	}
	return 0, cut
}

func (h *header) readSegments(r io.ReaderAt, at, entry int64, count int) error {
	h.loads = make([]stored.Segment, 0, count)
	buffer := make([]byte, min(int64(count)*entry, 64<<10/entry*entry+entry))
	for count > 0 {
		n := min(count, len(buffer)/int(entry))
		b := buffer[:n*int(entry)]
		if k, err := r.ReadAt(b, at); k < len(b) {
			return fmt.Errorf("program headers at offset %#x: %w", at, err)
		}
		for ; len(b) > 0; b = b[entry:] {
			switch p := h.decodeSegment(b); p.Type {
			case elf.PT_LOAD:
				h.loads = append(h.loads, stored.Segment{Vaddr: p.Vaddr, Off: p.Off, Memsz: p.Memsz, Filesz: p.Filesz, Flags: p.Flags})
			case elf.PT_NOTE:
				h.notes = append(h.notes, p)
			}
		}
		count -= n
		at += int64(n) * entry
	}
	return nil
}

func (h *header) decodeSegment(b []byte) (p elf.ProgHeader) {
	o := h.order
	p.Type = elf.ProgType(o.Uint32(b))
	if h.class == elf.ELFCLASS64 {
		p.Flags = elf.ProgFlag(o.Uint32(b[4:]))
		p.Off, p.Vaddr = o.Uint64(b[8:]), o.Uint64(b[16:])
		p.Filesz, p.Memsz, p.Align = o.Uint64(b[32:]), o.Uint64(b[40:]), o.Uint64(b[48:])
		return p
	}
	p.Off, p.Vaddr = uint64(o.Uint32(b[4:])), uint64(o.Uint32(b[8:]))
	p.Filesz, p.Memsz = uint64(o.Uint32(b[16:])), uint64(o.Uint32(b[20:]))
	p.Flags, p.Align = elf.ProgFlag(o.Uint32(b[24:])), uint64(o.Uint32(b[28:]))
	return p
}
