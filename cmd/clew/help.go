// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"
)

// helpCommand is the library's, but for its error.
func helpCommand() *cli.Command {
	return &cli.Command{
		Name:        "help",
		Usage:       "Help about any command",
		Description: "Print what a command is for and what it takes.",
		UsageText:   "clew help [command]",
		Action: func(ctx context.Context, c *cli.Command) error {
			name := c.Args().First()
			switch {
			case name == "":
				return cli.ShowRootCommandHelp(c)
			case c.Root().Command(name) == nil:
				return unknownCommand(c.Root(), name)
			}
			return cli.ShowCommandHelp(ctx, c.Root(), name)
		},
	}
}

// printHelp is the library's cli.HelpPrinter, which would indent what is laid
// out, and show twice a flag that can be repeated. The template is the
// library's too.
func printHelp(w io.Writer, _ string, data any) {
	c, ok := data.(*cli.Command)
	if !ok {
		return
	}
	usage := c.UsageText
	if usage == "" {
		usage = c.FullName()
	}
	// A tabwriter writes every piece of a line by itself.
	text := bufio.NewWriter(w)
	defer text.Flush()
	out := tabwriter.NewWriter(text, 0, 0, 3, ' ', 0)
	defer out.Flush()
	fmt.Fprintf(out, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(c.Description), usage)
	if commands := c.VisibleCommands(); len(commands) > 0 {
		fmt.Fprint(out, "\nAvailable Commands:\n")
		for _, below := range commands {
			fmt.Fprintf(out, "  %s\t%s\n", below.Name, below.Usage)
		}
	}
	if flags := c.VisibleFlags(); len(flags) > 0 {
		fmt.Fprint(out, "\nFlags:\n")
		for _, flag := range flags {
			printFlag(out, flag)
		}
	}
	if c == c.Root() {
		fmt.Fprintf(out, "\nUse '%s [command] --help' for more information about a command.\n", c.Name)
	}
}

// printFlag prints a line about a flag; what it takes stands between backquotes
// in its usage.
func printFlag(w io.Writer, flag cli.Flag) {
	doc, ok := flag.(cli.DocGenerationFlag)
	if !ok {
		return
	}
	names := "    --" + flag.Names()[0]
	for _, short := range flag.Names()[1:] {
		names = "-" + short + ", --" + flag.Names()[0]
	}
	usage := doc.GetUsage()
	if before, rest, ok := strings.Cut(usage, "`"); ok {
		what, after, _ := strings.Cut(rest, "`")
		names += " " + what
		usage = before + what + after
	}
	if value := doc.GetValue(); value != "" && doc.TakesValue() {
		usage += fmt.Sprintf(" (default %s)", value)
	}
	fmt.Fprintf(w, "  %s\t%s\n", names, usage)
	if many, ok := flag.(cli.DocGenerationMultiValueFlag); ok && many.IsMultiValueFlag() {
		fmt.Fprint(w, "  \tcan be repeated\n")
	}
}
