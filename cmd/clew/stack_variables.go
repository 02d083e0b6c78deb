// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"errors"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/report"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack/variable"
	"github.com/clewdev/clew/target"
)

const variablesHelp = `Of cores and of commands that crash the arguments are shown, as gdb shows them: "f2c
(f=98) at f2c.c:12"; of live processes with --args. n=n@entry=5 was 5 when the
function was called too, "<optimized out>" is what the debugging information has no
place for, "..." a structure, which --json has whole. A std::string of C++ or a
String of Rust is its text, and a vector, map or pointer of their libraries what gdb
has with the printers that come with these; --raw shows the members that they are
made of. Values of Go are written as Delve writes them: "s=[]int len: 3, cap: 8,
[1,2,3]"; the arguments of a Go program without debugging information are the numbers
of Go's own traces, as in "f (0x5, {0xc000012120, 0x3})", with a question mark where
something else may be left. Of optimized code Go's compiler knows less: a value can
be lost, or be that of before the last assignment, and so can what Go's own traces
have where it is lost: "n=<optimized out, 0x5 in a trace>". Text of C beyond ASCII is
escaped where the locale is not one of UTF-8, and what a terminal would obey always
is. --locals shows the variables of each frame below it, innermost block first. What
a live process's registers and stack hold is of the moment it stood still; what only
lies in its other memory (the text behind a pointer) is read after it ran on, and the
frame says so: [values read after the process ran on]. Threads that are shown as one
have <differs> where their values are not the same.

With --source three lines of the source are shown around each frame, where the
file is at hand: where it was compiled, or below a folder of --source-path. The target
names the file; so root reads only files there that the target's user may read, below
the target's root directory, and all files below the folders of --source-path.`

// variableFlags are the flags for what a frame's function is called with, and for
// its source.
type variableFlags struct {
	args, noArgs, locals, raw, source bool
	sourcePath                        []string
	later                             bool // the target is held: see report.SourceText
}

func (f *variableFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "args", Destination: &f.args, Usage: "also the arguments of each function; of cores and crashes unasked"},
		&cli.BoolFlag{Name: "no-args", Destination: &f.noArgs, Usage: "no arguments"},
		&cli.BoolFlag{Name: "locals", Destination: &f.locals, Usage: "also the local variables of each frame, and the arguments"},
		&cli.BoolFlag{Name: "raw", Destination: &f.raw, Usage: "values of the libraries of C++ and Rust as the members that they are made of"},
		&cli.BoolFlag{Name: "source", Destination: &f.source, Usage: "also three lines of the source around each frame"},
		sourcePathFlag(&f.sourcePath, "with --source: look for files below `DIR` too"),
	}
}

// check finds what makes no sense together.
func (f *variableFlags) check(flags *stackFlags) error {
	switch {
	case f.noArgs && (f.args || f.locals):
		return errors.New("--no-args takes back what --args and --locals ask for: choose one")
	case flags.noLines && (f.args || f.locals || f.source):
		return errors.New("--no-lines reads no debugging information, which tells of variables and lines: choose it or --args, --locals and --source")
	case flags.json && f.source:
		return errors.New("--source shows lines to people: with --json each frame names its file and line")
	case len(f.sourcePath) > 0 && !f.source:
		return errSourcePath
	}
	return nil
}

// wanted reports whether arguments are shown of a snapshot.
func (f *variableFlags) wanted(live bool, flags *stackFlags) bool {
	switch {
	case flags.profile.wanted(), flags.noLines, f.noArgs:
		return false
	case f.args || f.locals:
		return true
	}
	return !live
}

// add has a report show the variables that are wanted.
func (f *variableFlags) add(r *report.Stacks, reader *variable.Reader) {
	r.Variables, r.Locals, r.Raw, r.Advice = reader, f.locals, f.raw, f.advice()
}

// addGoroutines does what add does.
func (f *variableFlags) addGoroutines(r *report.Goroutines, s *snapshot.Snapshot, objects *target.Objects) {
	r.Variables, r.Locals, r.Raw, r.Advice = variable.NewReader(s, objects), f.locals, f.raw, f.advice()
}

// advice is how to get debugging information. Who did not ask for variables is not told.
func (f *variableFlags) advice() string {
	switch {
	case !f.args && !f.locals:
		return ""
	case fetch() == nil:
		return "install debug symbols or set DEBUGINFOD_URLS"
	}
	return "install debug symbols; no server in DEBUGINFOD_URLS gave them"
}

// text is where the lines of the source of a target are read, nil where they are not
// wanted.
func (f *variableFlags) text(s *snapshot.Snapshot) *report.SourceText {
	if !f.source {
		return nil
	}
	text := sourceText(s.Process.OpenSource, f.sourcePath)
	text.Later = f.later
	return text
}
