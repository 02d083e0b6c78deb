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
	"strings"

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
	return sourcePart(&generatedCode{source: s}, m)
}

func sourcePart(g *generatedCode, m *arch.Machine) *Part {
	s := g.source
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
	described uint64 // bytes of code that the tables of one check describe

	copies map[uint64][]byte // code by start, nil if it is in its source
}

func byStart(f generated.Function, start uint64) int { return cmp.Compare(f.Start, start) }

// Limits of one source. A hostile target describes the same code many times.
const (
	maxDescribed = 256 << 20 // bytes of code
	maxFindings  = 1 << 14
)

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
	if g.copies != nil {
		if code := g.copies[f.Start][address-f.Start:]; len(p) <= len(code) {
			copy(p, code)
			return nil
		}
		return errNoCode
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

// check checks the tables of all functions. A register that most functions change without saving
// it belongs to the runtime, as a stack pointer of its own, and is not checked.
func (g *generatedCode) check(options check.Options) (*check.Report, error) {
	r, err := g.checkOnce(options)
	if r == nil {
		return r, err
	}
	if own := ownRegisters(r); len(own) > 0 {
		options.Scratch = append(own, options.Scratch...)
		return g.checkOnce(options)
	}
	return r, err
}

// ownRegisters returns the registers that most functions change without saving them.
func ownRegisters(r *check.Report) (list []string) {
	lost := make(map[string]map[uint64]bool)
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Kind != check.WrongRegister || !strings.HasPrefix(f.Fix, ".cfi_undefined ") {
			continue
		}
		if lost[f.Register] == nil {
			lost[f.Register] = make(map[uint64]bool)
		}
		lost[f.Register][f.Function] = true
	}
	for name, functions := range lost {
		if n := len(functions); n > 1 && 2*n >= r.Functions {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// checkOnce checks the tables of all functions. Several functions can share a symbol file.
func (g *generatedCode) checkOnce(options check.Options) (*check.Report, error) {
	var report check.Report
	var problems errorlist.List
	problems.Add(g.source.Err)
	seen := make(map[*byte]bool) // symbol files
	without := 0
	g.described = 0
	for i := range g.list() {
		f := &g.functions[i]
		if image := f.Image(); len(image) > 0 {
			if seen[&image[0]] {
				continue
			}
			seen[&image[0]] = true
		}
		described := false
		for sections, err := range f.AllFrames() {
			if err != nil {
				problems.Add(fmt.Errorf("%s at %#x: its unwind table: %w", f.Name, f.Start, err))
			}
			described = described || err != nil || len(sections) > 0
			if err := g.checkFunction(f, sections, options, &report); err != nil {
				problems.Add(err)
				switch {
				case errors.Is(err, errTooMuch):
					return g.named(&report), problems.Err()
				case errors.Is(err, errNoCode):
				default:
					return nil, problems.Err()
				}
			}
		}
		if !described {
			without++
		}
	}
	switch {
	case without == 0:
	case without == len(g.functions):
		problems.Add(fmt.Errorf("%s: none of its functions (%d) has an unwind table", g.source.Place, without))
	default:
		problems.Add(fmt.Errorf("%s: %d of %d functions have no unwind table", g.source.Place, without, len(g.functions)))
	}
	return g.named(&report), problems.Err()
}

// named sets the names of the functions in a report.
func (g *generatedCode) named(r *check.Report) *check.Report {
	for i := range r.Findings {
		if f := g.at(r.Findings[i].Function); f != nil && f.Start == r.Findings[i].Function {
			r.Findings[i].Name = f.Name
		}
	}
	return r
}

var errTooMuch = fmt.Errorf("the rest is not checked: more than %d bytes of code, or more than %d findings", maxDescribed, maxFindings)

// checkFunction adds the results for the tables of a function or symbol file to a report.
func (g *generatedCode) checkFunction(f *generated.Function, sections []*cfi.Section, options check.Options, report *check.Report) error {
	memory := f.Memory()
	if g.copies != nil {
		memory = g
	}
	if memory == nil {
		return fmt.Errorf("%s at %#x: %w", f.Name, f.Start, errNoCode)
	}
	code := check.Code{Memory: memory}
	if g.source.Kind == generated.GoModuleList {
		code.KeepsNone = func(uint64) bool { return true }
	}
	for _, section := range sections {
		for _, r := range section.Index().Ranges() {
			g.described += r.End - r.Start
			if g.described > maxDescribed || r.End-r.Start > maxDescribed {
				return fmt.Errorf("%s: %w", g.source.Place, errTooMuch)
			}
		}
		if len(report.Findings) > maxFindings {
			return fmt.Errorf("%s: %w", g.source.Place, errTooMuch)
		}
		r, err := check.Section(section, code, options)
		if err != nil {
			return fmt.Errorf("%s: %w", g.source.Place, err)
		}
		report.Findings = append(report.Findings, malformed(section)...)
		report.Findings = append(report.Findings, r.Findings...)
		report.Counters.Add(&r.Counters)
	}
	return nil
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
