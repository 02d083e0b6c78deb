// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/internal/errorlist"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack/generated"
)

// Source returns a source of generated code as a part. It must not be used until the part is
// reported. The machine is used if the source does not name one, and may be nil.
func Source(s *generated.Source, m *arch.Machine) *Part {
	g := &generatedCode{source: s}
	p := &Part{Name: s.Place, Key: s.Kind.String(), Generated: s.Kind, Machine: cmp.Or(s.Machine(), m), Code: g,
		check: g.check, functions: func() int { return len(g.list()) }}
	if s.Kind == generated.Jitdump {
		p.Key = filepath.Base(s.Place)
	}
	p.symbols = func(yield func(object.Symbol) bool) {
		for _, f := range g.list() {
			if !yield(object.Symbol{Name: f.Name, Address: f.Start, Size: f.Size}) {
				return
			}
		}
	}
	return p
}

// generatedCode is the code of one source.
type generatedCode struct {
	source    *generated.Source
	functions []generated.Function // by address
	listed    bool
}

// list returns the functions of the source that are executable. An engine describes its
// bytecode as functions too.
func (g *generatedCode) list() []generated.Function {
	if g.listed {
		return g.functions
	}
	g.listed = true
	for f := range g.source.Functions() {
		if f.Executable() && f.Size > 0 {
			g.functions = append(g.functions, f)
		}
	}
	slices.SortStableFunc(g.functions, func(a, b generated.Function) int { return cmp.Compare(a.Start, b.Start) })
	return g.functions
}

// at returns the function that contains an address, or nil.
func (g *generatedCode) at(address uint64) *generated.Function {
	list := g.list()
	n := sort.Search(len(list), func(i int) bool { return list[i].Start > address })
	if n == 0 || address-list[n-1].Start >= list[n-1].Size {
		return nil
	}
	return &list[n-1]
}

// ReadMemory implements cfi.Memory.
func (g *generatedCode) ReadMemory(p []byte, address uint64) error {
	f := g.at(address)
	if f == nil {
		return fmt.Errorf("no generated function contains %#x", address)
	}
	memory := f.Memory()
	if memory == nil {
		return errNoCode
	}
	return memory.ReadMemory(p, address)
}

var errNoCode = errors.New("the source has no code, and its target has no memory")

// Locate returns the source lines of an address.
func (g *generatedCode) Locate(address uint64) ([]object.Location, error) {
	if f := g.at(address); f != nil {
		return f.Locate(address)
	}
	return nil, nil
}

// check checks the tables of all functions. Several functions can share a symbol file.
func (g *generatedCode) check(options check.Options) (*check.Report, error) {
	var report check.Report
	var problems errorlist.List
	problems.Add(g.source.Err)
	seen := make(map[*byte]bool) // symbol files
	without := 0
	for i := range g.list() {
		f := &g.functions[i]
		if image := f.Image(); len(image) > 0 {
			if seen[&image[0]] {
				continue
			}
			seen[&image[0]] = true
		}
		sections, err := f.Frames()
		if err != nil {
			problems.Add(fmt.Errorf("%s at %#x: its unwind table: %w", f.Name, f.Start, err))
		}
		if len(sections) == 0 && err == nil {
			without++
		}
		memory := f.Memory()
		if memory == nil {
			problems.Add(fmt.Errorf("%s at %#x: %w", f.Name, f.Start, errNoCode))
			continue
		}
		code := check.Code{Memory: memory}
		if g.source.Kind == generated.GoModuleList {
			code.KeepsNone = func(uint64) bool { return true }
		}
		for _, section := range sections {
			r, err := check.Section(section, code, options)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", g.source.Place, err)
			}
			report.Findings = append(report.Findings, malformed(section)...)
			report.Findings = append(report.Findings, r.Findings...)
			report.Counters.Add(&r.Counters)
		}
	}
	for i := range report.Findings {
		if f := g.at(report.Findings[i].Function); f != nil && f.Start == report.Findings[i].Function {
			report.Findings[i].Name = f.Name
		}
	}
	if without > 0 && without < len(g.functions) {
		problems.Add(fmt.Errorf("%s: %d of %d functions have no unwind table", g.source.Place, without, len(g.functions)))
	}
	return &report, problems.Err()
}

// maxMalformed bounds the malformed entries of one section that are reported.
const maxMalformed = 256

// malformed returns a finding for each entry of a section that cannot be decoded.
func malformed(s *cfi.Section) (list []check.Finding) {
	for e, err := range s.Entries() {
		if err != nil && len(list) < maxMalformed {
			at := s.Address + e.Offset
			list = append(list, check.Finding{Kind: check.Malformed, Address: at, Last: at, Count: 1, FDE: e.Offset, Found: err.Error()})
		}
	}
	return list
}
