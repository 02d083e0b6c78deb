// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jitcode

import (
	"fmt"
	"io"
	"slices"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/stack/generated"
)

// FormerFunctionSchema describes the output of FormerFunction.JSON.
const FormerFunctionSchema = `One object for each place where a function of this name was before:
  {"former", "start", "end", "source", "place", "until", "overwritten_by": {"function",
   "start", "end"}, "moved_to": {"function", "start", "end"}}
"until" is a time on the clock of the jitdump; a perf map has no times.`

// FormerFunction is a generated function at a place where it was overwritten or moved.
type FormerFunction struct {
	codefile.Former
	Source *generated.Source
}

// MatchFormer returns the overwritten or moved functions that match a name, and their total
// number. It returns only the latest of each source, at most limit. It matches names as
// [Match] does, and at least as strictly as Match did to find the functions in found.
func MatchFormer(sources []*generated.Source, place string, found []SourcedFunction, limit int) (former []FormerFunction, total int) {
	for _, match := range nameMatches(place) {
		for _, s := range sources {
			from := len(former)
			for f := range s.Former(match) {
				if total++; len(former)-from == limit {
					former = slices.Delete(former, from, from+1)
				}
				former = append(former, FormerFunction{f, s})
			}
		}
		if total > 0 || len(found) > 0 && match(found[0].Name) {
			break
		}
	}
	return former, total
}

// Text writes a line with the former place of the function, and what overwrote it or where it
// moved.
func (f *FormerFunction) Text(w io.Writer, p style.Palette) error {
	fate := f.Fate()
	until, what := "", "removed"
	if fate.Until != "" {
		until = " until " + fate.Until
	}
	if n := &fate.Next; n.Name != "" {
		what = "overwritten by " + p.Name.Text(printable.Text(style.Demangle(n.Name))) + " at"
		if fate.Moved {
			what = "moved to"
		}
		what += fmt.Sprintf(" %#x-%#x", n.Address, n.Address+n.Size)
	}
	_, err := fmt.Fprintf(w, "%s was at %#x-%#x%s; %s, by the %v, %s\n", p.Name.Text(printable.Text(style.Demangle(f.Name))),
		f.Address, f.Address+f.Size, until, what, f.Source.Kind, printable.Text(f.Source.Place))
	return err
}

type jsonFormerFunction struct {
	Former        string         `json:"former"`
	Start         string         `json:"start"`
	End           string         `json:"end"`
	Source        string         `json:"source"`
	Place         string         `json:"place"`
	Until         string         `json:"until,omitempty"`
	OverwrittenBy *jsonCodePlace `json:"overwritten_by,omitempty"`
	MovedTo       *jsonCodePlace `json:"moved_to,omitempty"`
}

type jsonCodePlace struct {
	Function string `json:"function"`
	Start    string `json:"start"`
	End      string `json:"end"`
}

// JSON writes one object on one line, as FormerFunctionSchema describes.
func (f *FormerFunction) JSON(w io.Writer) error {
	fate := f.Fate()
	next := &jsonCodePlace{style.Demangle(fate.Next.Name), style.Hex(fate.Next.Address), style.Hex(fate.Next.Address + fate.Next.Size)}
	out := jsonFormerFunction{Former: style.Demangle(f.Name), Start: style.Hex(f.Address), End: style.Hex(f.Address + f.Size),
		Source: f.Source.Kind.String(), Place: f.Source.Place, Until: fate.Until}
	switch {
	case fate.Next.Name == "":
	case fate.Moved:
		out.MovedTo = next
	default:
		out.OverwrittenBy = next
	}
	return printable.EncodeJSON(w, &out)
}
