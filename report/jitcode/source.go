// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jitcode

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack/generated"
)

// Schema describes the output of Sources.JSON.
const Schema = `One object:
  {"pid", "command", "file", "core", "sources": [{"source", "place", "entries", "functions",
   "code_bytes", "not_executable", "no_unwind_functions", "no_unwind_bytes", "error", "note"}],
   "memory": [{"start", "end", "path", "functions", "covered_bytes"}], "notes"}
Addresses are strings ("0x7f3c00001139"). "entries" counts the symbol files of a list
(the modules of Go's list), the records of a jitdump, or the lines of a perf map.
"not_executable" counts functions that are bytecode; the other numbers leave them out.
"memory" is executable memory outside of object files.`

// Sources describes the code that a target generated.
type Sources struct {
	PID     int    `json:"pid,omitempty"`
	Command string `json:"command,omitempty"`
	File    string `json:"file,omitempty"` // instead of a process or core

	Sources []Source `json:"sources"`
	Memory  []Memory `json:"memory,omitempty"`
	Core    string   `json:"core,omitempty"` // its path
	Notes   []string `json:"notes,omitempty"`
}

// Source counts the functions of one source.
type Source struct {
	Source            string `json:"source"` // "perf map"
	Place             string `json:"place"`
	Entries           int    `json:"entries"`
	Functions         int    `json:"functions"`
	CodeBytes         uint64 `json:"code_bytes"`
	NotExecutable     int    `json:"not_executable"`      // functions outside of executable memory, bytecode; the other numbers exclude them
	NoUnwindFunctions int    `json:"no_unwind_functions"` // without an unwind table
	NoUnwindBytes     uint64 `json:"no_unwind_bytes"`
	Error             string `json:"error,omitempty"`
	Note              string `json:"note,omitempty"` // on entries that are skipped but not malformed

	kind generated.Kind
}

// Memory is a range of executable memory without an object file.
type Memory struct {
	Start     string `json:"start"`
	End       string `json:"end"`
	Path      string `json:"path,omitempty"` // "" for anonymous memory
	Functions int    `json:"functions"`      // that start in it, of all sources
	Covered   uint64 `json:"covered_bytes"`  // by functions of any source

	size uint64
}

