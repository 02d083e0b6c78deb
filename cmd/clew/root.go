// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/debug"
	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/output"
)

const rootHelp = `Clew finds the way back through the call frames of native code: code that a compiler
wrote, and code that a program wrote while it ran.`

// verbs are the commands, sorted by name.
var verbs = [...]struct {
	name    string
	command func() *cli.Command
}{
	{"at", atCommand},
	{"check", checkCommand},
	{"debug", debug.Command},
	{"demo", demoCommand},
	{"diff", diffCommand},
	{"help", helpCommand},
	{"jit", jitCommand},
	{"perf", perfCommand},
	{"record", recordCommand},
	{"stack", stackCommand},
	{"synth", synthCommand},
	{"table", tableCommand},
	{"version", versionCommand},
}

// commandsFor returns the command of the verb in args, or all commands without a verb. It saves the
// time in which the library processes every flag of each command.
func commandsFor(args []string) []*cli.Command {
	var all []*cli.Command
	for _, verb := range verbs {
		if len(args) > 0 && args[0] == verb.name && verb.name != "help" {
			return []*cli.Command{verb.command()}
		}
	}
	for _, verb := range verbs {
		all = append(all, verb.command())
	}
	return all
}

const rootName = "clew"

// newRoot returns the command clew with the subcommands for a command line.
func newRoot(args []string) *cli.Command {
	cli.HelpPrinter = printHelp
	cli.VersionPrinter = func(c *cli.Command) { printVersion(c.Root().Writer) }
	root := &cli.Command{
		Name:        rootName,
		Writer:      output.Stdout,
		ErrWriter:   output.Stderr,
		Usage:       "Read unwind tables, print stacks",
		Description: rootHelp,
		UsageText: `clew COMMAND [flags]

Examples:
  clew stack 4711                  the stacks of a live process
  clew perf perf.data              the hottest functions of a recording
  clew table a.out --func main     the unwind table of a function
  clew at a.out main+0x27          the rule at one address, in words
  clew demo                        see it at work`,
		Version:               "the module's", // see printVersion
		EnableShellCompletion: true,
		Commands:              commandsFor(args),
		// Without a verb, or with an unknown one:
		Action: func(_ context.Context, c *cli.Command) error {
			if !c.Args().Present() {
				return cli.ShowRootCommandHelp(c)
			}
			return unknownCommand(c, c.Args().First())
		},
		// run prints the error.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
	}
	root.ConfigureShellCompletionCommand = func(c *cli.Command) {
		setUp(c)
		setUpCompletion(c)
	}
	setUp(root)
	return root
}

// setUp sets the fields that subcommands do not inherit.
func setUp(c *cli.Command) {
	c.OnUsageError = usageError
	// No verb has a subcommand help, because a file may have that name.
	c.HideHelpCommand = true
	if c.Action != nil {
		// With --help the library treats the first argument as a verb.
		c.CommandNotFound = func(_ context.Context, c *cli.Command, _ string) { printHelp(c.Root().Writer, "", c) }
	}
	for _, below := range c.Commands {
		setUp(below)
	}
}

func printVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s version %s\n", rootName, version())
	return err
}

func run(args []string) int {
	err := execute(args)
	code := output.ExitCode(err)
	// If the output cannot be written, the command has failed.
	if failed := output.Stdout.Close(); failed != nil {
		if !errors.Is(err, failed) {
			output.Warn("%v", failed)
		}
		code = output.ExitUsage
	}
	output.Stderr.Close()
	return code
}

func execute(args []string) error {
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-v") {
		return printVersion(output.Stdout) // without the time to set up commands
	}
	root := newRoot(args)
	output.Command = commandPath(root, args)
	if err := unknownVerb(root, args); err != nil {
		return err
	}
	return root.Run(context.Background(), append([]string{root.Name}, args...))
}

// commandPath returns "clew" and the verb. The flags of clew itself take no values.
func commandPath(root *cli.Command, args []string) string {
	if len(args) > 0 && args[0] != "help" {
		if c := root.Command(args[0]); c != nil {
			return root.Name + " " + c.Name
		}
	}
	return root.Name
}

// usageError rewrites the text of the library's error about flags.
func usageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		return fmt.Errorf("unknown flag: %s%s", dashed(name), didYouMean(name, cli.SuggestFlag(c.Flags, name, false)))
	}
	value, rest, _ := strings.Cut(err.Error(), " for flag -")
	flag, reason, _ := strings.Cut(rest, ": ")
	switch {
	case strings.HasPrefix(reason, "strconv."):
		reason = reason[strings.LastIndex(reason, ": ")+2:]
	case strings.HasPrefix(reason, "time: "):
		reason = "a duration needs a unit: 100ms, 2s"
	default:
		return err
	}
	return fmt.Errorf("%s for %s: %s", value, dashed(flag), reason)
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// unknownVerb returns an error if the first word is not a command. The library treats such a word as
// an argument.
func unknownVerb(root *cli.Command, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || root.Command(args[0]) != nil || args[0] == "completion" {
		return nil
	}
	return unknownCommand(root, args[0])
}

func unknownCommand(root *cli.Command, name string) error {
	if verb := verbFor(name); verb != "" {
		return fmt.Errorf("unknown command %q; did you mean 'clew %s %[1]s'?", name, verb)
	}
	return fmt.Errorf("unknown command %q%s", name, didYouMean(name, cli.SuggestCommand(root.VisibleCommands(), name)))
}

// verbFor returns the verb for a process ID or a file, or "". A file that does not exist, or has
// unknown content, is recognized by its usual name.
func verbFor(argument string) string {
	if pid, err := strconv.Atoi(argument); err == nil && pid > 0 {
		return "stack"
	}
	if info, _ := input.Regular(argument); info != nil {
		switch content, _ := input.ContentOf(argument); content {
		case input.ELF:
			return "table"
		case input.Core, input.Minidump:
			return "stack"
		case input.Recording, input.OTLP:
			return "perf"
		case input.Jitdump:
			return "jit"
		}
	}
	switch base := filepath.Base(argument); {
	case base == "core", strings.HasPrefix(base, "core."), strings.HasSuffix(base, ".core"):
		return "stack"
	case strings.HasPrefix(base, "perf.data"):
		return "perf"
	}
	return ""
}

// didYouMean returns a text for a suggestion of the library. The library suggests something for
// every name; didYouMean drops a suggestion with another first letter.
func didYouMean(name, suggestion string) string {
	start := strings.TrimLeft(suggestion, "-")
	if name == "" || len(start) < 2 || name[0] != start[0] {
		return ""
	}
	return "; did you mean " + suggestion + "?"
}

// atDash splits a verb's arguments at --, which the library removes. The root's arguments still have
// it.
func atDash(c *cli.Command) (before, after []string, dashed bool) {
	args, line := c.Args().Slice(), c.Root().Args().Slice()
	dash := slices.Index(line, "--")
	if dash < 0 {
		return args, nil, false
	}
	split := max(0, len(args)-len(line[dash+1:]))
	return args[:split], args[split:], true
}
