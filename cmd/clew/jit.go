// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/report/jitcode"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/stack/recording"
)

const jitHelp = `List the code that a program wrote while it ran: the sources that describe it, the
number and size of their functions, the code without an unwind table, and executable
memory that no source describes.

The target is a live process, a core, a jitdump, a perf map, or a recording of perf.
A process stops for about a millisecond, as for 'clew stack'.`

// jitFlags are the flags of the jit verb.
type jitFlags struct {
	json, all bool
	output    string

	sourcePath []string
	core       coreFlags
}

func jitCommand() *cli.Command {
	var flags jitFlags
	jsonFlag := func(usage string) cli.Flag {
		return &cli.BoolFlag{Name: "json", Destination: &flags.json, Usage: usage}
	}
	return &cli.Command{
		Name:          "jit",
		Usage:         "List generated code; show or extract a function of it",
		Description:   jitHelp,
		ShellComplete: completeProcesses(),
		Metadata:      manual.SeeAlso("generated", "cores", "json", "exit-codes"),
		UsageText: `clew jit PID|FILE [flags]

Examples:
  clew jit 4711                       the generated code of process 4711
  clew jit core.4711                  of a core
  clew jit jit-4711.dump --json       of a jitdump
  clew jit show fib 4711              a function's unwind table and instructions
  clew jit extract fib 4711 -o fib.o  its symbol file, for readelf and gdb`,
		Flags: append([]cli.Flag{jsonFlag("print one JSON object")}, flags.core.flags()...),
		Action: func(_ context.Context, c *cli.Command) error {
			switch c.Args().Len() {
			case 0:
				return errors.New("name a process, a core, a jitdump, a perf map, or a recording")
			case 1:
				return jitSources(c.Args().First(), &flags)
			}
			return fmt.Errorf("one PID or FILE at a time, got %d arguments; 'show' and 'extract' take a function too", c.Args().Len())
		},
		Commands: []*cli.Command{{
			Name:  "show",
			Usage: "Print a generated function's unwind table, lines and instructions",
			Description: `Print the unwind table of a generated function as 'clew table' does, then its
instructions with the rows and source lines beside them.

Name the function as its source does, demangled, by a glob or a part of its name, or by
an address in it. If a jitdump or a perf map says that a function of this name was
overwritten or moved, a line says where it was, until when, and by what.

The target names the source files. So root reads only those that the target's user
may read, and files under --source-path.`,
			Metadata: manual.SeeAlso("generated", "rules", "json", "exit-codes"),
			UsageText: `clew jit show NAME|ADDR PID|FILE [flags]

Examples:
  clew jit show fib 4711
  clew jit show 0x7f3c00001139 core.4711`,
			Flags: append([]cli.Flag{
				jsonFlag("print one JSON object for each function"),
				sourcePathFlag(&flags.sourcePath, "look for source files below `DIR` too"),
			}, flags.core.flags()...),
			Action: func(_ context.Context, c *cli.Command) error {
				if c.Args().Len() != 2 {
					return fmt.Errorf("expected a function (its name, or an address in it) and a PID or FILE; got %d arguments", c.Args().Len())
				}
				return jitShow(c.Args().Get(0), c.Args().Get(1), &flags)
			},
		}, {
			Name:  "extract",
			Usage: "Write the symbol file of generated code",
			Description: `Write the symbol file (ELF) that a runtime registered with debuggers for a function.
For code that a jitdump, a dyn-info list or a perf map describes, Clew makes a symbol
file that says the same. It has names, unwind tables and lines at run-time
addresses, and no code. readelf, 'clew table' and gdb's add-symbol-file read it.`,
			Metadata: manual.SeeAlso("generated", "json", "exit-codes"),
			UsageText: `clew jit extract NAME|ADDR PID|FILE -o FILE
  clew jit extract --all PID|FILE -o DIR

Examples:
  clew jit extract fib 4711 -o fib.o
  clew jit extract --all core.4711 -o symbols`,
			Flags: append([]cli.Flag{
				&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Destination: &flags.output, Usage: "write to `PATH`: a file, or - for standard output; with --all, a directory"},
				&cli.BoolFlag{Name: "all", Destination: &flags.all, Usage: "write the symbol files of all generated code"},
				jsonFlag("print a JSON object for each written file"),
			}, flags.core.flags()...),
			Action: func(_ context.Context, c *cli.Command) error { return jitExtract(c.Args().Slice(), &flags) },
		}},
	}
}

// jitTarget is what the jit verb is asked about.
type jitTarget struct {
	sources  []*generated.Source
	memory   []snapshot.Mapping
	machine  *arch.Machine // nil where it is not known
	pid      int
	command  string
	file     string
	notes    []string
	core     *trace.Core // nil of what is none
	damage   []string    // of a core or a recording; the core and notes have it too
	released func()
	process  *snapshot.Process // source files are read with its rights
}

// openJIT opens a process, a core, or a file that a runtime or perf has written.
// It must be released.
func openJIT(name string, flags *jitFlags) (*jitTarget, error) {
	t := &jitTarget{released: func() {}}
	switch pids, err := expandNames([]string{name}); {
	case err != nil:
		return nil, err
	case len(pids) > 1:
		return nil, output.InputErrorf("%d processes are named %s; choose one: %s", len(pids), name, strings.Join(pids, ", "))
	default:
		name = pids[0]
	}
	if snapshot.IsLive(name) {
		if err := flags.core.refuse(); err != nil {
			return nil, err
		}
		return t, t.source(name, &flags.core, new(snapshot.Options))
	}
	info, err := input.Regular(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, output.InputErrorf("%s: no process and no file has this name", name)
	case err != nil:
		return nil, err
	case info.Size() == 0:
		return nil, output.InputErrorf("%s is empty", name)
	}
	owner := debugfile.User(untrusted.OwnerOf(info))
	t.process = &snapshot.Process{ReadAs: &owner}
	is, err := input.ContentOf(name)
	if err != nil {
		return nil, output.InputError(err)
	}
	return t, jitOpeners[slices.IndexFunc(jitOpeners, func(o jitOpener) bool { return o.reads(is) })].open(t, name, flags)
}

