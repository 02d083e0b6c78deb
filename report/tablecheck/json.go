// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package tablecheck

import (
	"io"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/check/survey"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack/generated"
)

// Schema describes the output of JSON.
const Schema = `One object for each finding:
  file            the file; for generated code the jitdump, or the kind of list
  source          "GDB JIT list", "jitdump", …; only for generated code
  function        the function, demangled; absent if it is unknown
  symbol          the symbol as the file has it
  function_start  the first address of the function
  address         the first instruction with the defect; for a defect of an entry,
                  the start of its code or the entry's own address
  offset          "address" less "function_start", in bytes
  last, count     the last instruction with the defect, and their number
  source_file, source_line   of "address", from debug information
  kind            "wrong CFA", "wrong register", "overlapping entries", …
  register        the register; absent for the CFA and for a defect of an entry
  expected        what the code does: "rbx at CFA-16"; absent for a defect of an entry
  found           what the table says, or what is wrong with the entry
  path            the instructions from the function's start to "address":
                  [{"address", "cfa", "saved"}]
  around          instructions around "address", with the rule by the table and by
                  the code: [{"address", "text", "table", "code"}]
  fix             the assembler directive that belongs before "address"

Addresses are strings, "0x1160"; in an object file, offsets in the section. The last line
is a summary of all files: {"functions", "decided", "defective", "instructions", "agree",
"disagree", "undecided", "reasons", "findings", "known", "notes"}. "decided" counts functions
without an undecided instruction, and "defective" those with a finding. "reasons" has the
number of undecided instructions for each reason. "known" counts findings of the
baseline, which are not printed. "notes" has the number of places for each kind of
note, such as "executable bytes without an entry"; it is absent without notes. "disagree"
includes the instructions of functions with a note instead of findings.`

// JSON prints results for programs, one object on each line, as Schema describes.
type JSON struct{}

type jsonStep struct {
	Address survey.Address `json:"address"`
	CFA     string         `json:"cfa,omitempty"`
	Saved   string         `json:"saved,omitempty"`
}

type jsonLine struct {
	Address survey.Address `json:"address"`
	Text    string         `json:"text,omitempty"`
	Table   string         `json:"table,omitempty"`
	Code    string         `json:"code,omitempty"`
}

type jsonFinding struct {
	File       string         `json:"file"`
	Source     string         `json:"source,omitempty"`
	Function   string         `json:"function,omitempty"`
	Symbol     string         `json:"symbol,omitempty"`
	Start      survey.Address `json:"function_start,omitempty"`
	Address    survey.Address `json:"address"`
	Offset     uint64         `json:"offset"`
	Last       survey.Address `json:"last"`
	Count      int            `json:"count"`
	SourceFile string         `json:"source_file,omitempty"`
	SourceLine int            `json:"source_line,omitempty"`
	Kind       string         `json:"kind"`
	Register   string         `json:"register,omitempty"`
	Expected   string         `json:"expected,omitempty"`
	Found      string         `json:"found"`
	Path       []jsonStep     `json:"path,omitempty"`
	Around     []jsonLine     `json:"around,omitempty"`
	Fix        string         `json:"fix,omitempty"`
}

// Result prints the findings of a part.
func (JSON) Result(w io.Writer, r *survey.Result) error {
	for i := range r.Findings {
		f := r.Findings[i]
		f.Complete() // the details of a large report exist one at a time
		o := newJSON(r.Part, &f)
		if err := printable.EncodeJSON(w, &o); err != nil {
			return err
		}
	}
	return nil
}

func shown(p *survey.Part, address uint64) survey.Address { return survey.Address(p.Shown(address)) }

func newJSON(p *survey.Part, f *check.Finding) jsonFinding {
	o := jsonFinding{File: fileOf(p), Function: style.Demangle(f.Name), Symbol: f.Name, Start: shown(p, f.Function), Address: shown(p, f.Address), Last: shown(p, f.Last), Count: f.Count,
		Kind: f.Kind.String(), Register: f.Register, Expected: f.Expected, Found: f.Found, Fix: f.Fix}
	if p.Generated != generated.None {
		o.Source = p.Generated.String()
	}
	if f.Function != 0 {
		o.Offset = f.Address - f.Function
	}
	if l := locate(p, f.Address); l != nil {
		o.SourceFile, o.SourceLine = l.File, l.Line
	}
	for _, s := range f.Path {
		o.Path = append(o.Path, jsonStep{shown(p, s.Address), s.CFA, s.Saved})
	}
	for _, l := range f.Around {
		o.Around = append(o.Around, jsonLine{shown(p, l.Address), instruction(p, l.Address), l.Table, l.Code})
	}
	return o
}

type jsonSummary struct {
	Functions    int            `json:"functions"`
	Decided      int            `json:"decided"`
	Defective    int            `json:"defective"`
	Instructions int            `json:"instructions"`
	Agree        int            `json:"agree"`
	Disagree     int            `json:"disagree"`
	Undecided    int            `json:"undecided"`
	Reasons      map[string]int `json:"reasons"`
	Findings     int            `json:"findings"`
	Known        int            `json:"known"`
	Notes        map[string]int `json:"notes,omitempty"`
}

// End prints the summary.
func (JSON) End(w io.Writer, t *Total) error {
	c := &t.Counters
	o := jsonSummary{c.Functions, c.Decided, c.Defective, c.Instructions, c.Agree, c.Disagree, c.Undecided, map[string]int{}, t.Findings, t.Known, nil}
	for reason, n := range c.Reasons {
		if n > 0 {
			o.Reasons[check.Reason(reason).String()] = n
		}
	}
	for kind, n := range t.Notes {
		if o.Notes == nil {
			o.Notes = make(map[string]int)
		}
		o.Notes[kind.String()] = n
	}
	return printable.EncodeJSON(w, &o)
}
