// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/object"
)

// pieces makes the tables of functions with the cold parts and landing pads that are known.
type pieces struct {
	symbols     []object.Symbol
	synthesizer *check.Synthesizer
	described   func(address uint64) *cfi.FDE
	parts       map[int][]int            // by index of a function in symbols: its cold parts
	parent      map[int]int              // by index of a cold part: its function
	made        map[int]*check.Synthesis // tables of functions with cold parts, and of these
}

// newPieces finds the functions of cold parts by their names. A name that several functions have says
// nothing.
func newPieces(symbols []object.Symbol, synthesizer *check.Synthesizer, described func(uint64) *cfi.FDE) *pieces {
	p := &pieces{symbols: symbols, synthesizer: synthesizer, described: described,
		parts: make(map[int][]int), parent: make(map[int]int), made: make(map[int]*check.Synthesis)}
	const several = -1
	named := make(map[string]int) // functions with cold parts
	for _, s := range symbols {
		if name, ok := partOf(s.Name); ok {
			named[name] = several - 1 // none
		}
	}
	for i, s := range symbols {
		switch n, ok := named[s.Name]; {
		case ok && n < several:
			named[s.Name] = i
		case ok:
			named[s.Name] = several
		}
	}
	for i, s := range symbols {
		if name, ok := partOf(s.Name); ok && named[name] >= 0 {
			p.parts[named[name]] = append(p.parts[named[name]], i)
			p.parent[i] = named[name]
		}
	}
	return p
}

// partOf returns the name of the function that a block with a symbol was moved out of, by gcc or LLVM. Only
// the function leads there.
func partOf(symbol string) (function string, ok bool) {
	name, suffix, found := strings.Cut(symbol, ".cold")
	return name, found && strings.Trim(suffix, ".0123456789") == ""
}

// synthesize returns the table of the function or cold part with an index in symbols.
func (p *pieces) synthesize(i int) *check.Synthesis {
	function := i
	if _, ok := partOf(p.symbols[i].Name); ok {
		if function, ok = p.parent[i]; !ok {
			return undecided(p.symbols[i].Size, check.UnknownEntry)
		}
	}
	if made := p.made[i]; made != nil {
		return made
	}
	s := &p.symbols[function]
	known := check.Pieces{Landings: p.landings(s)}
	for _, k := range p.parts[function] {
		known.Landings = append(known.Landings, p.landings(&p.symbols[k])...)
		known.Cold = append(known.Cold, check.Range{Start: p.symbols[k].Address, End: p.symbols[k].Address + p.symbols[k].Size})
	}
	list, err := p.synthesizer.Pieces(s.Address, s.Size, known)
	if err != nil {
		return undecided(p.symbols[i].Size, check.NoCode)
	}
	if len(list) == 1 {
		return list[0]
	}
	p.made[function] = list[0]
	for n, k := range p.parts[function] {
		made := list[n+1]
		if made.Unwind == nil && made.Gaps[0].Reason == check.Unreached {
			made = undecided(p.symbols[k].Size, check.UnknownEntry) // the function does not lead there
		}
		p.made[k] = made
	}
	return p.made[i]
}

// landings returns the landing pads of a function with an FDE.
func (p *pieces) landings(s *object.Symbol) []check.Landing {
	if fde := p.described(s.Address); fde != nil && fde.Start == s.Address {
		return p.synthesizer.Landings(fde)
	}
	return nil
}

func undecided(size uint64, why check.Reason) *check.Synthesis {
	return &check.Synthesis{Instructions: 1, Undecided: 1, Gaps: []check.Gap{{End: size, Reason: why}}}
}
