// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"cmp"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/style"
)

// Function is an FDE with the name of its code.
type Function struct {
	FDE    *cfi.FDE
	Symbol string // as in the file, or ""
	Offset uint64 // of the FDE's code from the symbol's address, in bytes
	Region string // without a symbol: the section that starts with the code, or ""

	// CodeSection is the section index of the code in an object file in which sections
	// overlap; else 0.
	CodeSection int
}

// Name returns the printable name of the function: its demangled symbol, with an offset if
// the symbol starts earlier; else the section that starts with the function; else its address.
func (f *Function) Name() string {
	switch {
	case f.Symbol != "":
		name := printable.Text(style.Demangle(f.Symbol))
		if f.Offset != 0 {
			name += "+" + style.Hex(f.Offset)
		}
		return name
	case f.Region != "":
		return printable.Text(f.Region)
	}
	return style.Hex(f.FDE.Start)
}

func (l *Listing) function(e *listed, fde *cfi.FDE) Function {
	f := Function{FDE: fde}
	s := l.symbol(e)
	if int(e.symbol) < len(l.codes) {
		f.CodeSection = l.codes[e.symbol].Section
	}
	if name := l.matched[e.start]; name != "" {
		s.Name, s.Address = name, e.start
	}
	// An FDE that starts at a stub and is longer than it describes the whole procedure
	// linkage table.
	if s.Name != "" && !(s.Source == object.StubSymbols && e.end-e.start > s.Size) {
		f.Symbol, f.Offset = s.Name, e.start-s.Address
		return f
	}
	if f.CodeSection > 0 && f.CodeSection < len(l.sections) {
		section := &l.sections[f.CodeSection]
		f.Region = section.Name
		if e.start != section.Address {
			f.Region += "+" + style.Hex(e.start-section.Address)
		}
		return f
	}
	i, ok := slices.BinarySearchFunc(l.regions, e.start, func(r region, start uint64) int { return cmp.Compare(r.start, start) })
	if ok {
		f.Region = l.regions[i].name
	}
	return f
}

// executable is SHF_EXECINSTR.
const executable = 4

// codeRegions returns the sections of code by address. disjoint is false if they overlap, as
// in an object file, in which each starts at 0 and addresses are ambiguous.
func codeRegions(sections []object.Section) (regions []region, disjoint bool) {
	for i := range sections {
		if s := &sections[i]; s.Flags&executable != 0 && s.Size > 0 {
			regions = append(regions, region{s.Address, s.Address + s.Size, s.Name})
		}
	}
	slices.SortStableFunc(regions, func(a, b region) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(regions); i++ {
		if regions[i].start < regions[i-1].end {
			return nil, false
		}
	}
	return regions, true
}

// region is a section of code, which names code without a symbol.
type region struct {
	start, end uint64
	name       string
}
