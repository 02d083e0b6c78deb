// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
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
	notes       notes
}

// structure checks the entries of a section without their code.
func structure(f *object.File, section *cfi.Section, options Options) ([]Finding, notes) {
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
	return s.list, s.notes
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
	unused := make(map[uint64]bool) // CIEs, by offset
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
			unused[e.Offset] = true
		case e.FDE != nil:
			unused[e.FDE.CIE.Offset] = false
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
	for _, offset := range slices.Sorted(maps.Keys(unused)) {
		if unused[offset] {
			s.notes.add(UnusedCIE, s.section.Address+offset)
		}
	}
	s.end(terminated)
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
	for _, e := range []struct {
		what string
		cfi.Encoding
	}{{"functions", c.PointerEncoding}, {"the language-specific data areas", c.LSDAEncoding}, {"the personality routine", c.PersonalityEnc}} {
		if s.file.Type() == elf.ET_DYN && s.section.Kind == cfi.EHFrame && narrow(e.Encoding) {
			s.add(WrongEncoding, nil, s.section.Address+c.Offset, "the CIE at offset %#x encodes %s as %v in a file that can be loaded at any address", c.Offset, e.what, e.Encoding)
		}
	}
	switch {
	case c.CodeAlign == 0:
		s.add(Impossible, nil, s.section.Address+c.Offset, "the code alignment factor of the CIE at offset %#x is 0", c.Offset)
	case c.DataAlign == 0:
		s.add(Impossible, nil, s.section.Address+c.Offset, "the data alignment factor of the CIE at offset %#x is 0", c.Offset)
	case !s.exists(c.ReturnAddress):
		s.add(Impossible, nil, s.section.Address+c.Offset, "the return address of the CIE at offset %#x is in column %d", c.Offset, c.ReturnAddress)
	}
}

// narrow reports whether pointers in an encoding are addresses that have fewer bits than the
// machine's: no dynamic relocation fits them.
func narrow(e cfi.Encoding) bool {
	switch e &^ cfi.EncIndirect {
	case cfi.EncUdata2, cfi.EncUdata4, cfi.EncSdata2, cfi.EncSdata4:
		return true
	}
	return false
}

// exists reports whether the machine has a register with a column.
func (s *structurer) exists(column uint64) bool {
	return column < 32 || s.file.Machine().RegisterName(column) != fmt.Sprintf("r%d", column)
}

