// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/report/jitcode"
	"github.com/clewdev/clew/report/table"
	"github.com/clewdev/clew/report/tablecheck"
	"github.com/clewdev/clew/report/trace"
)

func helpCommand() *cli.Command {
	format := "text"
	return &cli.Command{
		Name:  "help",
		Usage: "Explain a command or a topic",
		Description: `Print the manual page of a command, with all its flags, or of a topic. 'clew COMMAND
--help' prints the first screen only.`,
		UsageText: `clew help [COMMAND | TOPIC]

Examples:
  clew help                               the commands and the topics
  clew help stack                         all flags of 'clew stack'
  clew help jit show
  clew help frames                        how frames are found and shown
  clew help --format man stack | man -l -`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Destination: &format, Value: format, Usage: "`FORMAT` of the page: text, man, or markdown"},
		},
		ShellComplete: func(_ context.Context, c *cli.Command) {
			for _, p := range pages(c.Root()) {
				fmt.Fprintln(c.Root().Writer, strings.TrimPrefix(p.Name, "clew "))
			}
		},
		Action: func(_ context.Context, c *cli.Command) error {
			page, err := findPage(c.Root(), c.Args().Slice())
			if err != nil {
				return err
			}
			switch format {
			case "text":
				return writePage(c.Root().Writer, page.WriteWhole)
			case "man":
				return writePage(c.Root().Writer, page.WriteMan)
			case "markdown":
				return writePage(c.Root().Writer, page.WriteMarkdown)
			}
			return fmt.Errorf("unknown --format %q, expected text, man or markdown", format)
		},
	}
}

// findPage returns the page of a command or a topic. Without arguments it is the page of clew.
func findPage(root *cli.Command, args []string) (*manual.Page, error) {
	c, path := root, root.Name
	for i, name := range args {
		below := c.Command(name)
		if below != nil && !below.Hidden {
			c, path = below, path+" "+name
			continue
		}
		if i > 0 {
			return nil, fmt.Errorf("%s has no command %q", path, name)
		}
		topics := allTopics()
		if n := slices.IndexFunc(topics, func(p *manual.Page) bool { return p.Name == name }); n >= 0 {
			if len(args) > 1 {
				return nil, fmt.Errorf("one topic at a time, got %d", len(args))
			}
			return topics[n], nil
		}
		names := root.VisibleCommands()
		for _, t := range topics {
			names = append(names, &cli.Command{Name: t.Name})
		}
		return nil, fmt.Errorf("no command or topic is named %q%s", name, didYouMean(name, cli.SuggestCommand(names, name)))
	}
	return pageOf(c, path), nil
}

// pages returns the whole manual: the pages of the command and its subcommands, and the topics.
func pages(root *cli.Command) []*manual.Page {
	var all []*manual.Page
	var add func(c *cli.Command, name string)
	add = func(c *cli.Command, name string) {
		all = append(all, pageOf(c, name))
		for _, below := range c.VisibleCommands() {
			add(below, name+" "+below.Name)
		}
	}
	add(root, root.Name)
	return append(all, allTopics()...)
}