// NewSources counts the functions of the sources, and how much of each range of memory they
// cover.
func NewSources(sources []*generated.Source, memory []snapshot.Mapping) *Sources {
	g := &Sources{Sources: make([]Source, len(sources))}
	type piece struct{ start, end uint64 }
	var pieces []piece
	for i, s := range sources {
		out := &g.Sources[i]
		*out = Source{Source: s.Kind.String(), Place: s.Place, Entries: s.Entries, Note: s.Note, kind: s.Kind}
		if s.Err != nil {
			out.Error = s.Err.Error()
		}
		pieces = slices.Grow(pieces, s.Entries) // about the final number; growing in steps would take twice as much memory
		for f := range s.Functions() {
			if !f.Executable() {
				out.NotExecutable++
				continue
			}
			out.Functions++
			out.CodeBytes += f.Size
			if !f.Unwinds() {
				out.NoUnwindFunctions++
				out.NoUnwindBytes += f.Size
			}
			if end := f.Start + f.Size; end >= f.Start {
				pieces = append(pieces, piece{f.Start, end})
			}
		}
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	pieces = slices.Compact(pieces) // a function that two sources describe counts once
	g.Memory = make([]Memory, 0, len(memory))
	at, reached := 0, uint64(0) // index of the next piece, end of the previous ones
	for i := range memory {
		m := &memory[i]
		out := Memory{Start: style.Hex(m.Start), End: style.Hex(m.End), Path: m.Path, size: m.End - m.Start}
		reached = max(reached, m.Start)
		// A function can start before the mapping.
		for ; at < len(pieces) && pieces[at].start < m.End; at++ {
			p := pieces[at]
			if p.start >= m.Start {
				out.Functions++
			}
			start, end := max(p.start, reached), min(p.end, m.End)
			if start < end {
				out.Covered += end - start
				reached = end
			}
		}
		g.Memory = append(g.Memory, out)
	}
	return g
}

// Complete reports whether there is a source, and no source has errors.
func (g *Sources) Complete() bool {
	return len(g.Sources) > 0 && len(g.Notes) == 0 && !slices.ContainsFunc(g.Sources, func(s Source) bool { return s.Error != "" })
}

// JSON writes one object on one line, as Schema describes.
func (g *Sources) JSON(w io.Writer) error {
	return printable.EncodeJSON(w, g)
}

// Text writes the sources and the memory for people.
func (g *Sources) Text(w io.Writer, p style.Palette) error {
	b := bufio.NewWriter(w)
	if g.File != "" {
		fmt.Fprintln(b, p.Name.Text(printable.Text(g.File)))
	} else {
		if g.Core != "" {
			fmt.Fprint(b, "core of ")
		}
		if g.Core != "" && g.PID == 0 { // truncated before its notes
			fmt.Fprint(b, "an unknown process")
		} else {
			fmt.Fprintf(b, "process %d", g.PID)
		}
		if g.Command != "" {
			fmt.Fprint(b, " ", p.Name.Text(printable.Text(g.Command)))
		}
		fmt.Fprintln(b)
	}
	switch {
	case len(g.Sources) > 0:
	case len(g.Notes) > 0:
		fmt.Fprintln(b, "\nno Go module list, GDB JIT list, jitdump, dyn-info list or perf map in the readable parts")
	default:
		fmt.Fprintln(b, "\nno Go module list, GDB JIT list, jitdump, dyn-info list or perf map")
	}
	for i := range g.Sources {
		s := &g.Sources[i]
		fmt.Fprintf(b, "\n%s, %s\n", p.Name.Text(s.Source), printable.Text(s.Place))
		if s.Functions > 0 || s.Error == "" {
			fmt.Fprintf(b, "  %s, %s of %s bytes", style.Count(s.Entries, s.kind.Entry()), style.Count(s.Functions, "function"), style.Grouped(s.CodeBytes))
			switch {
			case s.Functions == 0:
			case s.NoUnwindFunctions == 0:
				fmt.Fprint(b, ", all with unwind tables")
			case s.NoUnwindFunctions == s.Functions:
				fmt.Fprint(b, ", none with an unwind table")
			default:
				fmt.Fprintf(b, ", %s of %s bytes without an unwind table", style.Grouped(uint64(s.NoUnwindFunctions)), style.Grouped(s.NoUnwindBytes))
			}
			fmt.Fprintln(b)
			if s.NotExecutable > 0 {
				fmt.Fprintf(b, "  %s more in memory that is not executable: bytecode\n", style.Grouped(uint64(s.NotExecutable)))
			}
		}
		if s.Note != "" {
			fmt.Fprintf(b, "  note: %s\n", printable.Text(s.Note))
		}
		for line := range strings.Lines(s.Error) {
			fmt.Fprintf(b, "  %s\n", p.Error.Text(printable.Text(strings.TrimSuffix(line, "\n"))))
		}
	}
	if len(g.Memory) > 0 {
		what := "without an object file"
		if g.Core != "" && len(g.Notes) > 0 {
			what = "without a known object file"
		}
		fmt.Fprintf(b, "\nexecutable memory %s\n", what)
	}
	for i := range g.Memory {
		m := &g.Memory[i]
		fmt.Fprintf(b, "  %s-%s  %s bytes", m.Start, m.End, style.Grouped(m.size))
		if m.Path != "" {
			fmt.Fprintf(b, " of %s", printable.Text(m.Path))
		}
		if m.Covered == 0 {
			fmt.Fprintf(b, "  %s\n", p.Error.Text("no source describes it"))
		} else {
			fmt.Fprintf(b, "  %s of them in %s\n", style.Grouped(m.Covered), style.Count(m.Functions, "function"))
		}
	}
	for _, note := range g.Notes {
		fmt.Fprintf(b, "\nnote: %s\n", printable.Text(note))
	}
	return b.Flush()
}
