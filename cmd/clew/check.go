// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/check/survey"
	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/tablecheck"
	"github.com/clewdev/clew/snapshot"
)

const checkHelp = `Check unwind tables against the code that they describe: is each row right at each
instruction? Clew follows every path through a function, and compares where the
caller's registers are with the rules of the table.

  f  0x1100  f.c:3
    +0x1  0x1101  f.c:4 (2 instructions)
      wrong CFA: CFA = rsp+16 by the code, CFA = rsp+8 by the table
                           table  code
        0x1100  push %rbx  rsp+8  rsp+8
      > 0x1101  nop        rsp+8  rsp+16
      fix: .cfi_def_cfa_offset 16 before 0x1101

An instruction is undecided if the analysis does not know enough, for example if no
path leads to it. Clew also checks the structure of the sections. A note is about
something that is not a defect, such as code without an entry. It does not change the
exit code. One note stands for the findings of a compiler whose rows are right at calls
only, as those of LLVM 14 for arm64; --func shows the findings of a function.

For a process or a core, Clew checks all mapped object files with the bytes in memory,
and the generated code that a GDB JIT list, a jitdump or libunwind's list describes.

With -- COMMAND, Clew runs the command to its end and checks the code that it generates.
The command's output goes to standard error. Clew looks at the lists about every
millisecond and once more at the end: it can miss code that is withdrawn sooner.`

type checkFlags struct {
	json, sarif   bool
	paths         bool
	jobs          int
	functions     []string
	scratch       []string
	baseline      string
	writeBaseline string
	core          coreFlags
}

func checkCommand() *cli.Command {
	var flags checkFlags
	return &cli.Command{
		Name:          "check",
		Usage:         "Check unwind tables against the code",
		Description:   checkHelp,
		ShellComplete: completeFunctions("--func", "-f"),
		Metadata:      manual.SeeAlso("rules", "json", "exit-codes"),
		UsageText: `clew check FILE|PID|CORE|JITDUMP... [flags]
  clew check [flags] -- COMMAND [ARG]...

Examples:
  clew check a.out libfoo.so
  clew check 4711                           a process, and the code that it generates
  clew check -- ./server --jit              what a program generates while it runs
  clew check a.out --baseline known.json    only what the file does not list
  clew check a.out --sarif > check.sarif    for code review tools`,
		// Names of C++ functions have commas.
		DisableSliceFlagSeparator: true,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "func", Aliases: []string{"f"}, Destination: &flags.functions, Usage: "only the function `NAME`: a symbol, a demangled name, or a glob over either"},
			&cli.BoolFlag{Name: "json", Destination: &flags.json, Usage: "print JSON, one line for each finding and a summary"},
			&cli.BoolFlag{Name: "sarif", Destination: &flags.sarif, Usage: "print a SARIF 2.1.0 log"},
			&cli.StringFlag{Name: "baseline", Destination: &flags.baseline, Usage: "do not report the findings in `FILE`, which --write-baseline or --json wrote"},
		}, grouped("More",
			&cli.StringFlag{Name: "write-baseline", Destination: &flags.writeBaseline, Usage: "write the findings to `FILE`, and exit with 0"},
			&cli.StringSliceFlag{Name: "scratch", Destination: &flags.scratch, Usage: "functions need not preserve `REGISTER`, which a runtime uses for itself"},
			&cli.BoolFlag{Name: "path", Destination: &flags.paths, Usage: "print the instructions that lead to each finding"},
			&cli.IntFlag{Name: "jobs", Destination: &flags.jobs, HideDefault: true, Usage: "check `N` files, or pieces of a large file, at the same time; the default is the number of processors"},
		), flags.core.flags()),
		Action: func(_ context.Context, c *cli.Command) error {
			names, command, dashed := atDash(c)
			switch {
			case dashed && (len(names) > 0 || len(command) == 0):
				return errors.New("expected either files and processes, or one command after --")
			case c.Args().Len() == 0:
				return errors.New("which FILE? Name a program, a shared library, a process, a core or a jitdump")
			case flags.json && flags.sarif:
				return errors.New("--json and --sarif are two formats: choose one")
			case flags.jobs < 0 || c.IsSet("jobs") && flags.jobs == 0:
				return fmt.Errorf("--jobs %d: expected at least 1", flags.jobs)
			}
			return flags.run(names, command)
		},
	}
}

// checkInput is what was opened for the arguments.
type checkInput struct {
	parts  []*survey.Part
	failed error // of the last argument that cannot be checked
	partly bool  // a part of an argument cannot be checked
	close  []func()
}

// fail keeps an error until the end, and prints the previous one.
func (in *checkInput) fail(err error) {
	if in.failed != nil {
		output.Warn("%v", in.failed)
	}
	in.failed = err
}

func (in *checkInput) open(name string, flags *coreFlags) {
	var err error
	for _, open := range checkOpeners {
		if err = open(in, name, flags); !errors.Is(err, snapshot.ErrUnknown) {
			break
		}
	}
	if err != nil {
		in.fail(err)
	}
}

