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
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/report"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack/recording"
	"github.com/clewdev/clew/target"
)

const jitHelp = `Print what is known of the code that a program wrote while it ran: from which
sources, how many functions of how many bytes, how much of it has no unwind table,
and the executable memory that no source tells of.

The target is a live process, which is stopped as by 'clew stack'; a core; a
jitdump or a perf map; or a recording of perf, whose processes' jitdumps and maps
are read. The sources of processes and cores, found without being configured:
  - the list of modules of Go's runtime, to which loaders such as
    github.com/bytedance/sonic add the code that they make
  - the lists of the GDB JIT interface, by their symbol, or by a search of the
    process's memory where it is stripped
  - jitdumps that the process has mapped, as perf asks for
  - libunwind's lists of dynamic unwind information
  - /tmp/perf-PID.map, in the process's mount and PID namespaces
A core has the lists in its memory. Of files it has only the paths: they are read
where they still are, and if they fit.

What a runtime has not written yet is not there: V8 writes its jitdump two
megabytes at a time.

'clew jit show' prints the unwind table, source lines and instructions of a
function, 'clew jit extract' writes its symbol file.`

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
		Name:  "jit",
		Usage: "Print what is known of generated code; show or extract a function of it",
		Description: jitHelp + "\n\nWith --json:\n" + report.GeneratedSchema + "\n\n" + exitHelp +
			"\nHere 1 is: there is no source, or of one something could not be read.",
		UsageText: `clew jit PID|FILE [flags]
  clew jit show NAME|ADDR PID|FILE [flags]
  clew jit extract NAME|ADDR PID|FILE -o FILE
  clew jit extract --all PID|FILE -o DIR

Examples:
  clew jit 4711                       what process 4711 tells of its code
  clew jit core.4711                  or a core of it
  clew jit jit-4711.dump --json       or a jitdump
  clew jit show fib 4711              a function's unwind table and instructions
  clew jit extract fib 4711 -o fib.o  its symbol file, for readelf and gdb`,
		Flags: append([]cli.Flag{jsonFlag("one JSON object")}, flags.core.flags()...),
		Action: func(_ context.Context, c *cli.Command) error {
			switch c.Args().Len() {
			case 0:
				return errors.New("whose code? Name a process by its ID, a core, a jitdump, a perf map, or a recording")
			case 1:
				return jitSources(c.Args().First(), &flags)
			}
			return fmt.Errorf("one PID or FILE at a time, got %d arguments; 'show' and 'extract' take a function too", c.Args().Len())
		},
		Commands: []*cli.Command{{
			Name:  "show",
			Usage: "Print a generated function's unwind table, lines and instructions",
			Description: `Print the unwind table of a generated function as 'clew table' does, then its
instructions beside the rows and under the source lines. The target names the source
files; so root reads only those that the target's user may read, and all below the
folders of --source-path.

The function is named as its source names it, or demangled, or by a glob, or by a
part of the name; or by an address in it. Where a jitdump or a perf map says that a
function of the name was overwritten or moved, a line says where it was, until when,
and by what.` + "\n\nWith --json:\n" + report.GeneratedFunctionSchema + "\n" + report.FormerFunctionSchema + "\n\n" + exitHelp +
				"\nHere 1 is: no function is called so, something of it is not known, or the core or the recording is damaged.",
			UsageText: "clew jit show NAME|ADDR PID|FILE [flags]",
			Flags: append([]cli.Flag{
				jsonFlag("one JSON object a function"),
				sourcePathFlag(&flags.sourcePath, "look for source files below `DIR` too"),
			}, flags.core.flags()...),
			Action: func(_ context.Context, c *cli.Command) error {
				if c.Args().Len() != 2 {
					return fmt.Errorf("it takes a function (its name, or an address in it) and a PID or FILE, got %d arguments", c.Args().Len())
				}
				return jitShow(c.Args().Get(0), c.Args().Get(1), &flags)
			},
		}, {
			Name:  "extract",
			Usage: "Write the symbol file of generated code",
			Description: `Write the symbol file (ELF) that a runtime registered with debuggers for a
function, as it is; of functions that a jitdump, a dyn-info list or a perf map
describes, one that says the same. It has names, unwind tables and lines at
run-time addresses, and no code. With --all all of them are written into a folder,
which is made.

readelf, 'clew table' and gdb's add-symbol-file read it.

With --json there is a line for each file: {"file", "source", "place", "bytes"}.` + "\n\n" + exitHelp +
				"\nHere 1 is: no function is called so, something of it was left out, or the core or the recording is damaged.",
			UsageText: `clew jit extract NAME|ADDR PID|FILE -o FILE
  clew jit extract --all PID|FILE -o DIR`,
			Flags: append([]cli.Flag{
				&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Destination: &flags.output, Usage: "write to `PATH`: a file, - for standard output, with --all a folder"},
				&cli.BoolFlag{Name: "all", Destination: &flags.all, Usage: "all of the code"},
				jsonFlag("a JSON object a file that was written"),
			}, flags.core.flags()...),
			Action: func(_ context.Context, c *cli.Command) error { return jitExtract(c.Args().Slice(), &flags) },
		}},
	}
}

