// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package tablecheck prints the results of package check: findings about unwind tables, as
// text and as JSON. It checks nothing itself.
package tablecheck

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// Schema describes the output of JSON.
const Schema = `One object for each finding:
  file
  function        the function, demangled; absent if it is unknown
  symbol          the symbol as the file has it
  address         the first instruction with the defect; for a defect of an entry,
                  the start of its code or the entry's own address
  last, count     the last one, and their number
  kind            "wrong CFA", "wrong register", "overlapping entries", …
  register        of a wrong register
  expected        what the code does: "rbx at CFA-16"; absent for a defect of an entry
  found           what the table says
  path            the instructions from the function's start to "address":
                  [{"address", "cfa", "saved"}]
  fix             the directive of an assembler that belongs before "address"

The last line is a summary over all files: {"functions", "decided", "defective",
"instructions", "agree", "disagree", "undecided", "reasons"}. "decided" counts functions
without an undecided instruction; "reasons" has the number of undecided instructions for
each reason.`

// Text prints the result for a file. With paths, it prints the path to each finding.
func Text(w io.Writer, file string, r *check.Report, paths bool) error {
	var b strings.Builder
	c := &r.Counters
	fmt.Fprintf(&b, "%s: %s in %s of %s\n", printable.Text(file), style.Count(len(r.Findings), "finding"),
		style.Count(c.Defective, "function"), style.Grouped(uint64(c.Functions)))
	for i := range r.Findings {
		finding(&b, &r.Findings[i], paths)
	}
	fmt.Fprintf(&b, "  %s: %s agree, %s disagree, %s undecided (%.2f%% decided)\n",
		style.Grouped(uint64(c.Instructions))+" instructions", style.Grouped(uint64(c.Agree)), style.Grouped(uint64(c.Disagree)),
		style.Grouped(uint64(c.Undecided)), 100*float64(c.Agree+c.Disagree)/float64(max(1, c.Instructions)))
	for reason, n := range c.Reasons {
		if n > 0 {
			fmt.Fprintf(&b, "    %s: %s\n", style.Grouped(uint64(n)), check.Reason(reason))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func finding(b *strings.Builder, f *check.Finding, paths bool) {
	place := style.Hex(f.Address)
	if f.Function != 0 {
		name := printable.Text(style.Demangle(f.Name))
		if name == "" {
			name = style.Hex(f.Function)
		}
		place = fmt.Sprintf("%s+%s  %s", name, style.Hex(f.Address-f.Function), place)
	}
	if f.Count > 1 {
		place += fmt.Sprintf(" (%d instructions)", f.Count)
	}
	fmt.Fprintf(b, "  %s\n    %s: ", place, f.Kind)
	if f.Expected == "" {
		fmt.Fprintf(b, "%s\n", printable.Text(f.Found))
		return
	}
	fmt.Fprintf(b, "%s by the code, %s by the table\n", f.Expected, f.Found)
	if f.Fix != "" {
		fmt.Fprintf(b, "    fix: %s\n", f.Fix)
	}
	if !paths {
		return
	}
	for _, s := range f.Path {
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("      %s  CFA %s  %s", style.Hex(s.Address), cmp.Or(s.CFA, "unknown"), s.Saved), " "))
	}
}

type jsonStep struct {
	Address uint64 `json:"address"`
	CFA     string `json:"cfa,omitempty"`
	Saved   string `json:"saved,omitempty"`
}

type jsonFinding struct {
	File     string     `json:"file"`
	Function string     `json:"function,omitempty"`
	Symbol   string     `json:"symbol,omitempty"`
	Address  uint64     `json:"address"`
	Last     uint64     `json:"last"`
	Count    int        `json:"count"`
	Kind     string     `json:"kind"`
	Register string     `json:"register,omitempty"`
	Expected string     `json:"expected,omitempty"`
	Found    string     `json:"found"`
	Path     []jsonStep `json:"path,omitempty"`
	Fix      string     `json:"fix,omitempty"`
}

// JSON prints the findings of a file, one object on each line.
func JSON(w io.Writer, file string, r *check.Report) error {
	for i := range r.Findings {
		f := &r.Findings[i]
		o := jsonFinding{File: file, Function: style.Demangle(f.Name), Symbol: f.Name, Address: f.Address, Last: f.Last, Count: f.Count,
			Kind: f.Kind.String(), Register: f.Register, Expected: f.Expected, Found: f.Found, Fix: f.Fix}
		for _, s := range f.Path {
			o.Path = append(o.Path, jsonStep(s))
		}
		if err := printable.EncodeJSON(w, &o); err != nil {
			return err
		}
	}
	return nil
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
}

// JSONSummary prints the last line of JSON.
func JSONSummary(w io.Writer, c *check.Counters) error {
	o := jsonSummary{c.Functions, c.Decided, c.Defective, c.Instructions, c.Agree, c.Disagree, c.Undecided, map[string]int{}}
	for reason, n := range c.Reasons {
		if n > 0 {
			o.Reasons[check.Reason(reason).String()] = n
		}
	}
	return printable.EncodeJSON(w, &o)
}
