// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"errors"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
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
