// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/check/coderules"
	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/stack/variable"
)

const stackHelp = `Print the stacks of all threads of live processes or of cores, or of a command when
it crashes or you press Ctrl-\. Native, Go and generated frames appear in one list.

Name a process by its ID or its name; a name selects all processes of that name. Each
process stops for about a millisecond, while its registers and stacks are copied.`

type stackFlags struct {
	json, registers, noLines  bool
	group, noGroup, allFrames bool
	threads                   []int
	core                      coreFlags
	profile                   profileFlags
	goroutineFlags
	watch     watchFlags
	hold      bool
	variables variableFlags
	into      *profile.Profile // the profile to write
	crashed   bool             // the stacks belong to a command after --
}

func stackCommand() *cli.Command {
	flags := stackFlags{into: profile.New("threads")}
	return &cli.Command{
		Name:          "stack",
		Usage:         "Print the stacks of live processes, of cores, or of a command when it crashes",
		Description:   stackHelp,
		ShellComplete: completeProcesses(),
		Metadata:      manual.SeeAlso("frames", "values", "go", "generated", "cores", "watch", "profiles", "debuginfod", "json", "exit-codes"),
		UsageText: `clew stack PID|NAME|CORE... [flags]
  clew stack [flags] -- COMMAND [ARG]...

Examples:
  clew stack 4711                      every thread of process 4711
  clew stack postgres                  every process of that name
  clew stack --goroutines 4711         the goroutines of a Go program
  clew stack core.4711                 a core, with the arguments of each function
  clew stack -- ./server -port 80      run it; print its stacks when it crashes`,
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "json", Destination: &flags.json, Usage: "print JSON, an object for each process"},
			&cli.IntSliceFlag{Name: "thread", Destination: &flags.threads, Usage: "only the threads with these `TID`s"},
		}, grouped("Frames",
			&cli.BoolFlag{Name: "registers", Destination: &flags.registers, Usage: "print the registers known in each frame"},
			&cli.BoolFlag{Name: "no-lines", Destination: &flags.noLines, Usage: "omit source lines, inlined calls and tail calls, which take most of the time"},
			&cli.BoolFlag{Name: "group", Destination: &flags.group, Usage: "print equal stacks once, with all their threads; the default for text above ten threads"},
			&cli.BoolFlag{Name: "no-group", Destination: &flags.noGroup, Usage: "print each thread by itself"},
			&cli.BoolFlag{Name: "all-frames", Destination: &flags.allFrames, Usage: "print every frame of a recursion"},
		), flags.goroutineFlags.flags(), flags.watch.flags(), flags.variables.flags(), grouped("Values",
			&cli.BoolFlag{Name: "hold", Destination: &flags.hold, Usage: "keep a live process stopped until everything is read, so that all values belong together"},
		), flags.core.flags(), flags.profile.flags()),
		Action: func(_ context.Context, c *cli.Command) error {
			collectLate()
			if !c.IsSet("thread") {
				flags.threads = nil // the library sets it to an empty slice, which selects no thread
			}
			if err := errors.Join(flags.check(), flags.watch.check(&flags, c.IsSet("watch"))); err != nil {
				return err
			}
			if flags.goroutines {
				flags.into = profile.New("goroutines")
			}
			targets, command, dashed := atDash(c)
			pids, err := expandNames(targets)
			if err != nil {
				return err
			}
			switch {
			case flags.watch.interval > 0 && dashed:
				return errors.New("--watch needs process IDs, not a command")
			case flags.watch.interval > 0:
				return watchProcesses(pids, flags)
			case dashed && len(pids) > 0:
				return errors.New("either processes or a command after --, not both")
			case flags.hold && (dashed || slices.ContainsFunc(pids, func(arg string) bool { return !snapshot.IsLive(arg) })):
				return errors.New("--hold is for live processes: a core or a crashed command does not run")
			case len(command) > 0:
				if err := flags.core.refuse(); err != nil {
					return err
				}
				return runCommand(command, flags)
			}
			return stacksOf(pids, flags)
		},
	}
}