// jitTarget is what the jit verb is asked about.
type jitTarget struct {
	sources  []*target.CodeSource
	memory   []snapshot.Mapping
	machine  *arch.Machine // nil where it is not known
	pid      int
	command  string
	file     string
	notes    []string
	core     *report.Core // nil of what is none
	damage   []string     // of a core or a recording; the core and notes have it too
	released func()
	process  *snapshot.Process // whose source files are read
}

// openJIT opens a process, a core, or a file that a runtime or perf has written.
// It must be released.
func openJIT(name string, flags *jitFlags) (*jitTarget, error) {
	t := &jitTarget{released: func() {}}
	if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
		if err := flags.core.refuse(); err != nil {
			return nil, err
		}
		s, err := process.Snapshot(pid, nil)
		if err != nil {
			return nil, inputError{err}
		}
		t.command = command(s)
		t.of(s, func() {})
		return t, nil
	}
	info, err := regular(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, input("%s: no such file, and no process ID; 'pidof %[1]s' may find it", name)
	case err != nil:
		return nil, err
	case info.Size() == 0:
		return nil, input("%s is empty", name)
	}
	owner := snapshot.User(untrusted.OwnerOf(info))
	t.process = &snapshot.Process{ReadAs: &owner}
	switch is, err := contentOf(name); {
	case err != nil:
		return nil, inputError{err}
	case is == recordingFile:
		t.process = nil // its processes can be of several users, whoever recorded them
		return t, t.recording(name, flags)
	case is.maybeCore():
		c, err := openCore(name, &flags.core)
		if err != nil {
			return nil, inputError{err}
		}
		t.command = command(c.Snapshot())
		t.of(c.Snapshot(), func() { c.Close() })
		t.core = (&openedCore{c, name}).facts()
		for _, text := range t.core.Damage {
			t.damage = append(t.damage, "the core: "+text)
		}
		// What is missing is an object file where the core has the build ID of it.
		for _, m := range t.core.Missing {
			if m.BuildID != nil {
				t.memory = slices.DeleteFunc(t.memory, func(have snapshot.Mapping) bool { return have.Path == m.Path })
			}
		}
		return t, nil
	}
	t.file = name
	// A jitdump can have hundreds of megabytes, which stay; garbage is little.
	debug.SetGCPercent(25)
	_, end := progress("reading "+name, 0)
	source, err := target.OpenCodeSource(name)
	end()
	if err != nil {
		return nil, input("%w\nClew reads cores, jitdumps, perf maps and recordings of perf.", err)
	}
	t.sources = []*target.CodeSource{source}
	t.machine = source.Machine()
	return t, nil
}

// of takes the code of a snapshot.
func (t *jitTarget) of(s *snapshot.Snapshot, release func()) {
	objects := target.NewObjects(s)
	t.released = func() { objects.Close(); release() }
	t.pid, t.machine, t.process = s.PID, s.Machine, s.Process
	var err error
	_, end := progress("reading what is known of the code of "+whose(s), 0)
	defer end()
	t.sources, err = objects.GeneratedCode()
	t.memory = objects.CodeMemory()
	told := false
	for _, source := range t.sources {
		told = told || source.Err != nil
	}
	if err != nil && !told {
		t.notes = strings.Split(err.Error(), "\n")
	}
}

// recording takes the jitdumps that the processes of a recording had mapped, and
// their perf maps.
func (t *jitTarget) recording(name string, flags *jitFlags) error {
	if err := exist(flags.core.sysroot); err != nil {
		return err
	}
	r, err := perfdata.Open(name)
	if err != nil {
		return inputError{err}
	}
	defer r.Close()
	t.file = name
	opts := recording.Options{Search: debugfile.Search{Root: flags.core.sysroot}}
	_, end := progress("reading "+name, 0)
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
func (t *jitTarget) functions() (all []report.SourcedFunction) {
	for _, s := range t.sources {
		for f := range s.Functions() {
			all = append(all, report.SourcedFunction{GeneratedFunction: f, Source: s})
		}
	}
	slices.SortStableFunc(all, func(a, b report.SourcedFunction) int {
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
	r := report.NewGeneratedCode(t.sources, t.memory)
	r.PID, r.Command, r.File, r.Notes = t.pid, t.command, t.file, t.notes
	r.SetCore(t.core)
	if flags.json {
		err = r.JSON(stdout)
	} else {
		err = r.Text(stdout, stdout.palette())
	}
	if err == nil && !r.Complete() {
		return status(exitNo)
	}
	return err
}
