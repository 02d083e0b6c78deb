// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/clewdev/clew/internal/printable"
)

// Folded writes a line for each different stack, in sorted order: its names, outermost
// first, separated by semicolons, then a space and its weight. Brendan Gregg's
// flamegraph.pl and similar programs read this format. It has no escapes: in a name a
// semicolon becomes a colon, and a control character becomes a space. Other unprintable
// characters are written as Go escapes.
func (p *Profile) Folded(w io.Writer) error {
	names := make([]string, len(p.frames))
	for i := range p.frames {
		names[i] = foldedName(p.frames[i].Name())
	}
	roots := make([]string, len(p.threads))
	for i, list := range p.rootNames() {
		for _, name := range list {
			roots[i] += foldedName(name) + ";"
		}
	}
	type line struct {
		stack  string
		weight int64
	}
	lines := make([]line, len(p.samples))
	var stack []int32
	var text []byte
	for i, s := range p.samples {
		stack = p.stack(stack[:0], s.node)
		text = append(text[:0], roots[s.thread]...)
		for k, f := range slices.Backward(stack) {
			text = append(text, names[f]...)
			if k > 0 {
				text = append(text, ';')
			}
		}
		lines[i] = line{string(text), s.weight}
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.stack, b.stack) })
	out := bufio.NewWriter(w)
	for i := 0; i < len(lines); {
		first, weight := lines[i].stack, int64(0)
		for ; i < len(lines) && lines[i].stack == first; i++ {
			weight += lines[i].weight
		}
		fmt.Fprintf(out, "%s %d\n", first, weight)
	}
	return out.Flush()
}

// rootNames returns, for each thread, the names below its stacks, outermost first.
func (p *Profile) rootNames() [][]string {
	names := make([][]string, len(p.threads))
	roots := p.Roots
	if roots == DefaultRoots && p.processes() > 1 {
		roots = ProcessRoots
	}
	for i := range p.threads {
		l := &p.threads[i]
		process := labelName("process", l.Process, l.PID)
		switch roots {
		case ProcessRoots:
			names[i] = []string{process}
		case ThreadRoots:
			names[i] = []string{process, l.within()}
		case StateRoots:
			names[i] = []string{process, labelName("state", l.State, 0)}
		}
	}
	return names
}

// within returns the name of the thread or the state of the goroutine.
func (l *Labels) within() string {
	if l.State != "" {
		return l.State
	}
	return labelName("thread", l.Thread, l.TID)
}

// labelName returns a name for a label: "server (42)", "thread 43".
func labelName(kind, name string, id int) string {
	switch {
	case name == "" && id == 0:
		return "[unknown " + kind + "]"
	case name == "":
		return kind + " " + strconv.Itoa(id)
	case id == 0:
		return name
	}
	return name + " (" + strconv.Itoa(id) + ")"
}

// foldedName returns a name without the separators of folded stacks.
func foldedName(name string) string {
	return printable.Text(strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ':'
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, name))
}
