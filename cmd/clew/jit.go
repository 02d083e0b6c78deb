// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"cmp"
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
number and size of their functions, the code without an unwind table, and the
executable memory that no source describes.

The target is a live process, a core, a jitdump, a perf map, or a recording of perf.
A process stops for about a millisecond, as for 'clew stack'.`

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
  clew jit core.4711                  the generated code in a core
  clew jit jit-4711.dump --json       a jitdump, as JSON
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

Give the function's name in its source or its demangled name, a glob, a part of the
name, or an address in the function. If a jitdump or a perf map has an older function
of this name that was overwritten or moved, a line gives its address, its end, and the
function that replaced it.

The target controls the names of source files. So root reads only files that the
target's user may read, and files under --source-path.`,
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
For code in a jitdump, a dyn-info list or a perf map, Clew makes a symbol file with the
same information. It has names, unwind tables and lines at run-time addresses, and no
code. readelf, 'clew table' and gdb's add-symbol-file read it.`,
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

type jitTarget struct {
	sources []*generated.Source
	memory  []snapshot.Mapping
	machine *arch.Machine // nil if unknown
	pid     int
	command string
	file    string
	notes   []string
	core    *trace.Core // nil unless the target is a core
	damage  []string    // of a core or a recording; core and notes contain it too
	close   func()
	objects *stack.Objects                     // of a process or core, else nil
	process *snapshot.Process                  // source files are read with its rights
	search  func(root string) debugfile.Search // of snapshot.Options
}

// jitOpeners open the kinds of targets. openJIT asks them in this order. The error of one that does
// not know the target wraps snapshot.ErrUnknown.
var jitOpeners = []func(t *jitTarget, name string, flags *coreFlags) error{
	(*jitTarget).readSource,
	(*jitTarget).readRecording,
	(*jitTarget).readCodeFile, // the last, because a perf map has no magic number
}

// openJIT opens a process, a core, or a file that a runtime or perf has written. The caller must
// close the target.
func openJIT(name string, flags *jitFlags) (*jitTarget, error) {
	t := &jitTarget{close: func() {}}
	switch pids, err := expandNames([]string{name}); {
	case err != nil:
		return nil, err
	case len(pids) > 1:
		return nil, output.InputErrorf("%d processes are named %s; choose one: %s", len(pids), name, strings.Join(pids, ", "))
	default:
		name = pids[0]
	}
	unknown := t.check(name, &flags.core)
	if unknown != nil {
		return nil, unknown
	}
	for _, open := range jitOpeners {
		err := open(t, name, &flags.core)
		if !errors.Is(err, snapshot.ErrUnknown) {
			return t, err
		}
		unknown = cmp.Or(unknown, err)
	}
	return nil, unknown
}

// check returns an error for flags that are not for a process, and for a file that is not regular or
// is empty. Files are opened with the rights of their owner.
func (t *jitTarget) check(name string, flags *coreFlags) error {
	if snapshot.IsLive(name) { // not a path
		return flags.refuse()
	}
	info, err := input.Regular(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return output.InputErrorf("%s: no process and no file has this name", name)
	case err != nil:
		return err
	case info.Size() == 0:
		return output.InputErrorf("%s is empty", name)
	}
	owner := debugfile.User(untrusted.OwnerOf(info))
	t.process, t.search = &snapshot.Process{ReadAs: &owner}, input.SearchBelow
	return nil
}

// readCodeFile reads a jitdump or a perf map.
func (t *jitTarget) readCodeFile(name string, _ *coreFlags) error {
	if content, _ := input.ContentOf(name); content.MaybeCore() {
		return snapshot.ErrUnknown
	}
	t.file = name
	// A jitdump can have hundreds of megabytes, which stay in use; there is little garbage.
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

// readSource reads the code of a process, a core or a minidump.
func (t *jitTarget) readSource(name string, flags *coreFlags) error {
	source, err := openSource(name, flags, &snapshot.Options{Search: t.search})
	if err != nil {
		return output.InputError(err)
	}
	s, err := source.Snapshot()
	if err != nil {
		source.Close()
		return output.InputError(err)
	}
	t.command = command(s)
	t.readSnapshot(s, func() { source.Close() })
	if t.core = source.description(s); t.core == nil {
		return nil
	}
	for _, text := range t.core.Damage {
		t.damage = append(t.damage, "the core: "+text)
	}
	// A missing mapping is an object file if the core has its build ID.
	for _, missing := range t.core.Missing {
		if missing.BuildID != nil {
			t.memory = slices.DeleteFunc(t.memory, func(m snapshot.Mapping) bool { return m.Path == missing.Path })
		}
	}
	return nil
}

func (t *jitTarget) readSnapshot(s *snapshot.Snapshot, closeSource func()) {
	objects := stack.NewObjects(s)
	t.close = func() { objects.Close(); closeSource() }
	t.pid, t.machine, t.process, t.objects = s.PID, s.Machine, s.Process, objects
	var err error
	_, end := output.Progress("reading the generated code of "+targetLabel(s), 0)
	defer end()
	t.sources, err = objects.GeneratedCode()
	var omitted int
	t.memory, omitted = objects.CodeMemory()
	// The report prints the errors of sources.
	if err != nil && !slices.ContainsFunc(t.sources, func(s *generated.Source) bool { return s.Err != nil }) {
		t.notes = printable.Lines(err)
	}
	if omitted > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%d more ranges of executable memory are not listed", omitted))
	}
}

// readRecording reads the jitdumps and perf maps of the processes in a recording.
func (t *jitTarget) readRecording(name string, flags *coreFlags) error {
	if content, _ := input.ContentOf(name); content != input.Recording {
		return snapshot.ErrUnknown
	}
	r, err := perfdata.Open(name)
	if err != nil {
		return output.InputError(err)
	}
	defer r.Close()
	t.file = name
	t.process = nil // the recorded processes can belong to several users
	opts := recording.Options{Search: debugfile.Search{Root: flags.sysroot}}
	_, end := output.Progress("reading "+name, 0)
	defer end()
	if t.sources, t.notes, err = recording.CodeSources(r, opts); err != nil {
		t.notes = append(t.notes, err.Error())
		t.damage = append(t.damage, fmt.Sprintf("%s: %v", name, err))
	}
	t.machine = r.Machine()
	return nil
}

// functions returns the functions of all sources, sorted by address. Those at the same address are
// in the order of the sources.
func (t *jitTarget) functions() (all []jitcode.SourcedFunction) {
	for _, s := range t.sources {
		for f := range s.Functions() {
			all = append(all, jitcode.SourcedFunction{Function: f, Source: s})
		}
	}
	slices.SortStableFunc(all, func(a, b jitcode.SourcedFunction) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

func jitSources(name string, flags *jitFlags) error {
	t, err := openJIT(name, flags)
	if err != nil {
		return err
	}
	defer t.close()
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
