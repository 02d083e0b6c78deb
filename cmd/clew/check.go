// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/tablecheck"
)

const checkHelp = `Check the unwind tables of programs and libraries against their code: is each row right
at each instruction? Follow every path through a function, and compare where the
caller's registers are with the rules of the table.

  f+0x8  0x1108 (2 instructions)
    wrong CFA: CFA = rsp+8 by the code, CFA = rsp+16 by the table
    fix: .cfi_def_cfa_offset 8

An instruction is undecided if the analysis does not know enough, for example if no
path leads to it. Also check the structure of the sections: overlapping entries,
addresses outside of the code, disagreement with .eh_frame_hdr.`

type checkFlags struct {
	json      bool
	paths     bool
	functions []string
}

func checkCommand() *cli.Command {
	var flags checkFlags
	return &cli.Command{
		Name:          "check",
		Usage:         "Check unwind tables against the code",
		Description:   checkHelp,
		ShellComplete: completeFunctions("--func", "-f"),
		Metadata:      manual.SeeAlso("rules", "json", "exit-codes"),
		UsageText: `clew check FILE... [flags]

Examples:
  clew check a.out libfoo.so
  clew check a.out --func main --path     show the path to each finding
  clew check a.out --json`,
		// Names of C++ functions have commas.
		DisableSliceFlagSeparator: true,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "func", Aliases: []string{"f"}, Destination: &flags.functions, Usage: "only the function `NAME`: a symbol, a demangled name, or a glob over either"},
			&cli.BoolFlag{Name: "path", Destination: &flags.paths, Usage: "print the instructions that lead to each finding"},
			&cli.BoolFlag{Name: "json", Destination: &flags.json, Usage: "print JSON, one line for each finding and a summary"},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Len() == 0 {
				return fmt.Errorf("which FILE? Name a program or a shared library")
			}
			return checkFiles(c.Args().Slice(), &flags)
		},
	}
}

func checkFiles(paths []string, flags *checkFlags) error {
	var total check.Counters
	findings := 0
	var failed error // the last file that cannot be checked
	for _, path := range paths {
		r, err := checkFile(path, flags)
		if err != nil {
			if failed != nil {
				output.Warn("%v", failed)
			}
			failed = err
			continue
		}
		findings += len(r.Findings)
		total.Add(&r.Counters)
		if flags.json {
			err = tablecheck.JSON(output.Stdout, path, r)
		} else {
			err = tablecheck.Text(output.Stdout, path, r, flags.paths)
		}
		if err != nil {
			return err
		}
	}
	if flags.json {
		if err := tablecheck.JSONSummary(output.Stdout, &total); err != nil {
			return err
		}
	}
	switch {
	case failed != nil:
		return failed
	case findings > 0:
		return output.Status(output.ExitNo)
	case total.Functions == 0 && len(flags.functions) > 0:
		return output.Partialf("no function with an unwind table is called %s", flags.functions[0])
	}
	return nil
}

func checkFile(path string, flags *checkFlags) (*check.Report, error) {
	f, err := input.OpenELF(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer input.WarnOfDamage(f)
	options := check.Options{}
	if len(flags.functions) > 0 {
		options.Skip = unselected(f, flags.functions)
	}
	r, err := check.File(f, options)
	if r == nil {
		return nil, output.InputErrorf("%w", err)
	}
	if err != nil {
		output.Warn("%v", err)
	}
	return r, nil
}

// unselected returns a function that reports whether no symbol of the given names starts in a
// range of addresses.
func unselected(f *object.File, names []string) func(start, end uint64) bool {
	var patterns []style.Pattern
	for _, name := range names {
		patterns = append(patterns, style.NewPattern(name))
	}
	var addresses []uint64
	for s := range f.Symbols() {
		for _, p := range patterns {
			if p.Match(s.Name) {
				addresses = append(addresses, s.Address)
			}
		}
	}
	return func(start, end uint64) bool {
		for _, a := range addresses {
			if a >= start && a < end {
				return false
			}
		}
		return true
	}
}
