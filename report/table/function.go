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

// Function is an FDE and what its code is called.
type Function struct {
	FDE    *cfi.FDE
	Symbol string // as the file has it; "" where there is none
	Offset uint64 // of the FDE's code from the symbol's address, bytes
	Region string // the section that starts where the code does, where there is no symbol; else ""

	// CodeSection is the index of the section of the code in an object file,
	// whose sections may all start at one address; else 0.
	CodeSection int
}

// Name returns what to call the function: its symbol, demangled, with the
// offset where the symbol starts before it; else the section that it is the
// start of, else its address.
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
	if name := l.chosen[e.start]; name != "" {
		s.Name, s.Address = name, e.start
	}
	// An FDE that starts at a stub and goes on after it is that of the whole
	// procedure linkage table.
	if s.Name != "" && !(s.Source == object.StubSymbols && e.end-e.start > s.Size) {
		f.Symbol, f.Offset = s.Name, e.start-s.Address
		return f
	}
	if f.CodeSection > 0 && f.CodeSection < len(l.titles) {
		f.Region = l.titles[f.CodeSection].Name
		if e.start != l.titles[f.CodeSection].Address {
			f.Region += "+" + style.Hex(e.start-l.titles[f.CodeSection].Address)
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

// codeRegions returns the sections of code by address, and false where they
// overlap: in an object file each starts at 0, so that addresses name nothing.
func codeRegions(sections []object.Section) (regions []region, apart bool) {
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

// region is a section of code, to name what no symbol is for.
type region struct {
	start, end uint64
	name       string
}