func (f *stackFlags) check() error {
	switch {
	case f.group && f.noGroup:
		return errors.New("--group and --no-group: choose one")
	case f.group && f.registers:
		return errors.New("registers differ between the threads of a group: choose --registers or --group")
	}
	for _, err := range []error{f.variables.check(f), f.checkGoroutines(), f.checkHold()} {
		if err != nil {
			return err
		}
	}
	return f.profile.check(f.json)
}

// manyThreads is the number of threads from which on equal stacks are grouped by default, because
// the stacks do not fit on a screen.
const manyThreads = 11

// groupFrom returns the number of stacks from which on equal stacks are grouped, 0 for never. The
// form of output for programs does not depend on the number.
func (f *stackFlags) groupFrom() int {
	switch {
	case f.group:
		return 1
	case f.noGroup || f.json || f.registers:
		return 0
	}
	return manyThreads
}

// checkTargets returns an error for an argument that is neither a process nor a file. It checks all
// arguments before the first is opened, so it needs to know which of them are paths.
func checkTargets(args []string, flags *stackFlags) error {
	if len(args) == 0 {
		return errors.New("name a process by its ID or its name, a core by its path, or a command after --")
	}
	allLive := true
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		if arg == "" {
			return errors.New("empty argument (did pidof find nothing?)")
		}
		if err == nil && pid <= 0 {
			return errors.New(arg + " is not a process ID: they start at 1")
		}
		if snapshot.IsLive(arg) {
			continue
		}
		allLive = false
		if info, err := input.Regular(arg); info == nil {
			if strings.Contains(arg, "/") || strings.HasPrefix(arg, "core") {
				if errors.Is(err, fs.ErrNotExist) {
					return output.InputErrorf("%s: no such file", arg)
				}
				return output.InputError(err)
			}
			if _, err := exec.LookPath(arg); err == nil {
				return fmt.Errorf("no process and no file is named %s; 'clew stack -- %[1]s' runs it", arg)
			}
			return fmt.Errorf("no process and no file is named %s", arg)
		}
	}
	if allLive {
		return flags.core.refuse()
	}
	return nil
}

func stacksOf(args []string, flags stackFlags) error {
	if err := checkTargets(args, &flags); err != nil {
		return err
	}
	var failed error
	partial, printed, separate := false, false, false
	fail := func(err error) {
		if failed != nil {
			output.Warn("%v", failed)
		}
		failed = err
	}
	for _, name := range args {
		var t *stack.Walked
		var source *openedSource
		var err error
		show := func(w io.Writer) (complete bool, err error) { return printStacks(w, output.Stdout.Palette(), t, flags) }
		if flags.hold {
			show, err = holdStacks(name, flags)
		} else {
			source, t, err = flags.take(name)
		}
		if err != nil {
			fail(output.InputError(err))
			continue
		}
		if separate && !flags.json && !flags.profile.wanted() {
			fmt.Fprintln(output.Stdout)
		}
		flags.core.opened = source
		complete, err := show(output.Stdout)
		complete = source.close() && complete
		separate = err == nil
		if errors.Is(err, golang.ErrNoGo) { // the next target may be a Go program
			fail(err)
			continue
		}
		if err != nil {
			return err
		}
		printed = true
		partial = partial || !complete
	}
	return flags.finish(printed, partial, failed)
}

func (f *stackFlags) options() *snapshot.Options {
	return &snapshot.Options{Threads: f.threads, Goroutines: f.goroutines, Vectors: f.variables.wanted(true, f), Search: input.SearchBelow}
}

// take opens a source and takes its snapshot. It has stacks if the source can walk them early.
func (f *stackFlags) take(name string) (*openedSource, *stack.Walked, error) {
	source, err := openSource(name, &f.core, f.options())
	if err != nil {
		return nil, nil, explainUnknown(name, err)
	}
	t, err := f.walked(source)
	if err != nil {
		source.Close()
		return nil, nil, err
	}
	return source, t, nil
}

// walked takes the snapshot of a source. It has stacks if the source can walk them early.
func (f *stackFlags) walked(source *openedSource) (*stack.Walked, error) {
	if early, ok := source.Source.(stack.EarlyWalker); ok && !f.goroutines {
		return early.WalkedSnapshot(f.walk(f.variables.wanted(source.live, f)))
	}
	s, err := source.Snapshot()
	if err != nil {
		return nil, err
	}
	return &stack.Walked{Snapshot: s, Objects: newObjects(s)}, nil
}