// impossible describes a value of the current row that no code of the machine can have; it
// returns "" if there is none.
func (s *structurer) impossible(f *cfi.FDE) string {
	m := lift.Of(s.file.Machine()).ABI()
	// The last row of Go's linker starts in the last instruction, and is that of none.
	if at := s.interpreter.Location(); at%uint64(m.MinSize) != 0 && at+uint64(m.MinSize) <= f.End {
		return fmt.Sprintf("a row starts at %#x, and instructions start at multiples of %d", at, m.MinSize)
	}
	row := s.interpreter.Row()
	if cfa := row.CFA; cfa.Kind == cfi.Register {
		switch {
		case m.Number(uint64(cfa.Register)) >= m.Registers || m.Vectors != 0 && m.Number(uint64(cfa.Register)) >= m.FirstVector:
			return fmt.Sprintf("the CFA is relative to %s", s.file.Machine().RegisterName(uint64(cfa.Register)))
		case int(cfa.Register) == m.SP && cfa.Offset < 0, cfa.Offset != int64(int32(cfa.Offset)):
			return fmt.Sprintf("the CFA is %s%+d", s.file.Machine().RegisterName(uint64(cfa.Register)), cfa.Offset)
		}
	}
	for i := range row.Registers {
		r := &row.Registers[i]
		switch {
		case !s.exists(uint64(r.Column)):
			return fmt.Sprintf("a rule for column %d", r.Column)
		case r.Rule.Kind == cfi.Register && !s.exists(uint64(r.Rule.Register)):
			return fmt.Sprintf("%s is in column %d", s.file.Machine().RegisterName(uint64(r.Column)), r.Rule.Register)
		case r.Rule.Kind == cfi.Offset && r.Rule.Offset != int64(int32(r.Rule.Offset)):
			return fmt.Sprintf("%s is at CFA%+d", s.file.Machine().RegisterName(uint64(r.Column)), r.Rule.Offset)
		}
	}
	return ""
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
	s.signal(f)
	s.interpreter.Start(f)
	d := f.Decode()
	var i cfi.Instruction
	remembered := 0
	wrong := ""
	for s.interpreter.Err() == nil && d.Next(&i) {
		switch i.Op {
		case cfi.CFARememberState:
			remembered++
		case cfi.CFARestoreState:
			remembered--
		}
		if !s.interpreter.Execute(f.CIE, &i) {
			break
		}
		if wrong == "" {
			wrong = s.impossible(f)
		}
	}
	if wrong != "" {
		if _, ok := s.file.GoFunctionAt(f.Start); ok {
			wrong = "" // the assembly of Go's runtime, whose tables the linker makes
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
	case wrong != "":
		s.add(Impossible, f, f.Start, "%s, by the FDE at offset %#x", wrong, f.Offset)
	case remembered > 0:
		s.notes.add(NotRestoredState, f.Start)
	}
}

const (
	maxTrampoline = 64 // bytes of a function that may be a signal trampoline
	maxBefore     = 4  // bytes before its code: unwinders search for the entry before the address
)

// signal compares the augmentation S with the code.
func (s *structurer) signal(f *cfi.FDE) {
	if f.End <= f.Start || !f.CIE.SignalFrame && f.End-f.Start > maxTrampoline {
		return
	}
	trampoline := false
	if f.End-f.Start <= maxTrampoline {
		var b [maxTrampoline]byte
		code := b[:f.End-f.Start]
		if s.file.ReadMemory(code, f.Start) != nil {
			return
		}
		m := s.file.Machine()
		for i := range m.SignalFrames {
			n := len(m.SignalFrames[i].Code)
			for before := 0; before <= maxBefore && before+n <= len(code); before++ {
				trampoline = trampoline || m.IsSignalFrame(&m.SignalFrames[i], code[before:before+n])
			}
		}
	}
	switch {
	case trampoline && !f.CIE.SignalFrame:
		s.add(WrongSignal, f, f.Start, "the CIE of the FDE at offset %#x lacks the augmentation S, but the code is a signal trampoline", f.Offset)
	case f.CIE.SignalFrame && !trampoline && s.called(f):
		s.add(WrongSignal, f, f.Start, "the CIE of the FDE at offset %#x has the augmentation S, but the rows are those of a function that is called", f.Offset)
	}
}

// called reports whether the rows of an FDE start as those of a function that a call enters, and
// then change.
func (s *structurer) called(f *cfi.FDE) bool {
	m := lift.Of(s.file.Machine()).ABI()
	n := 0
	for r := range s.interpreter.Rows(f) {
		rule := r.Register(f.CIE.ReturnAddress)
		atEntry := rule == cfi.Rule{Kind: cfi.Offset, Offset: -m.CFAOffset}
		if m.Link != lift.NoRegister {
			atEntry = rule.Kind == cfi.Unspecified || rule.Kind == cfi.SameValue
		}
		if n == 0 && (!atEntry || r.CFA != cfi.Rule{Kind: cfi.Register, Register: uint32(m.SP), Offset: m.CFAOffset}) {
			return false
		}
		n++
	}
	return n > 0
}

// end checks the end of the section. The linker adds the terminator to object files.
func (s *structurer) end(terminated bool) {
	if terminated || s.section.Kind != cfi.EHFrame || len(s.section.Data) == 0 || len(s.file.Segments()) == 0 {
		return
	}
	if _, _, listed := s.file.EHFrameHdr(); listed {
		s.notes.add(NoTerminator, s.section.Address)
		return
	}
	s.add(NoEnd, nil, s.section.Address, "no zero terminator follows the last entry, and no .eh_frame_hdr lists the entries")
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

// coverage finds executable code that no entry describes.
type coverage struct {
	file    *object.File
	memory  cfi.Memory
	machine lift.Machine
	startup []uint64 // functions that run before and after main
	notes   *notes
}

// uncovered notes the code of a file that no entry of its sections describes.
func (n *notes) uncovered(f *object.File, memory cfi.Memory, sections []*cfi.Section) {
	c := coverage{file: f, memory: memory, machine: lift.Of(f.Machine()), notes: n}
	var described []object.AddressRange
	for _, s := range sections {
		for _, r := range s.Index().Ranges() {
			described = append(described, object.AddressRange{Low: r.Start, High: r.End})
		}
	}
	slices.SortFunc(described, func(a, b object.AddressRange) int { return cmp.Compare(a.Low, b.Low) })
	c.readStartup()
	for _, s := range f.Sections() {
		// Linkers write .plt, and crti.o and crtn.o write .init and .fini.
		if s.Flags&elf.SHF_EXECINSTR == 0 || s.Type == elf.SHT_NOBITS || s.Name == ".init" || s.Name == ".fini" || strings.HasPrefix(s.Name, ".plt") {
			continue
		}
		at, end := s.Address, s.Address+s.Size
		first, _ := slices.BinarySearchFunc(described, at, func(r object.AddressRange, at uint64) int { return cmp.Compare(r.Low, at) })
		for first > 0 && described[first-1].High > at {
			first--
		}
		for _, r := range described[first:] {
			if r.Low >= end {
				break
			}
			if r.Low > at {
				c.gap(at, r.Low)
			}
			at = max(at, r.High)
		}
		c.gap(at, end)
	}
}

// readStartup finds the functions in .init_array and .fini_array, and those that .init calls:
// call_weak_fn of crti.o on arm64.
func (c *coverage) readStartup() {
	for _, s := range c.file.Sections() {
		if s.Name == ".init" {
			code := make([]byte, min(s.Size, maxStartup))
			if c.memory.ReadMemory(code, s.Address) == nil {
				c.machine.Calls(code, s.Address, func(_, target uint64) { c.startup = append(c.startup, target) })
			}
		}
		if s.Type != elf.SHT_INIT_ARRAY && s.Type != elf.SHT_FINI_ARRAY {
			continue
		}
		var word [8]byte
		for at := s.Address; at < s.Address+min(s.Size, maxStartup) && c.memory.ReadMemory(word[:], at) == nil; at += 8 {
			c.startup = append(c.startup, binary.LittleEndian.Uint64(word[:]))
		}
	}
}

const (
	maxStartup     = 1 << 12 // bytes of an array
	maxStartupCode = 1 << 9  // bytes of the code of crtbegin.o with those of its neighbours
)

// gap notes [at, end) unless it is padding or described elsewhere.
func (c *coverage) gap(at, end uint64) {
	for at < end {
		if g, ok := c.file.GoFunctionAt(at); ok && g.End > at {
			at = g.End // .gopclntab describes it
			continue
		}
		var code [16]byte
		b := code[:min(end-at, uint64(len(code)))]
		if c.memory.ReadMemory(b, at) != nil {
			return
		}
		i := lift.Instruction{Right: lift.NoRegister}
		_, ok := c.machine.Decode(b, at, &i, nil)
		unit := uint64(c.machine.ABI().MinSize)
		switch {
		case ok && i.Padding && i.Size > 0:
			at += uint64(i.Size)
			continue
		case uint64(len(b)) < unit, !slices.ContainsFunc(b[:unit], func(b byte) bool { return b != 0 }):
			at += unit
			continue
		case end-at <= maxStartupCode && slices.ContainsFunc(c.startup, func(a uint64) bool { return a >= at && a < end }):
			return // deregister_tm_clones to frame_dummy
		}
		c.notes.add(NoEntry, at)
		c.notes[NoEntry].Bytes += end - at
		return
	}
}
