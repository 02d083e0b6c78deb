// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package manual

import (
	"embed"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Page describes a command or a topic.
type Page struct {
	// Name is the name of a topic ("frames"), or the path of a command ("clew jit show").
	Name string

	// Summary describes the command or the topic in one line.
	Summary string

	// Description is text in paragraphs, without a final newline. Lines that begin with a
	// space are verbatim.
	Description string

	// Only commands have the following fields.

	Usage    string // the forms of the command line, one on each line
	Examples string // lines
	Commands []Entry
	Flags    []Flag
	Topics   []Entry // related topics
}

// Entry is a command or a topic in a list.
type Entry struct{ Name, Summary string }

// Flag describes a flag.
type Flag struct {
	Long  string // without dashes
	Short string // a letter, or ""

	Value      string // the name of the flag's value, "FILE"; "" for a switch
	Usage      string
	Default    string // "" if it is not shown
	Repeatable bool

	// Group is the heading for related flags, "" for the flags that most users need.
	Group string
}

// IsTopic reports whether the page is about a topic, not a command.
func (p *Page) IsTopic() bool { return p.Usage == "" }

// WriteShort writes the first screen of a command: its description, its usage, and the flags that
// most users need.
func (p *Page) WriteShort(w io.Writer) error { return p.write(w, false) }

// WriteWhole writes the whole page as text.
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
	omitted := 0
	group := ""
	for i, f := range p.Flags {
		if f.Group != "" && !whole {
			omitted++
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
	if omitted > 0 {
		fmt.Fprintf(w, "\n%d more flags: '%s'\n", omitted, strings.Replace(p.Name, "clew", "clew help", 1))
	}
	if len(p.Topics) > 0 {
		var names []string
		for _, t := range p.Topics {
			names = append(names, t.Name)
		}
		fmt.Fprintf(w, "\nTopics, for 'clew help TOPIC': %s\n", strings.Join(names, ", "))
	}
	return w.Flush()
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

// names returns the names of the flag, with space for a short name, and its value.
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

// block is a part of a description: a paragraph, or verbatim lines.
type block struct {
	verbatim bool
	lines    []string
}

// blocks splits a text into blocks. It removes the first two spaces of verbatim lines.
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
	// Verbatim blocks that only an empty line separates are one block.
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

// Each file is a topic: a line with the title, an empty line, and the text. Lines that begin with a
// space are verbatim.
//
//go:embed topics/*.txt
var topicFiles embed.FS

// Topics returns the pages of the topics, sorted by name.
func Topics() []*Page {
	files, err := topicFiles.ReadDir("topics")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var all []*Page
	for _, f := range files {
		text, err := topicFiles.ReadFile("topics/" + f.Name())
		if err != nil {
			panic(err)
		}
		title, body, _ := strings.Cut(string(text), "\n\n")
		all = append(all, &Page{Name: strings.TrimSuffix(f.Name(), ".txt"), Summary: title, Description: strings.TrimSuffix(body, "\n")})
	}
	return all
}

// topicsKey is the key for the related topics in a command's metadata.
const topicsKey = "topics"

// SeeAlso returns metadata for a command with related topics.
func SeeAlso(topics ...string) map[string]any { return map[string]any{topicsKey: topics} }

// TopicsOf returns the names of the topics in metadata from SeeAlso.
func TopicsOf(metadata map[string]any) []string {
	names, _ := metadata[topicsKey].([]string)
	return names
}