// jitOpener reads the generated code in one kind of file.
type jitOpener struct {
	reads func(input.Content) bool
	open  func(*jitTarget, string, *jitFlags) error
}

// jitOpeners are the kinds of files. The first one that reads a file opens it.
var jitOpeners = []jitOpener{
	{input.Content.IsRecording, (*jitTarget).recording},
	{input.Content.MaybeCore, (*jitTarget).dump},
	{func(input.Content) bool { return true }, (*jitTarget).codeFile}, // a perf map has no magic number
}

// codeFile takes the code of a jitdump or perf map.
func (t *jitTarget) codeFile(name string, _ *jitFlags) error {
	t.file = name
	// A jitdump can have hundreds of megabytes, which stay; garbage is little.
	debug.SetGCPercent(25)
	_, end := output.Progress("reading "+name, 0)
	source, err := generated.Open(name)
	end()
	if err != nil {
		return output.InputErrorf("%w%s", err, output.Hint("\nClew reads cores, minidumps, jitdumps, perf maps and recordings of perf."))
	}
	t.sources = []*generated.Source{source}
	t.machine = source.Machine()
	return nil
}

// dump takes the code of a core or minidump.
func (t *jitTarget) dump(name string, flags *jitFlags) error {
	return t.source(name, &flags.core, &snapshot.Options{Search: input.SearchBelow})
}

// source takes the code of a source's snapshot.
func (t *jitTarget) source(name string, flags *coreFlags, opts *snapshot.Options) error {
	source, err := openSource(name, flags, opts)
	if err != nil {
		return output.InputError(err)
	}
	s, err := source.Snapshot()
	if err != nil {
		source.Close()
		return output.InputError(err)
	}
	t.command = command(s)
	t.of(s, func() { source.Close() })
	if t.core = source.facts(s); t.core == nil {
		return nil
	}
	for _, text := range t.core.Damage {
		t.damage = append(t.damage, "the core: "+text)
	}
	// A missing mapping is an object file if the core has its build ID.
	for _, m := range t.core.Missing {
		if m.BuildID != nil {
			t.memory = slices.DeleteFunc(t.memory, func(have snapshot.Mapping) bool { return have.Path == m.Path })
		}
	}
	return nil
}

// of takes the code of a snapshot.
func (t *jitTarget) of(s *snapshot.Snapshot, release func()) {
	objects := stack.NewObjects(s)
	t.released = func() { objects.Close(); release() }
	t.pid, t.machine, t.process = s.PID, s.Machine, s.Process
	var err error
	_, end := output.Progress("reading what is known of the code of "+targetLabel(s), 0)
	defer end()
	t.sources, err = objects.GeneratedCode()
	var more int
	t.memory, more = objects.CodeMemory()
	told := false
	for _, source := range t.sources {
		told = told || source.Err != nil
	}
	if err != nil && !told {
		t.notes = printable.Lines(err)
	}
	if more > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%d more ranges of executable memory are not listed", more))
	}
}

// recording takes the jitdumps that the processes of a recording had mapped, and
// their perf maps.
func (t *jitTarget) recording(name string, flags *jitFlags) error {
	if err := input.Exist(flags.core.sysroot); err != nil {
		return err
	}
	r, err := perfdata.Open(name)
	if err != nil {
		return output.InputError(err)
	}
	defer r.Close()
	t.file = name
	t.process = nil // the recorded processes can be of several users, whoever recorded them
	opts := recording.Options{Search: debugfile.Search{Root: flags.core.sysroot}}
	_, end := output.Progress("reading "+name, 0)
	defer end()
	if t.sources, t.notes, err = recording.CodeSources(r, opts); err != nil {
		t.notes = append(t.notes, err.Error())
		t.damage = append(t.damage, fmt.Sprintf("%s: %v", name, err))
	}
	t.machine = r.Machine()
	return nil
}

// functions returns all functions of all sources, by address; of those that
// start together in the order of the sources.
func (t *jitTarget) functions() (all []jitcode.SourcedFunction) {
	for _, s := range t.sources {
		for f := range s.Functions() {
			all = append(all, jitcode.SourcedFunction{Function: f, Source: s})
		}
	}
	slices.SortStableFunc(all, func(a, b jitcode.SourcedFunction) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
	return all
}

func jitSources(name string, flags *jitFlags) error {
	t, err := openJIT(name, flags)
	if err != nil {
		return err
	}
	defer t.released()
	r := jitcode.NewSources(t.sources, t.memory)
	r.PID, r.Command, r.File, r.Notes = t.pid, t.command, t.file, t.notes
	if t.core != nil {
		r.Core, r.Notes = t.core.Path, append(r.Notes, t.core.Notes()...)
	}
	if flags.json {
		err = r.JSON(output.Stdout)
	} else {
		err = r.Text(output.Stdout, output.Stdout.Palette())
	}
	if err == nil && !r.Complete() {
		return output.Status(output.ExitNo)
	}
	return err
}