// allTopics returns the topics. The text of the topic json is next to the code that prints JSON.
func allTopics() []*manual.Page {
	all := append(manual.Topics(), jsonTopic())
	slices.SortFunc(all, func(a, b *manual.Page) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func jsonTopic() *manual.Page {
	var text strings.Builder
	text.WriteString(`With --json a command prints JSON instead of text: one object on each line. New
versions of Clew may add fields, but do not change or remove any.`)
	for _, part := range []struct{ command, schema string }{
		{"clew stack --json", trace.ThreadSchema},
		{"clew stack --goroutines --json", trace.GoroutineSchema},
		{"clew stack --watch --json", trace.WatchSchema},
		{"clew table --json", table.Schema},
		{"clew table --raw --json", table.RawSchema},
		{"clew at --json", table.ExplainSchema},
		{"clew check --json", tablecheck.Schema},
		{"clew synth --json", synthSchema},
		{"clew jit --json", jitcode.Schema},
		{"clew jit show --json", jitcode.FunctionSchema + "\n" + jitcode.FormerFunctionSchema},
		{"clew jit extract --json", `One object for each file that was written: {"file", "source", "place", "bytes"}.`},
		{"clew perf --json", trace.RecordingSchema},
		{"clew diff --json", trace.DifferenceSchema},
		{"clew version --json", `One object: {"version", "commit", "modified", "go", "os", "arch", "features"}.`},
	} {
		fmt.Fprintf(&text, "\n\n%s:\n\n%s", part.command, part.schema)
	}
	return &manual.Page{Name: "json", Summary: "The output of --json", Description: text.String()}
}

// pageOf returns the page of a command.
func pageOf(c *cli.Command, name string) *manual.Page {
	usage, examples, _ := strings.Cut(c.UsageText, "\n\nExamples:\n")
	if usage == "" {
		usage = name
	}
	unindented := func(s string) string { return strings.ReplaceAll(strings.TrimPrefix(s, "  "), "\n  ", "\n") }
	p := &manual.Page{
		Name: name, Summary: c.Usage, Description: strings.TrimSpace(c.Description),
		Usage: unindented(usage), Examples: unindented(examples),
	}
	for _, below := range c.VisibleCommands() {
		p.Commands = append(p.Commands, manual.Entry{Name: below.Name, Summary: below.Usage})
	}
	for _, flag := range c.VisibleFlags() {
		if doc, ok := flag.(cli.DocGenerationFlag); ok {
			p.Flags = append(p.Flags, describeFlag(doc))
		}
	}
	// The flags that most users need come first, then each group.
	slices.SortStableFunc(p.Flags, func(a, b manual.Flag) int { return strings.Compare(a.Group, b.Group) })
	names := manual.TopicsOf(c.Metadata)
	for _, t := range allTopics() {
		if name == rootName || slices.Contains(names, t.Name) {
			p.Topics = append(p.Topics, manual.Entry{Name: t.Name, Summary: t.Summary})
		}
	}
	return p
}

// describeFlag returns the manual's description of a flag. Backquotes in its usage enclose the
// name of its value.
func describeFlag(doc cli.DocGenerationFlag) manual.Flag {
	names := doc.(cli.Flag).Names()
	f := manual.Flag{Long: names[0], Usage: doc.GetUsage()}
	for _, short := range names[1:] {
		f.Short = short
	}
	if before, rest, ok := strings.Cut(f.Usage, "`"); ok {
		value, after, _ := strings.Cut(rest, "`")
		f.Value, f.Usage = value, before+value+after
	}
	if doc.TakesValue() && doc.IsDefaultVisible() {
		f.Default = doc.GetValue()
	}
	if multiValue, ok := doc.(cli.DocGenerationMultiValueFlag); ok {
		f.Repeatable = multiValue.IsMultiValueFlag()
	}
	if categorised, ok := doc.(cli.CategorizableFlag); ok {
		f.Group = categorised.GetCategory()
	}
	return f
}

// grouped puts flags into a group of the manual. The first screen omits groups.
func grouped(group string, flags ...cli.Flag) []cli.Flag {
	for _, f := range flags {
		f.(cli.CategorizableFlag).SetCategory(group)
	}
	return flags
}

// printHelp is the library's cli.HelpPrinter: it prints the first screen of a command.
func printHelp(w io.Writer, _ string, data any) {
	c, ok := data.(*cli.Command)
	if !ok {
		return
	}
	page := pageOf(c, c.FullName())
	write := page.WriteShort
	if c == c.Root() {
		write = page.WriteWhole
	}
	_ = writePage(w, write) // output.Stdout keeps the error
}

// writePage writes a page, which is made of small pieces, with one Write.
func writePage(w io.Writer, write func(io.Writer) error) error {
	out := bufio.NewWriter(w)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}
