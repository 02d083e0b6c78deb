// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"cmp"
	"debug/elf"
	"io"
	"slices"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/object/amend"
)

// Synthesized is a function with the unwind table that was made from its code.
type Synthesized struct {
	Name  string // linkage name; "" for code without symbols
	Start uint64 // address
	Size  uint64 // bytes

	// Section is the index of the section that contains the code in the section table of the file,
	// and Offset the function's offset in it, in bytes. Both are 0 for code without a file.
	Section int
	Offset  uint64
	// Described says that the file has a table for the function.
	Described bool
	*check.Synthesis
}

// Tables are unwind tables that were made from code.
type Tables struct {
	Functions []Synthesized // in ascending order of Start
	// Section contains the tables of the functions of which something is decided.
	Section *cfi.Section
	// File contains the functions at their addresses: for a relocatable file a copy with
	// addresses. It is nil for code without a file.
	File *object.File
}

// Synthesize makes the unwind tables of functions of a part that is a file: of those whose symbol
// choose selects, or of those without a table if choose is nil. Symbols without the type of a function
// must be selected by choose. A symbol without a size extends to the next one. The error wraps
// check.ErrMachine or object.ErrFault.
func (p *Part) Synthesize(choose func(symbol string) bool) (t *Tables, err error) {
	err = object.Guard(func() error {
		t, err = p.synthesize(choose)
		return err
	})
	return t, err
}

func (p *Part) synthesize(choose func(symbol string) bool) (*Tables, error) {
	symbols := functionSymbols(p.file)
	ranges := make([]check.Range, len(symbols))
	for i, s := range symbols {
		ranges[i] = check.Range{Start: s.Address, End: s.Address + s.Size}
	}
	synthesizer, err := check.NewFileSynthesizer(p.file, ranges, p.imports)
	if err != nil {
		return nil, err
	}
	described, err := describedBy(p.file)
	if err != nil {
		return nil, err
	}
	t := &Tables{File: p.file}
	sections := p.file.Sections()
	pieces := newPieces(symbols, synthesizer, described)
	for i, s := range symbols {
		has := described(s.Address) != nil
		if choose != nil && !choose(s.Name) || choose == nil && (has || s.Type != elf.STT_FUNC) {
			continue
		}
		f := Synthesized{Name: s.Name, Start: s.Address, Size: s.Size, Section: s.Section, Offset: s.Address - sections[s.Section].Address, Described: has}
		f.Synthesis = pieces.synthesize(i)
		t.Functions = append(t.Functions, f)
	}
	return t, t.encode(p.file.Machine(), sectionAddress(p.file))
}

// Amend writes a copy of f, the file of the part that the tables are for, and adds the tables of
// those functions that have none in it. The error is that of [amend.Write].
func (t *Tables) Amend(w io.Writer, f *object.File) error {
	var functions []amend.Function
	for i := range t.Functions {
		s := &t.Functions[i]
		if s.Unwind == nil || s.Described {
			continue
		}
		address := s.Start
		if f.Type() == elf.ET_REL {
			address = s.Offset
		}
		functions = append(functions, amend.Function{Section: s.Section, Address: address, Size: s.Size, Unwind: s.Unwind})
	}
	return amend.Write(w, f, functions)
}

// SynthesizeCode makes the unwind table of a function from its bytes, at address 0. The error wraps
// check.ErrMachine or check.ErrCode.
func SynthesizeCode(code []byte, m *arch.Machine) (*Tables, error) {
	s, err := check.Synthesize(code, m)
	if err != nil {
		return nil, err
	}
	size := uint64(len(code))
	t := &Tables{Functions: []Synthesized{{Size: size, Synthesis: s}}}
	return t, t.encode(m, (size+7)&^7)
}

// encode writes the section.
func (t *Tables) encode(m *arch.Machine, address uint64) error {
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: m, Address: address}
	for _, f := range t.Functions {
		if f.Unwind == nil {
			continue
		}
		if err := e.Program(f.Unwind, f.Start, f.Size); err != nil {
			return err
		}
	}
	t.Section = &cfi.Section{Name: ".eh_frame", Data: e.Data, Address: address, Machine: m, Kind: cfi.EHFrame}
	return nil
}

// functionSymbols returns the functions of a file by address, one for each address. Symbols of
// assembly language can lack a type and a size. A function without a size ends at the next symbol, or
// with its section.
func functionSymbols(f *object.File) (list []object.Symbol) {
	sections := f.Sections()
	for s := range f.Symbols() {
		if s.Section >= len(sections) || sections[s.Section].Flags&elf.SHF_EXECINSTR == 0 || s.Address+s.Size < s.Address {
			continue
		}
		if s.Type == elf.STT_FUNC || s.Type == elf.STT_NOTYPE && s.Binding != elf.STB_LOCAL {
			list = append(list, s)
		}
	}
	// Of the symbols at an address, a function with a size comes first.
	last := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b object.Symbol) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), last(a.Size == 0)-last(b.Size == 0), last(a.Type != elf.STT_FUNC)-last(b.Type != elf.STT_FUNC))
	})
	list = slices.CompactFunc(list, func(a, b object.Symbol) bool { return a.Address == b.Address })
	end := uint64(0) // of the functions with a size so far
	kept := list[:0]
	for i, s := range list {
		section := &sections[s.Section]
		switch {
		case s.Size > 0:
			end = max(end, s.Address+s.Size)
		case s.Address < end: // a label in a function
			continue
		default:
			next := section.Address + section.Size
			if i+1 < len(list) {
				next = min(next, list[i+1].Address)
			}
			if next <= s.Address {
				continue
			}
			s.Size = next - s.Address
		}
		kept = append(kept, s)
	}
	return kept
}

// describedBy returns a function that returns the FDE in a file that describes an address, nil if none
// does. It is valid until the next call.
func describedBy(f *object.File) (func(address uint64) *cfi.FDE, error) {
	type described struct {
		cfi.IndexRange
		section *cfi.Section
	}
	var ranges []described
	for _, open := range []func() (*cfi.Section, error){f.EHFrame, f.DebugFrame} {
		section, err := open()
		if err != nil {
			return nil, err
		}
		if section != nil {
			for _, r := range section.Index().Ranges() {
				ranges = append(ranges, described{r, section})
			}
		}
	}
	// At the same address, .eh_frame comes last: it names language-specific data areas.
	slices.Reverse(ranges)
	slices.SortStableFunc(ranges, func(a, b described) int { return cmp.Compare(a.Start, b.Start) })
	var fde cfi.FDE
	return func(address uint64) *cfi.FDE {
		n, _ := slices.BinarySearchFunc(ranges, address, func(r described, at uint64) int {
			if r.Start <= at {
				return -1
			}
			return 1
		})
		if n == 0 || address >= max(ranges[n-1].End, ranges[n-1].Start+1) || ranges[n-1].section.FDEAt(ranges[n-1].FDE, &fde) != nil {
			return nil
		}
		return &fde
	}, nil
}

// sectionAddress returns an address after those of the sections of a file.
func sectionAddress(f *object.File) (address uint64) {
	for _, s := range f.Sections() {
		if s.Flags&elf.SHF_ALLOC != 0 {
			address = max(address, s.Address+s.Size)
		}
	}
	return (address + 7) &^ 7
}
