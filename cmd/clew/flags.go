// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/style"
)

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

func (f *profileFlags) wanted() bool { return len(f.outputs()) > 0 }

// toOutput reports whether a profile goes to standard output.
func (f *profileFlags) toOutput() bool {
	return slices.ContainsFunc(f.outputs(), func(o profileOutput) bool { return o.path == "-" })
}

// check returns an error for flags that contradict each other. json is true if --json writes to
// standard output.
func (f *profileFlags) check(json bool) error {
	writers := make(map[string]string) // flags by path
	if json {
		writers["-"] = "--json"
	}
	for _, o := range f.outputs() {
		if other := writers[o.path]; other != "" {
			name := o.path
			if name == "-" {
				name = "standard output"
			}
			return fmt.Errorf("%s and %s both write to %s: choose one", other, o.flag, name)
		}
		writers[o.path] = o.flag
	}
	if _, known := profileRoots[f.by]; !known {
		return fmt.Errorf("unknown --by %q, expected process, thread, state or none", f.by)
	}
	if f.by != "" && f.flame == "" && !f.folded {
		return errors.New("--by is for --flame and --folded")
	}
	return nil
}

// profileRoots are the values of --by.
var profileRoots = map[string]profile.Roots{
	"": profile.DefaultRoots, "none": profile.NoRoots, "process": profile.ProcessRoots, "thread": profile.ThreadRoots, "state": profile.StateRoots,
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

func (f *profileFlags) write(p *profile.Profile) error {
	p.Roots = profileRoots[f.by]
	for _, o := range f.outputs() {
		if err := writeOutput(o.path, o.flag == "--pprof", func(w io.Writer) error { return o.write(p, w) }); err != nil {
			return output.InputErrorf("%w", err)
		}
	}
	return nil
}

// writeOutput writes a file, or standard output if the path is -. Binary data is not escaped.
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

var errSourcePath = errors.New("--source-path is for --source: give both")

func sourcePathFlag(to *[]string, usage string) cli.Flag {
	return &cli.StringSliceFlag{Name: "source-path", Destination: to, Usage: usage}
}

// sourceText returns a reader of source files that uses open, then looks below directories.
func sourceText(open func(path string) (*os.File, error), directories []string) *style.SourceFiles {
	text := &style.SourceFiles{Open: open}
	for _, dir := range directories {
		if abs, err := filepath.Abs(dir); err == nil {
			text.Path = append(text.Path, abs)
		}
	}
	return text
}

// warnOfSource warns if a source file was not read.
func warnOfSource(text *style.SourceFiles) {
	if err := text.Err(); err != nil {
		output.Warn("source file not shown: %v; --source-path DIR allows the files below DIR", err)
	}
}
