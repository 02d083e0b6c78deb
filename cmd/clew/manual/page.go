// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package manual

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Page describes a command or a topic.
type Page struct {
	// Name is that of a topic ("frames"), or of a command with those above it ("clew jit show").
	Name string

	// Summary says in a line what the command does, or what the topic is about.
	Summary string

	// Description is text in paragraphs, without a newline at its end. Lines that begin with
	// a space are printed as they stand.
	Description string

	// The following are of commands only.

	Usage    string // the forms of the command line, a line each
	Examples string // lines
	Commands []Entry
	Flags    []Flag
	Topics   []Entry // that tell more
}

// Entry is a command or a topic in a list.
type Entry struct{ Name, Summary string }

// Flag describes a flag.
type Flag struct {
	Long  string // without dashes
	Short string // a letter, or ""

	// Value names what the flag takes: "FILE". A switch has none.
	Value string

	Usage      string
	Default    string // "" if there is none worth saying
	Repeatable bool

	// Group is the heading of related flags, "" for those that most users need.
	Group string
}

// IsTopic reports whether the page is about a topic, not a command.
func (p *Page) IsTopic() bool { return p.Usage == "" }

// WriteShort prints the first screen of a command: what it does, how it is called, and
// the flags that most users need.
func (p *Page) WriteShort(w io.Writer) error { return p.write(w, false) }

// WriteWhole prints the whole page as text.
func (p *Page) WriteWhole(w io.Writer) error { return p.write(w, true) }

func (p *Page) write(to io.Writer, whole bool) error {
	w := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	if p.IsTopic() {
		fmt.Fprintf(w, "%s\n\n", p.Summary)
	}
	fmt.Fprintf(w, "%s\n", p.Description)
	if p.IsTopic() {
		return w.Flush()
	}
	fmt.Fprintf(w, "\nUsage:\n%s\n", indent(p.Usage))
	if p.Examples != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", indent(p.Examples))
	}
	writeEntries(w, "Commands", p.Commands)
	left := 0
	group := ""
	for i, f := range p.Flags {
		if f.Group != "" && !whole {
			left++
			continue
		}
		if f.Group != group || i == 0 {
			group = f.Group
			fmt.Fprintf(w, "\n%s:\n", flagHeading(group))
		}
		fmt.Fprintf(w, "  %s\t%s\n", f.names(), f.description())
	}
	if whole {
		writeEntries(w, "Topics, for 'clew help TOPIC'", p.Topics)
		return w.Flush()
	}
	switch {
	case left == 1:
		fmt.Fprintf(w, "\nOne more flag: 'clew help %s'.", p.arguments())
	case left > 1:
		fmt.Fprintf(w, "\n%d more flags: 'clew help %s'.", left, p.arguments())
	}
	if len(p.Topics) > 0 {
		if left == 0 {
			fmt.Fprintln(w)
		} else {
			fmt.Fprint(w, " ")
		}
		fmt.Fprint(w, "'clew help TOPIC' explains ")
		for i, t := range p.Topics {
			switch {
			case i > 0 && i == len(p.Topics)-1:
				fmt.Fprint(w, " and ")
			case i > 0:
				fmt.Fprint(w, ", ")
			}
			fmt.Fprint(w, t.Name)
		}
		fmt.Fprint(w, ".")
	}
	if left > 0 || len(p.Topics) > 0 {
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// arguments returns what 'clew help' takes for the page.
func (p *Page) arguments() string {
	_, below, _ := strings.Cut(p.Name, " ")
	return below
}

func writeEntries(w io.Writer, heading string, entries []Entry) {
	if len(entries) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", heading)
	for _, e := range entries {
		fmt.Fprintf(w, "  %s\t%s\n", e.Name, e.Summary)
	}
}

func flagHeading(group string) string {
	if group == "" {
		return "Flags"
	}
	return group
}

// names returns how the flag is written, with space for a short name.
func (f *Flag) names() string {
	names := "    --" + f.Long
	if f.Short != "" {
		names = "-" + f.Short + ", --" + f.Long
	}
	if f.Value != "" {
		names += " " + f.Value
	}
	return names
}

// description returns what the flag does.
func (f *Flag) description() string {
	text := f.Usage
	if f.Default != "" {
		text += " (default " + f.Default + ")"
	}
	if f.Repeatable {
		text += " (repeatable)"
	}
	return text
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}

// block is a piece of a description: a paragraph, or lines that are printed as they stand.
type block struct {
	verbatim bool
	lines    []string
}

// blocks returns the pieces of a text. Lines that stand as they are keep their indentation
// but for the first two spaces of each.
func blocks(text string) []block {
	var all []block
	for line := range strings.SplitSeq(text, "\n") {
		verbatim := strings.HasPrefix(line, " ")
		switch n := len(all); {
		case line == "":
			all = append(all, block{})
		case n == 0 || len(all[n-1].lines) > 0 && all[n-1].verbatim != verbatim:
			all = append(all, block{verbatim, []string{strings.TrimPrefix(line, "  ")}})
		default:
			last := &all[n-1]
			last.verbatim = verbatim
			last.lines = append(last.lines, strings.TrimPrefix(line, "  "))
		}
	}
	// Lines around an empty one that all stand as they are belong together.
	var joined []block
	for _, b := range all {
		if n := len(joined); n > 0 && b.verbatim && joined[n-1].verbatim && len(b.lines) > 0 {
			joined[n-1].lines = append(append(joined[n-1].lines, ""), b.lines...)
		} else if len(b.lines) > 0 {
			joined = append(joined, b)
		}
	}
	return joined
}
