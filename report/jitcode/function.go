// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jitcode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/table"
	"github.com/clewdev/clew/stack/generated"
)

// FunctionSchema describes the output of Function.JSON.
const FunctionSchema = `One object for each function:
  {"function", "start", "end", "source", "place", "rows": [as for 'clew table --json'],
   "code": [{"address", "size", "text", "file", "line"}], "notes"}
"rows" is absent without an unwind table, and "code" if the bytes are unknown.`

// Function is a generated function and the source that describes it.
type Function struct {
	Function *generated.Function
	Source   *generated.Source
	Machine  *arch.Machine        // of its code; nil if it is unknown
	Names    []generated.Function // possible targets of its branches, by address

	code    []byte
	partial bool
}

// Complete reports whether Text or JSON, which must be called before, printed the function
// completely.
func (g *Function) Complete() bool { return !g.partial }

// contents are the parts of a function that Text and JSON print.
type contents struct {
	listing *table.Listing // nil without an unwind table
	explain *table.Explanation
	lines   []table.CodeLine
	notes   []string
}

func (g *Function) read() (s contents) {
	f := g.Function
	fail := func(err error) {
		g.partial = true
		s.notes = append(s.notes, err.Error())
	}
	var err error
	if g.code, err = f.Code(); err != nil {
		fail(fmt.Errorf("its code cannot be printed: %w", err))
	}
	sections, err := f.Frames()
	if err != nil {
		fail(fmt.Errorf("its unwind table cannot be read: %w", err))
	}
	function := table.Function{Symbol: f.Name}
	if !f.Executable() {
		s.notes = append(s.notes, "its memory is not executable: it is bytecode, or was removed")
		g.code = nil
	}
	if len(sections) > 0 {
		list, err := table.List(sections, g, table.Selection{Addresses: []uint64{f.Start}})
		if err != nil {
			fail(err)
		}
		if list != nil && list.Functions() > 0 {
			s.listing = list
			for covering := range list.Covering(f.Start) {
				function = covering
				break
			}
		}
	}
	if function.FDE != nil {
		if s.explain, err = table.Explain(function, f.Start); err != nil {
			fail(err)
		}
	} else if g.Machine != nil {
		s.notes = append(s.notes, "it has no unwind table")
		function.FDE = &cfi.FDE{Start: f.Start, End: f.Start + f.Size, CIE: &cfi.CIE{Section: &cfi.Section{Machine: g.Machine}}}
	}
	if g.code == nil || function.FDE == nil {
		return s
	}
	lines, note, err := table.Disassemble(&function, g)
	if err != nil {
		fail(err)
	} else if note != "" {
		s.notes = append(s.notes, note)
	}
	s.lines = lines
	return s
}

// Text writes the function's table, and its instructions with rows and source lines.
func (g *Function) Text(w io.Writer, p style.Palette, text *style.SourceFiles) error {
	s, f := g.read(), g.Function
	fmt.Fprintf(w, "%s  %#x-%#x  by the %v, %s\n", p.Name.Text(printable.Text(style.Demangle(f.Name))), f.Start, f.Start+f.Size,
		g.Source.Kind, printable.Text(g.Source.Place))
	for _, note := range s.notes {
		fmt.Fprintf(w, "note: %s\n", printable.Text(note))
	}
	if s.listing != nil {
		fmt.Fprintln(w)
		if _, err := s.listing.Write(w, func() table.Printer { return &table.Text{Palette: p} }, nil); err != nil {
			return err
		}
	}
	if len(s.lines) == 0 {
		return nil
	}
	if s.listing == nil {
		fmt.Fprintln(w)
	}
	if s.explain != nil {
		s.explain.Address = 0 // marks no instruction
		return s.explain.Source(w, p, s.lines, text)
	}
	file, number := "", 0
	for i := range s.lines {
		l := &s.lines[i]
		if l.Line > 0 && (l.File != file || l.Line != number) {
			file, number = l.File, l.Line
			fmt.Fprintln(w, p.Source.Text(fmt.Sprintf("%s:%d  %s", printable.Text(filepath.Base(file)), number, text.Line(file, number))))
		}
		if _, err := fmt.Fprintf(w, "  %#x  %s  %s\n", l.Address, p.Dim.Text(fmt.Sprintf("+%#-5x", l.Address-f.Start)), l.Text); err != nil {
			return err
		}
	}
	return nil
}

type jsonGeneratedFunction struct {
	Function string              `json:"function"`
	Start    string              `json:"start"`
	End      string              `json:"end"`
	Source   string              `json:"source"`
	Place    string              `json:"place"`
	Rows     []json.RawMessage   `json:"rows,omitempty"`
	Code     []jsonGeneratedLine `json:"code,omitempty"`
	Notes    []string            `json:"notes,omitempty"`
}