func (in *checkInput) openFile(name string, _ *coreFlags) error {
	switch content, err := input.ContentOf(name); {
	case snapshot.IsLive(name), err == nil && content != input.ELF && content != input.Archive:
		return snapshot.ErrUnknown
	case errors.Is(err, fs.ErrNotExist):
		return output.InputErrorf("%s: no such file (%w)", name, snapshot.ErrUnknown)
	}
	f, err := input.OpenELF(name)
	if err != nil {
		return err
	}
	in.close = append(in.close, func() { input.WarnOfDamage(f); f.Close() })
	p, err := survey.ELF(f)
	if err != nil {
		return output.InputError(err)
	}
	in.parts = append(in.parts, p)
	return nil
}

func (flags *checkFlags) printer() tablecheck.Printer {
	switch {
	case flags.json:
		return tablecheck.JSON{}
	case flags.sarif:
		return &tablecheck.SARIF{Version: version()}
	}
	return &tablecheck.Text{Palette: output.Stdout.Palette(), Paths: flags.paths, Brief: len(flags.functions) > 0}
}

// run checks what the arguments name, or the code that a command generates.
func (flags *checkFlags) run(names, command []string) error {
	s := survey.Survey{Jobs: flags.jobs, Scratch: flags.scratch}
	for _, name := range flags.functions {
		s.Functions = append(s.Functions, style.NewPattern(name).Match)
	}
	var err error
	if s.Baseline, err = readBaseline(flags.baseline); err != nil {
		return err
	}
	var in checkInput
	for _, name := range names {
		in.open(name, &flags.core)
	}
	if len(command) > 0 {
		if err := in.runCommand(command); err != nil {
			in.fail(err)
		}
	}
	defer func() {
		for _, end := range in.close {
			end()
		}
	}()
	total, found, err := flags.print(&s, &in)
	if err != nil {
		return err
	}
	if flags.writeBaseline != "" {
		if err := writeOutput(flags.writeBaseline, false, found.Write); err != nil {
			return output.InputError(err)
		}
	}
	missing := unmatched(&s, flags.functions, &in)
	switch {
	case in.failed != nil:
		return in.failed
	case missing != nil:
		return missing
	case total.Findings > 0 && flags.writeBaseline == "":
		return output.Status(output.ExitNo)
	case total.Functions+total.Findings == 0 && len(command) > 0:
		return output.InputErrorf("nothing was checked: no unwind tables found; did %s generate code and publish it? See 'clew help generated'", command[0])
	case total.Functions+total.Findings == 0:
		return output.InputErrorf("nothing was checked: no unwind tables found")
	case in.partly:
		return output.Status(output.ExitNo)
	}
	return nil
}

// print checks all parts and prints the results. It returns their sum and all findings.
func (flags *checkFlags) print(s *survey.Survey, in *checkInput) (*tablecheck.Total, *survey.Baseline, error) {
	var total tablecheck.Total
	found := new(survey.Baseline)
	p := flags.printer()
	progress := checkProgress{}
	if output.Stderr.IsTerminal() {
		s.Progress = progress.show
	}
	defer progress.hide()
	for r := range s.Check(in.parts) {
		progress.hide()
		switch {
		case r.Failed:
			in.fail(output.InputErrorf("%w", r.Err))
		case r.Err != nil:
			output.Warn("%v", r.Err)
		}
		total.Add(r)
		if flags.writeBaseline != "" {
			found.AddResult(r)
		}
		if err := p.Result(output.Stdout, r); err != nil {
			return nil, nil, err
		}
	}
	progress.hide()
	if err := p.End(output.Stdout, &total); err != nil {
		return nil, nil, err
	}
	if s.Baseline != nil && len(s.Functions) == 0 {
		for _, k := range s.Baseline.Fixed() {
			output.Warn("%s: in the baseline, but not found any more", k.Line())
		}
	}
	return &total, found, nil
}

// unmatched returns an error that names the patterns that have selected no function; nil if each has
// selected one.
func unmatched(s *survey.Survey, names []string, in *checkInput) error {
	var list []string
	for _, i := range s.Unmatched() {
		list = append(list, names[i])
	}
	if len(list) == 0 || len(in.parts) == 0 {
		return nil
	}
	return output.Partialf("no function with an unwind table is called %s", strings.Join(list, ", or "))
}

func readBaseline(path string) (*survey.Baseline, error) {
	if path == "" {
		return nil, nil
	}
	if _, err := input.Regular(path); err != nil {
		return nil, err
	}
	f, err := untrusted.OpenNamed(path)
	if err != nil {
		return nil, output.InputError(err)
	}
	defer f.Close()
	b, err := survey.ReadBaseline(f)
	if err != nil {
		return nil, output.InputErrorf("%s: %w", path, err)
	}
	return b, nil
}

// checkProgress shows how many functions are checked, while nothing else is printed.
type checkProgress struct {
	mu   sync.Mutex
	done func(int)
	end  func()
}

func (p *checkProgress) show(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end == nil {
		p.done, p.end = output.Progress("functions", total)
	}
	if p.done != nil {
		p.done(done)
	}
}

func (p *checkProgress) hide() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		p.end()
		p.end = nil
	}
}
