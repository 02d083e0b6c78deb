// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// CFISections returns every section of call frame information in the order of
// the section table: those named .eh_frame, .debug_frame or .zdebug_frame and
// those of type SHT_X86_64_UNWIND. In a relocatable file each section group
// may have its own. If the table names none, the list is [File.EHFrame] alone.
//
// The data of the sections may be a view of the file: see [Guard]. The error
// joins all errors; a truncated section is returned as far as it goes.
func (f *File) CFISections() ([]*cfi.Section, error) {
	var list []*cfi.Section
	var problems problems
	fault := Guard(func() error {
		bases := f.bases()
		left := f.portion()
		for i := range f.sectionCount() {
			s := f.section(i)
			kind, ok := f.cfiKind(s)
			if !ok {
				continue
			}
			// Overlapping sections must not make the work exceed the size of the file.
			size := min(s.size, uint64(len(f.data))-min(s.off, uint64(len(f.data))))
			if size > left && size <= f.portion() {
				problems.add(fmt.Errorf("section %s: it overlaps others of call frame information", f.sectionName(s)))
				continue
			}
			left -= min(size, left)
			section, err := f.cfiSection(i, kind, bases)
			problems.add(err)
			if section != nil {
				list = append(list, section)
			}
		}
		return nil
	})
	problems.add(fault)
	if len(list) == 0 {
		section, err := f.EHFrame()
		if section != nil {
			list = append(list, section)
		}
		if len(problems.list) == 0 {
			return list, err
		}
	}
	return list, f.named(problems.err())
}

// EHFrame returns the .eh_frame section: by its name, else by the type
// SHT_X86_64_UNWIND, else through PT_GNU_EH_FRAME. It returns nil and no error if the file
// does not have it. See [Guard] for its data.
func (f *File) EHFrame() (*cfi.Section, error) {
	return f.oneSection(func() (*cfi.Section, error) {
		typed := -1
		for i := range f.sectionCount() {
			s := f.section(i)
			switch kind, ok := f.cfiKind(s); {
			case !ok || kind != cfi.EHFrame:
			case hasName(f.names, uint64(s.name), ".eh_frame"):
				return f.cfiSection(i, kind, f.bases())
			case typed < 0:
				typed = i
			}
		}
		if typed >= 0 {
			return f.cfiSection(typed, cfi.EHFrame, f.bases())
		}
		return f.ehFrameByHeader()
	})
}

// DebugFrame returns the .debug_frame section of the file, else of its separate
// debug file, decompressed; nil and no error if there is none.
func (f *File) DebugFrame() (*cfi.Section, error) {
	section, err := f.oneSection(func() (*cfi.Section, error) {
		for i := range f.sectionCount() {
			if kind, ok := f.cfiKind(f.section(i)); ok && kind == cfi.DebugFrame {
				return f.cfiSection(i, kind, f.bases())
			}
		}
		return nil, nil
	})
	if d := f.debug.Load(); section == nil && d != nil {
		other, otherErr := d.DebugFrame()
		return other, errors.Join(err, otherErr)
	}
	return section, err
}

// oneSection calls find under Guard, and adds the name of the file to its error.
func (f *File) oneSection(find func() (*cfi.Section, error)) (*cfi.Section, error) {
	section, err := guarded(find)
	return section, f.named(err)
}

// cfiKind returns the kind of a section with call frame information.
func (f *File) cfiKind(s sectionHeader) (cfi.Kind, bool) {
	if s.typ == elf.SHT_NOBITS || s.typ == elf.SHT_NULL {
		return 0, false
	}
	name := f.sectionName(s)
	switch string(prefix(name, len(".debug_frame")+1)) {
	case ".eh_frame":
		return cfi.EHFrame, true
	case ".debug_frame", ".zdebug_frame":
		return cfi.DebugFrame, true
	}
	if s.typ == f.arch.UnwindSection && string(name) != ".eh_frame_hdr" {
		return cfi.EHFrame, true
	}
	return 0, false
}

// addressBases are the bases of textrel and datarel pointers.
type addressBases struct{ text, data uint64 }

func (f *File) bases() (b addressBases) {
	found := false
	for i := range f.sectionCount() {
		s := f.section(i)
		switch {
		case hasName(f.names, uint64(s.name), ".text"):
			b.text = s.addr
		case hasName(f.names, uint64(s.name), ".got.plt"):
			b.data, found = s.addr, true
		case !found && hasName(f.names, uint64(s.name), ".got"):
			b.data = s.addr
		}
	}
	if b.data == 0 {
		b.data, _ = f.dynamic(elf.DT_PLTGOT)
	}
	return b
}

// CFISection returns the section with an index of [File.Sections] if it is one of
// [File.CFISections], else nil. See there for data and error.
func (f *File) CFISection(index int) (*cfi.Section, error) {
	if index < 0 || index >= f.sectionCount() {
		return nil, nil
	}
	return f.oneSection(func() (*cfi.Section, error) {
		kind, ok := f.cfiKind(f.section(index))
		if !ok {
			return nil, nil
		}
		return f.cfiSection(index, kind, f.bases())
	})
}

