// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/table"
)

const atHelp = `Explain the unwind rule at one address of an ELF file: where the CFA, the return
address and each saved register are, and which instruction of the table says so.
Then draw the stack frame.

The place is an address of the file (0x1160, or decimal), a function (its symbol or
demangled name), or a function and an offset in bytes (main+0x27, main+39). For an
address of a running program, subtract the address at which the file is loaded.`

type atFlags struct {
	json       bool
	source     bool
	sourcePath []string
	section    string
}

func atCommand() *cli.Command {
	var flags atFlags
	return &cli.Command{
		Name:          "at",
		Usage:         "Explain the rule at one address, and draw the frame",
		Description:   atHelp,
		ShellComplete: completeFunctions(),
		Metadata:      manual.SeeAlso("rules", "debuginfod", "json", "exit-codes"),
		UsageText: `clew at FILE ADDR|FUNC[+OFF] [flags]

Examples:
  clew at a.out main+0x27              in words, with a picture of the frame
  clew at a.out 0x1160 --source        with the disassembly and source lines
  clew at libc.so.6 'qsort_r+8' --json
  clew at a.out 4448                   a decimal address
  clew at a.out main --section .debug_frame`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "source", Destination: &flags.source, Usage: "print the disassembly of the function too, with source lines if available"},
			sourcePathFlag(&flags.sourcePath, "with --source: look for source files below `DIR` too"),
			&cli.StringFlag{Name: "section", Destination: &flags.section, Usage: "use only the section `NAME`: .eh_frame, .debug_frame"},
			&cli.BoolFlag{Name: "json", Destination: &flags.json, Usage: "print one JSON object"},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			args := c.Args()
			switch args.Len() {
			case 2:
				if len(flags.sourcePath) > 0 && !flags.source {
					return errSourcePath
				}
				return at(args.Get(0), args.Get(1), &flags)
			case 1:
				return fmt.Errorf("which place in %s? Name an address (0x1160) or a function (main+0x27)", args.Get(0))
			}
			return fmt.Errorf("expected a FILE and a place in it (0x1160, main+0x27); got %d arguments", args.Len())
		},
	}
}

func at(path, place string, flags *atFlags) error {
	f, err := input.OpenELF(path)
	if err != nil {
		return err
	}
	defer f.Close()
	defer input.WarnOfDamage(f)
	sections, err := input.FrameSections(f, flags.section)
	if err != nil {
		return err
	}
	return object.Guard(func() error { return explain(f, sections, place, flags) })
}

func explain(f *object.File, sections []*cfi.Section, place string, flags *atFlags) error {
	functions, pc, err := table.Find(sections, f, place)
	switch {
	case errors.Is(err, table.ErrNoFunction):
		return output.Partialf("%s: %w%s", f.Name(), err, input.OtherNames(f, place))
	case errors.Is(err, cfi.ErrNoFDE):
		return uncovered(f, sections, pc, flags)
	case err != nil:
		return output.InputErrorf("%s: %w", f.Name(), err)
	}
	e, err := table.Explain(functions[0], pc)
	if err != nil {
		return output.Partialf("%s: %w", f.Name(), err)
	}
	e.Also = functions[1:]
	var code []table.CodeLine
	var note string
	var missing error
	if flags.source {
		if code, note, missing = table.Disassemble(&e.Function, f); missing != nil {
			missing = output.Partialf("%s: %w", f.Name(), missing)
		}
	}
	if flags.json {
		return errors.Join(e.JSON(output.Stdout, code), missing)
	}
	colours := output.Stdout.Palette()
	columns, _ := output.Stdout.Size()
	if err := e.Words(output.Stdout, colours, columns); err != nil {
		return err
	}
	fmt.Fprintln(output.Stdout)
	if err := e.Drawing(output.Stdout, colours); err != nil || !flags.source || missing != nil {
		return errors.Join(err, missing)
	}
	fmt.Fprintln(output.Stdout)
	if note != "" {
		fmt.Fprintln(output.Stdout, note)
	}
	text := sourceText(f.OpenSource, flags.sourcePath)
	defer warnOfSource(text)
	return e.Source(output.Stdout, colours, code, text)
}

// uncovered prints the functions near an address that no FDE covers.
func uncovered(f *object.File, sections []*cfi.Section, pc uint64, flags *atFlags) error {
	all, err := table.List(sections, f, table.Selection{})
	if err != nil {
		output.Warn("%v", err)
	}
	u := table.Uncovered{Address: pc}
	u.Before, u.After = all.Nearest(pc)
	if flags.json {
		if err := u.JSON(output.Stdout); err != nil {
			return err
		}
	}
	return output.Partialf("%s: %s", f.Name(), output.Hint(u.String()))
}
