// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package style

import (
	"slices"
	"strings"

	"github.com/fatih/color"
)

// Palette is the colours of the parts of a report. The zero value colours nothing.
type Palette struct {
	Name   Ink // of a function
	Header Ink // of columns
	Rule   Ink // differences from the previous row
	Dim    Ink // origins and decoration
	Mark   Ink // the requested address
	Source Ink // places in source files
	Error  Ink
}

// Sequences returns the byte strings that the palette's inks put around texts, without
// duplicates. A filter of text for a terminal must let them through.
func (p Palette) Sequences() (list []string) {
	for _, i := range []Ink{p.Name, p.Header, p.Rule, p.Dim, p.Mark, p.Source, p.Error} {
		for _, s := range []string{i.On, i.Off} {
			if s != "" && !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	return list
}

// Ink is the pair of byte strings before and after a text that switch a colour on and off.
type Ink struct{ On, Off string }

// Colors returns the palette for a terminal with ANSI colours.
func Colors() Palette {
	return Palette{
		Name:   ink(color.Bold),
		Header: ink(color.Underline),
		Rule:   ink(color.FgCyan),
		Dim:    ink(color.Faint),
		Mark:   ink(color.FgYellow, color.Bold),
		Source: ink(color.FgGreen),
		Error:  ink(color.FgRed),
	}
}

func ink(attributes ...color.Attribute) Ink {
	c := color.New(attributes...)
	c.EnableColor()
	on, off, _ := strings.Cut(c.Sprint("\x00"), "\x00")
	return Ink{on, off}
}

// Text returns s between the ink's byte strings.
func (i Ink) Text(s string) string { return i.On + s + i.Off }

// Append appends s between the ink's byte strings.
func (i Ink) Append(dst []byte, s string) []byte {
	dst = append(dst, i.On...)
	dst = append(dst, s...)
	return append(dst, i.Off...)
}