func (f *File) cfiSection(i int, kind cfi.Kind, bases addressBases) (*cfi.Section, error) {
	s := f.section(i)
	data, err := f.content(i)
	if data == nil && err != nil {
		return nil, err
	}
	section := f.newSection(string(f.sectionName(s)), kind, data, s.addr, bases)
	f.mu.Lock()
	section.Unrelocated = f.unapplied[i]
	f.mu.Unlock()
	if kind == cfi.EHFrame && s.addr == 0 && f.typ != elf.ET_REL {
		err = errors.Join(err, unplaced(section))
	}
	return section, err
}

// unplaced returns an error if an .eh_frame at address 0 has pc-relative pointers to
// negative addresses: the writer of a symbol file in memory has never set its address.
// Other entries of it can be read.
func unplaced(s *cfi.Section) error {
	wrong, all := 0, 0
	for e, err := range s.Entries() {
		switch {
		case errors.Is(err, cfi.ErrFDE): // it passes the end of the address space
			wrong, all = wrong+1, all+1
		case e.FDE != nil:
			all++
			const pointerRelation = 0x70 // DW_EH_PE_pcrel and so on (LSB Core, "DWARF Exception Header Encoding")
			if e.FDE.CIE.PointerEncoding&pointerRelation == cfi.EncPCRel && e.FDE.Start>>(8*s.Machine.AddressSize-1) != 0 {
				wrong++
			}
		}
	}
	if wrong == 0 {
		return nil
	}
	return fmt.Errorf("section %s: its address was never set (sh_addr is 0): %d of %d FDEs have addresses relative to it, which are not those of their code", s.Name, wrong, all)
}

func (f *File) newSection(name string, kind cfi.Kind, data []byte, addr uint64, bases addressBases) *cfi.Section {
	section := &cfi.Section{
		Name: name, Kind: kind, Data: data, Address: addr, Machine: f.arch,
		TextBase: bases.text, DataBase: bases.data,
	}
	if f.typ != elf.ET_REL {
		section.Memory = f
	}
	return section
}

// EHFrameHdr returns the .eh_frame_hdr section and the address of its first
// byte: by PT_GNU_EH_FRAME, else by name. The data may be a view of the file: see [Guard].
func (f *File) EHFrameHdr() (data []byte, address uint64, ok bool) {
	f.noteFault(func() { data, address, ok = f.ehFrameHdr() })
	return data, address, ok
}

func (f *File) ehFrameHdr() (data []byte, address uint64, ok bool) {
	if p, found := f.segmentOf(elf.PT_GNU_EH_FRAME); found && p.Memsz > 0 {
		data, err := f.view(p.Vaddr, p.Memsz)
		if err != nil {
			// In a separate debug file the bytes are not there.
			f.note(fmt.Errorf("PT_GNU_EH_FRAME: %w", err))
		}
		if len(data) >= 4 {
			return data, p.Vaddr, true
		}
	}
	if i, found := f.find(".eh_frame_hdr"); found {
		if data, err := f.content(i); err == nil && len(data) >= 4 {
			return data, f.section(i).addr, true
		}
	}
	return nil, 0, false
}

// ehFrameByHeader finds the section through .eh_frame_hdr (LSB Core, "Exception Frame
// Header"), which contains the section's address but not its size.
func (f *File) ehFrameByHeader() (*cfi.Section, error) {
	hdr, addr, ok := f.ehFrameHdr()
	if !ok {
		return nil, nil
	}
	h, err := cfi.ParseHeader(hdr, addr, f.arch)
	if h.EHFrame.Address == 0 || h.EHFrame.Indirect {
		return nil, fmt.Errorf(".eh_frame_hdr at address %#x: the address of .eh_frame cannot be read: %w", addr,
			cmp.Or(err, cfi.ErrHeader))
	}
	start := h.EHFrame.Address
	last := start
	for e, err := range h.Entries() {
		if err == nil {
			last = max(last, e.FDE)
		}
	}
	p, ok := f.segmentAt(start)
	if !ok {
		return nil, fmt.Errorf(".eh_frame_hdr at address %#x: .eh_frame at address %#x is in no segment", addr, start)
	}
	data := f.entries(start, last, p.Vaddr+min(p.Filesz, p.Memsz)-start)
	if len(data) == 0 {
		return nil, fmt.Errorf(".eh_frame at address %#x: no entry can be read", start)
	}
	return f.newSection(".eh_frame", cfi.EHFrame, data, start, f.bases()), nil
}

// entries returns the bytes from start up to the end of the last entry of call
// frame information: a zero length after the entry at address last, or an
// entry that does not fit in the size bytes up to the end of the segment.
func (f *File) entries(start, last, size uint64) []byte {
	for window := uint64(64 << 10); ; window *= 4 {
		window = min(window, size)
		data, _ := f.view(start, window)
		end, complete := scanEntries(data, f, last-start)
		if complete || window == size || uint64(len(data)) < window {
			return data[:end:end]
		}
	}
}

// scanEntries follows the lengths of entries; complete reports whether it found the
// terminator and not only the end of data.
func scanEntries(data []byte, f *File, last uint64) (end int, complete bool) {
	pos := 0
	for len(data)-pos >= 4 {
		head, length := 4, uint64(f.order.Uint32(data[pos:]))
		if length == 0xffffffff {
			if len(data)-pos < 12 {
				return pos, false
			}
			head, length = 12, f.order.Uint64(data[pos+4:])
		}
		if length == 0 && uint64(pos) >= last {
			return pos + head, true
		}
		if length > uint64(len(data)-pos-head) {
			return pos, false
		}
		pos += head + int(length)
	}
	return pos, false
}
