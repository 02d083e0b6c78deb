// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

// maxStructure bounds the findings about the structure of one section.
const maxStructure = 1 << 14

// structurer checks the entries of a section.
type structurer struct {
	file        *object.File
	section     *cfi.Section
	options     Options
	code, data  []object.AddressRange
	interpreter cfi.Interpreter
	cies        map[*cfi.CIE]bool
	list        []Finding
}

// structure checks the entries of a section without their code.
func structure(f *object.File, section *cfi.Section, options Options) []Finding {
	s := structurer{file: f, section: section, options: options, cies: map[*cfi.CIE]bool{}}
	for _, p := range f.Segments() {
		if p.Type != elf.PT_LOAD {
			continue
		}
		r := object.AddressRange{Low: p.Vaddr, High: p.Vaddr + p.Memsz}
		s.data = append(s.data, r)
		if p.Flags&elf.PF_X != 0 {
			s.code = append(s.code, r)
		}
	}
	if len(f.Segments()) == 0 { // an object file
		for _, section := range f.Sections() {
			if section.Flags&elf.SHF_ALLOC == 0 {
				continue
			}
			r := object.AddressRange{Low: section.Address, High: section.Address + section.Size}
			s.data = append(s.data, r)
			if section.Flags&elf.SHF_EXECINSTR != 0 {
				s.code = append(s.code, r)
			}
		}
	}
	s.entries()
	if section.Kind == cfi.EHFrame {
		s.header()
	}
	return s.list
}

func (s *structurer) add(kind Kind, f *cfi.FDE, address uint64, format string, args ...any) {
	if len(s.list) >= maxStructure {
		return
	}
	n := Finding{Kind: kind, Address: address, Last: address, Count: 1, Found: fmt.Sprintf(format, args...)}
	if f != nil {
		n.Function, n.FDE = f.Start, f.Offset
	}
	s.list = append(s.list, n)
}

// entries checks each entry, and that no two FDEs overlap.
func (s *structurer) entries() {
	type extent struct{ start, end, offset uint64 }
	var extents []extent
	terminator := uint64(0)
	terminated := false
	for e, err := range s.section.Entries() {
		at := s.section.Address + e.Offset
		switch {
		case err != nil:
			s.add(Malformed, nil, at, "%v", err)
		case e.Terminator():
			terminated, terminator = true, e.Offset
			continue
		case e.CIE != nil:
			s.cie(e.CIE)
		case e.FDE != nil:
			if s.options.Skip != nil && s.options.Skip(e.FDE.Start, e.FDE.End) {
				continue
			}
			s.fde(e.FDE)
			if e.FDE.End > e.FDE.Start && !s.discarded(e.FDE) {
				extents = append(extents, extent{e.FDE.Start, e.FDE.End, e.FDE.Offset})
			}
		}
		if terminated {
			s.add(EarlyEnd, nil, s.section.Address+terminator, "entries follow the terminator at offset %#x", terminator)
			terminated = false
		}
	}
	slices.SortFunc(extents, func(a, b extent) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(extents); i++ {
		if a, b := extents[i-1], extents[i]; b.start < a.end {
			s.add(Overlap, &cfi.FDE{Start: b.start, Offset: b.offset}, b.start,
				"the FDE at offset %#x for [%#x, %#x) overlaps that at %#x for [%#x, %#x)", b.offset, b.start, b.end, a.offset, a.start, a.end)
		}
	}
}

// discarded reports whether an FDE is that of a function that the linker has discarded: in
// .debug_frame such entries stay, with the start 0 or all ones.
func (s *structurer) discarded(f *cfi.FDE) bool {
	return f.Start == 0 || s.section.Kind == cfi.DebugFrame && f.Start+1 <= 1
}

func (s *structurer) cie(c *cfi.CIE) {
	if s.cies[c] {
		return
	}
	s.cies[c] = true
	if c.PersonalityEnc != cfi.EncOmit && c.Personality.Address != 0 && !contains(s.data, c.Personality.Address) {
		s.add(OutsideFile, nil, s.section.Address+c.Offset, "the personality routine of the CIE at offset %#x is at %#x", c.Offset, c.Personality.Address)
	}
}

func (s *structurer) fde(f *cfi.FDE) {
	if s.discarded(f) {
		return
	}
	if f.End > f.Start && !contains(s.code, f.Start, f.End-1) {
		s.add(OutsideCode, f, f.Start, "[%#x, %#x) of the FDE at offset %#x", f.Start, f.End, f.Offset)
	}
	if f.CIE.LSDAEncoding != cfi.EncOmit && f.LSDA.Address != 0 && !contains(s.data, f.LSDA.Address) {
		s.add(OutsideFile, f, f.Start, "the language-specific data area of the FDE at offset %#x is at %#x", f.Offset, f.LSDA.Address)
	}
	s.interpreter.Start(f)
	d := f.Decode()
	var i cfi.Instruction
	for s.interpreter.Err() == nil && d.Next(&i) {
		if !s.interpreter.Execute(f.CIE, &i) {
			break
		}
	}
	err := s.interpreter.Err()
	if err == nil {
		err = d.Err()
	}
	switch at := s.interpreter.Location(); {
	case err != nil:
		s.add(Malformed, f, f.Start, "%v", err)
	case at > f.End: // a row at the end is usual
		s.add(PastEnd, f, f.Start, "a row of the FDE at offset %#x starts at %#x, after %#x", f.Offset, at, f.End)
	}
}

// header compares .eh_frame_hdr with the section.
func (s *structurer) header() {
	data, address, ok := s.file.EHFrameHdr()
	if !ok {
		return
	}
	h, err := cfi.ParseHeader(data, address, s.file.Machine())
	if err != nil {
		s.add(WrongHeader, nil, address, "%v", err)
		return
	}
	for err := range h.Check(s.section) {
		s.add(WrongHeader, nil, address, "%v", err)
	}
}

// contains reports whether one of the ranges contains all addresses.
func contains(list []object.AddressRange, addresses ...uint64) bool {
	return slices.ContainsFunc(list, func(r object.AddressRange) bool {
		return !slices.ContainsFunc(addresses, func(a uint64) bool { return !r.Contains(a) })
	})
}