// walk returns the options of a walk. variables makes it keep registers.
func (f *stackFlags) walk(variables bool) stack.WalkOptions {
	return stack.WalkOptions{Registers: f.registers || variables, Lines: !f.noLines, Analyzer: new(coderules.Analyzer)}
}

// newObjects returns the objects of a snapshot. Functions without a table are analysed.
func newObjects(s *snapshot.Snapshot) *stack.Objects {
	objects := stack.NewObjects(s)
	objects.Analyzer = new(coderules.Analyzer)
	return objects
}

// finish writes the profile of the printed stacks, if the flags ask for one, and returns the error of
// the command.
func (f *stackFlags) finish(printed, partial bool, failed error) error {
	if printed && f.profile.wanted() {
		for _, note := range f.into.Notes {
			output.Warn("%s", note)
		}
		if err := f.profile.write(f.into); err != nil {
			return err
		}
	}
	switch {
	case failed != nil:
		return failed
	case partial:
		return output.Status(output.ExitNo)
	}
	return nil
}

// printStacks names and prints the stacks of a snapshot, and closes its objects. It walks the stacks
// first unless t has them. It reports whether all stacks are whole (see stack.Stack.Whole), and no
// file was refused or is missing.
func printStacks(w io.Writer, colours style.Palette, t *stack.Walked, flags stackFlags) (complete bool, err error) {
	s, objects := t.Snapshot, t.Objects
	defer objects.Close()
	if flags.goroutines {
		return printGoroutines(w, colours, s, objects, flags)
	}
	_, end := output.Progress("walking and naming the stacks of "+targetLabel(s), 0)
	variables := flags.variables.wanted(s.Live && !flags.crashed, &flags)
	stacks := t.Stacks
	if stacks == nil {
		stacks = objects.Walk(flags.walk(variables))
	}
	naming := stack.NameOptions{Lines: !flags.noLines}
	var reader *variable.Reader
	if variables {
		reader = variable.NewReader(s, objects)
		naming.Meanwhile = reader.Ahead(stacks)
	}
	err = objects.Name(stacks, naming)
	end()
	missed, complete := warnOfMissing(s, stacks, err)
	for i := range stacks {
		complete = complete && stacks[i].Whole()
	}
	from := flags.groupFrom()
	r := trace.Threads{Target: flags.target(s, missed), Stacks: stacks, Grouped: from > 0 && len(stacks) >= from, Registers: flags.registers}
	if variables {
		r.Variables, r.Locals, r.Raw, r.Advice = reader, flags.variables.locals, flags.variables.raw, flags.variables.advice()
	}
	return complete, flags.print(w, colours, objects, &r)
}

// print prints a report of stacks in the form that the flags select, and adds it to the profile.
func (f *stackFlags) print(w io.Writer, colours style.Palette, objects *stack.Objects, r interface {
	AddTo(*profile.Profile)
	JSON(io.Writer) error
	Text(io.Writer, trace.Options) error
}) error {
	if f.profile.wanted() {
		r.AddTo(f.into)
	}
	switch {
	case f.json:
		return r.JSON(w)
	case f.profile.wanted():
		return nil
	}
	text := f.variables.text(objects)
	defer warnOfSource(text)
	return r.Text(w, trace.Options{Palette: colours, AllFrames: f.allFrames, UTF8: output.UTF8(), Source: text})
}

// targetLabel returns the name of a snapshot's target for messages.
func targetLabel(s *snapshot.Snapshot) string {
	if s.PID == 0 { // a core that ends before its notes
		return "an unknown process"
	}
	return fmt.Sprintf("process %d", s.PID)
}

func (f *stackFlags) target(s *snapshot.Snapshot, missed []string) trace.Target {
	return trace.Target{PID: s.PID, Command: command(s), Machine: s.Machine, Pause: s.Pause, Core: f.core.opened.description(s), Signal: s.Signal, Missed: missed}
}
