// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/profile"
)

// profileFlags are the flags of verbs that can write their stacks as a profile.
type profileFlags struct {
	pprof, flame, speedscope string
	folded                   bool
	by                       string
}

func (f *profileFlags) flags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "flame", Destination: &f.flame, Usage: "write a flame graph to `FILE`, a page of HTML"},
	}, grouped("Profiles",
		&cli.StringFlag{Name: "pprof", Destination: &f.pprof, Usage: "write a profile for pprof to `FILE`"},
		&cli.StringFlag{Name: "speedscope", Destination: &f.speedscope, Usage: "write a profile for speedscope to `FILE`"},
		&cli.BoolFlag{Name: "folded", Destination: &f.folded, Usage: "print folded stacks, one on each line"},
		&cli.StringFlag{Name: "by", Destination: &f.by, Usage: "with --flame and --folded: separate stacks by `WHAT`: process (the default if there are several), thread, state (of goroutines), or none"},
	)...)
}

// wanted reports whether a profile is to be written.
func (f *profileFlags) wanted() bool { return len(f.outputs()) > 0 }

// toOutput reports whether a profile goes to standard output.
func (f *profileFlags) toOutput() bool {
	return slices.ContainsFunc(f.outputs(), func(o profileOutput) bool { return o.path == "-" })
}

// check finds what makes no sense together. json says that standard output is
// already taken.
func (f *profileFlags) check(json bool) error {
	taken := make(map[string]string)
	if json {
		taken["-"] = "--json"
	}
	for _, o := range f.outputs() {
		other, where := taken[o.path], o.path
		if where == "-" {
			where = "standard output"
		}
		if other != "" {
			return fmt.Errorf("%s and %s both write to %s: choose one", other, o.flag, where)
		}
		taken[o.path] = o.flag
	}
	switch {
	case f.by != "" && f.by != "process" && f.by != "thread" && f.by != "state" && f.by != "none":
		return fmt.Errorf("unknown --by %q, expected process, thread, state or none", f.by)
	case f.by != "" && f.flame == "" && !f.folded:
		return errors.New("--by is for --flame and --folded")
	}
	return nil
}

type profileOutput struct {
	flag, path string
	write      func(*profile.Profile, io.Writer) error
}

func (f *profileFlags) outputs() (list []profileOutput) {
	add := func(flag, path string, write func(*profile.Profile, io.Writer) error) {
		if path != "" {
			list = append(list, profileOutput{flag, path, write})
		}
	}
	add("--pprof", f.pprof, (*profile.Profile).Pprof)
	add("--flame", f.flame, (*profile.Profile).Flame)
	add("--speedscope", f.speedscope, (*profile.Profile).Speedscope)
	if f.folded {
		add("--folded", "-", (*profile.Profile).Folded)
	}
	return list
}

// write writes the profile in each form that was asked for.
func (f *profileFlags) write(p *profile.Profile) error {
	switch f.by {
	case "none":
		p.Roots = profile.NoRoots
	case "process":
		p.Roots = profile.ProcessRoots
	case "thread":
		p.Roots = profile.ThreadRoots
	case "state":
		p.Roots = profile.StateRoots
	}
	for _, o := range f.outputs() {
		if err := writeOutput(o.path, o.flag == "--pprof", func(w io.Writer) error { return o.write(p, w) }); err != nil {
			return output.InputErrorf("%w", err)
		}
	}
	return nil
}

// writeOutput writes a file, or standard output if the path is "-". Binary data bypasses the
// escapes of text.
func writeOutput(path string, binary bool, write func(io.Writer) error) error {
	if path != "-" {
		return outputfile.Write(path, write)
	}
	var to io.Writer = output.Stdout
	if binary {
		if output.Stdout.IsTerminal() {
			return errors.New("a profile is not text, and standard output is a terminal: name a file, or pipe it to a program")
		}
		to = output.Stdout.Raw()
	}
	out := bufio.NewWriterSize(to, 1<<16)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}