type jsonGeneratedLine struct {
	Address string `json:"address"`
	Size    int    `json:"size"`
	Text    string `json:"text"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// JSON writes one object on one line, as FunctionSchema describes.
func (g *Function) JSON(w io.Writer) error {
	s, f := g.read(), g.Function
	out := jsonGeneratedFunction{Function: style.Demangle(f.Name), Start: style.Hex(f.Start), End: style.Hex(f.Start + f.Size), Source: g.Source.Kind.String(), Place: g.Source.Place, Notes: s.notes}
	if s.listing != nil {
		var rows bytes.Buffer
		if _, err := s.listing.Write(&rows, func() table.Printer { return &table.JSON{} }, nil); err != nil {
			return err
		}
		for row := range bytes.Lines(rows.Bytes()) {
			out.Rows = append(out.Rows, json.RawMessage(row))
		}
	}
	for i := range s.lines {
		l := &s.lines[i]
		out.Code = append(out.Code, jsonGeneratedLine{style.Hex(l.Address), l.Size, l.Text, l.File, l.Line})
	}
	return printable.EncodeJSON(w, &out)
}

// at returns the symbol of the function at an address.
func (g *Function) at(address uint64) (s object.Symbol) {
	i := sort.Search(len(g.Names), func(i int) bool { return g.Names[i].Start > address }) - 1
	for n := 0; i >= 0 && n < 16; i, n = i-1, n+1 {
		if f := &g.Names[i]; address-f.Start < f.Size {
			return object.Symbol{Name: f.Name, Address: f.Start, Size: f.Size, Source: object.StaticSymbols}
		}
	}
	if f := g.Function; address-f.Start < f.Size {
		return object.Symbol{Name: f.Name, Address: f.Start, Size: f.Size, Source: object.StaticSymbols}
	}
	return s
}

// FindSymbols implements [table.Names].
func (g *Function) FindSymbols(addresses []uint64) ([]object.Symbol, error) {
	symbols := make([]object.Symbol, len(addresses))
	for i, a := range addresses {
		symbols[i] = g.at(a)
	}
	return symbols, nil
}

// FindCode implements [table.Names], for files with overlapping sections.
func (g *Function) FindCode(_ *cfi.Section, _, addresses []uint64) ([]object.Code, error) {
	code := make([]object.Code, len(addresses))
	for i, a := range addresses {
		code[i].Symbol = g.at(a)
	}
	return code, nil
}

// Symbols implements [table.Names].
func (g *Function) Symbols() iter.Seq[object.Symbol] {
	return func(yield func(object.Symbol) bool) { yield(g.at(g.Function.Start)) }
}

// Sections implements [table.Names].
func (g *Function) Sections() []object.Section { return nil }

// SectionData implements [table.CodeFile].
func (g *Function) SectionData(int) ([]byte, error) {
	return nil, errors.New("generated code has no sections")
}

// ReadMemory implements [table.CodeFile].
func (g *Function) ReadMemory(p []byte, address uint64) error {
	if at := address - g.Function.Start; at < uint64(len(g.code)) && copy(p, g.code[at:]) == len(p) {
		return nil
	}
	return fmt.Errorf("%#x is outside of the function", address)
}

// Locate implements [table.CodeFile].
func (g *Function) Locate(address uint64) ([]object.Location, error) {
	return g.Function.Locate(address)
}

// SourcedFunction is a function and the source that describes it.
type SourcedFunction struct {
	generated.Function
	Source *generated.Source
}

// Match returns the functions that cover an address or match a name, in ascending order. It
// tries a name as a pattern ([style.NewPattern]), then as a word in names, then as a part of
// names. If some of the functions with a name are executable, it omits bytecode. If sources
// describe several functions at an address, it returns the first with an unwind table, else
// the first.
func Match(functions []SourcedFunction, place string, address uint64, isAddress bool) (found []SourcedFunction) {
	if isAddress {
		found = matching(functions, func(f *SourcedFunction) bool { return address-f.Start < f.Size || address == f.Start })
	} else {
		for _, match := range nameMatches(place) {
			if found = matching(functions, func(f *SourcedFunction) bool { return match(f.Name) }); len(found) > 0 {
				break
			}
		}
		if executable := matching(found, func(f *SourcedFunction) bool { return f.Executable() }); len(executable) > 0 {
			found = executable
		}
	}
	slices.SortStableFunc(found, func(a, b SourcedFunction) int { return cmp.Compare(a.Start, b.Start) })
	var distinct []SourcedFunction
	for _, f := range found {
		switch last := len(distinct) - 1; {
		case last < 0 || distinct[last].Start != f.Start:
			distinct = append(distinct, f)
		case !distinct[last].Unwinds() && f.Unwinds():
			distinct[last] = f
		}
	}
	return distinct
}

func matching(functions []SourcedFunction, match func(f *SourcedFunction) bool) (found []SourcedFunction) {
	for i := range functions {
		if match(&functions[i]) {
			found = append(found, functions[i])
		}
	}
	return found
}

// nameMatches returns the ways in which a place can match names, the strictest first.
func nameMatches(place string) []func(name string) bool {
	return []func(name string) bool{
		style.NewPattern(place).Match,
		func(name string) bool { return containsWord(name, place) },
		func(name string) bool { return strings.Contains(name, place) },
	}
}

// containsWord reports whether a name contains a part that does not belong to a longer word or
// to the name of a file, as in V8's names "JS:^spin /src/spin.js:3:14".
func containsWord(name, part string) bool {
	for from := 0; ; from++ {
		i := strings.Index(name[from:], part)
		if i < 0 || part == "" {
			return false
		}
		from += i
		if end := from + len(part); (from == 0 || !inWord(name[from-1])) && (end == len(name) || !inWord(name[end])) {
			return true
		}
	}
}

func inWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c >= 0x80 || strings.IndexByte("_./-", c) >= 0
}
