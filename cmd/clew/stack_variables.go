// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
)

type variableFlags struct {
	args, noArgs, locals, raw, source bool
	sourcePath                        []string
	later                             bool // read source lines later: see style.SourceFiles
}

func (f *variableFlags) flags() []cli.Flag {
	return append([]cli.Flag{
		&cli.BoolFlag{Name: "args", Destination: &f.args, Usage: "print the arguments of each function; the default for cores and crashes"},
	}, grouped("Values",
		&cli.BoolFlag{Name: "no-args", Destination: &f.noArgs, Usage: "omit the arguments"},
		&cli.BoolFlag{Name: "locals", Destination: &f.locals, Usage: "print the local variables of each frame, and the arguments"},
		&cli.BoolFlag{Name: "raw", Destination: &f.raw, Usage: "print values of the C++ and Rust libraries as their members"},
		&cli.BoolFlag{Name: "source", Destination: &f.source, Usage: "print three lines of source around each frame"},
		sourcePathFlag(&f.sourcePath, "with --source: look for files below `DIR` too"),
	)...)
}

func (f *variableFlags) check(flags *stackFlags) error {
	switch {
	case f.noArgs && (f.args || f.locals):
		return errors.New("--no-args contradicts --args and --locals: choose one")
	case flags.noLines && (f.args || f.locals || f.source):
		return errors.New("--no-lines skips the debugging information that --args, --locals and --source need: choose one")
	case flags.json && f.source:
		return errors.New("--source prints text: with --json each frame names its file and line")
	case len(f.sourcePath) > 0 && !f.source:
		return errSourcePath
	}
	return nil
}

func (f *variableFlags) wanted(live bool, flags *stackFlags) bool {
	switch {
	case flags.profile.wanted(), flags.noLines, f.noArgs:
		return false
	case f.args || f.locals:
		return true
	}
	return !live
}

// advice returns advice on getting debugging information, "" if variables are printed by default
// only.
func (f *variableFlags) advice() string {
	switch {
	case !f.args && !f.locals:
		return ""
	case input.Fetch() == nil:
		return "install debug symbols or set DEBUGINFOD_URLS"
	}
	return "install debug symbols; no server in DEBUGINFOD_URLS had them"
}

// text returns the reader of a target's source files, nil without --source.
func (f *variableFlags) text(objects *stack.Objects) *style.SourceFiles {
	if !f.source {
		return nil
	}
	text := sourceText(objects.OpenSource, f.sourcePath)
	text.Later = f.later
	return text
}

// checkHold returns an error for flags that contradict --hold. With --hold, arguments are printed by
// default.
func (f *stackFlags) checkHold() error {
	switch {
	case !f.hold:
		return nil
	case f.profile.wanted():
		return errors.New("--hold reads variables; a profile contains none: choose one")
	}
	f.variables.args = f.variables.args || !f.variables.noArgs && !f.noLines
	return nil
}

// holdStacks formats the stacks of a process while it stands still. The returned function writes
// them.
func holdStacks(name string, flags stackFlags) (show func(io.Writer) (complete bool, err error), err error) {
	objects, err := readAhead(name, &flags)
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	var text bytes.Buffer
	var complete bool
	var failed error
	var source *style.SourceFiles
	opts := flags.options()
	opts.Hold = func(s *snapshot.Snapshot) {
		objects.SetSnapshot(s)
		s.Command = commandLine(s.PID) // it is lost if the process ends
		flags.variables.later = true
		complete, failed = printStacks(&text, output.Stdout.Palette(), &stack.Walked{Snapshot: s, Objects: objects}, flags)
		source = flags.variables.text(objects)
	}
	held, err := openSource(name, &flags.core, opts)
	if err != nil {
		return nil, err
	}
	defer held.Close()
	s, err := held.Snapshot()
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) (bool, error) {
		if _, err := w.Write(filled(source, text.Bytes(), output.Stdout.Palette())); err != nil {
			return false, err
		}
		output.Warn("process %d stood still for %v until everything was read", s.PID, s.Pause.Round(10*time.Microsecond))
		return complete, failed
	}, nil
}

// filled adds source lines to the stacks of a target that was held. It reads the lines after the
// target runs again.
func filled(source *style.SourceFiles, text []byte, colours style.Palette) []byte {
	if source == nil {
		return text
	}
	defer warnOfSource(source)
	return source.Fill(text, colours)
}

// readAhead returns the objects of a process after reading the files that printing its stacks needs.
func readAhead(name string, flags *stackFlags) (*stack.Objects, error) {
	variables := flags.variables.wanted(true, flags)
	_, t, err := flags.take(name)
	if err != nil {
		return nil, err
	}
	if t.Stacks == nil {
		t.Stacks = t.Objects.Walk(flags.walk(variables))
	}
	naming := stack.NameOptions{Lines: !flags.noLines}
	if variables {
		naming.Meanwhile = variable.NewReader(t.Snapshot, t.Objects).Ahead(t.Stacks)
	}
	_ = t.Objects.Name(t.Stacks, naming) // the second naming reports the errors
	return t.Objects, nil
}
