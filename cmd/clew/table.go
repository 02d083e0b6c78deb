// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/readelf"
	"github.com/clewdev/clew/report/source"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/table"
)

const tableHelp = `Print the unwind table of every function in an ELF file: from each address on, the
places of the caller's registers.

  main  0x1139-0x1190  .eh_frame FDE 0x98 CIE 0x0
    address  offset  CFA     rbx     ra
    0x1139   +0x0    rsp+8   .       [c-8]
    0x113a   +0x1    rsp+16  [c-16]  [c-8]

[c-16] is saved in memory at CFA-16, "." is unchanged; see 'clew help rules'.`

type tableFlags struct {
	raw       bool
	json      bool
	format    string
	functions []string
	addresses []string
	section   string
}

func tableCommand() *cli.Command {
	var flags tableFlags
	return &cli.Command{
		Name:          "table",
		Usage:         "Print the unwind tables of a file",
		Description:   tableHelp,
		ShellComplete: completeFunctions("--func", "-f"),
		Metadata:      manual.SeeAlso("rules", "templates", "debuginfod", "json", "exit-codes"),
		UsageText: `clew table FILE [flags]

Examples:
  clew table /bin/ls
  clew table a.out --func main --func 'parse_*'
  clew table libc.so.6 --pc 0x2724a --raw
  clew table a.out --format=readelf               as 'readelf -wF' prints it
  clew table template.o --func f --format=go      source code, to paste into a JIT`,
		// Names of C++ functions have commas.
		DisableSliceFlagSeparator: true,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "func", Aliases: []string{"f"}, Destination: &flags.functions, Usage: "only the function `NAME`: a symbol, a demangled name, or a glob over either"},
			&cli.StringSliceFlag{Name: "pc", Destination: &flags.addresses, Usage: "only functions that cover `ADDR` (0x2724a, or decimal), and mark its row"},
			&cli.StringFlag{Name: "section", Destination: &flags.section, Usage: "only the section `NAME`: .eh_frame, .debug_frame"},
			&cli.BoolFlag{Name: "raw", Destination: &flags.raw, Usage: "print the stored CIEs, FDEs and instructions"},
			&cli.BoolFlag{Name: "json", Destination: &flags.json, Usage: "print JSON, one line for each row (with --raw: for each entry)"},
			&cli.StringFlag{Name: "format", Value: "text", Destination: &flags.format, Usage: "print `FORMAT`: text, json, readelf, or source code (go, c, asm)"},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			switch n := c.Args().Len(); n {
			case 0:
				return fmt.Errorf("which FILE? Name a program, a shared library or an object file")
			case 1:
				return printTable(c.Args().First(), &flags)
			default:
				return fmt.Errorf("one FILE at a time, got %d", n)
			}
		},
	}
}

func printTable(path string, flags *tableFlags) error {
	if flags.json {
		if flags.format != "text" && flags.format != "json" {
			return fmt.Errorf("--json and --format=%s are two formats: choose one", flags.format)
		}
		flags.format = "json"
	}
	language, isSource := source.ParseFormat(flags.format)
	selection, err := flags.selection()
	if err != nil {
		return err
	}
	switch {
	case flags.format == "text" || flags.format == "json":
	case isSource:
		if flags.raw {
			return fmt.Errorf("--raw and --format=%s are two forms of output: choose one", flags.format)
		}
	case flags.format == "readelf":
		if !selection.All() || flags.section != "" {
			return fmt.Errorf("--format=readelf prints the whole file as readelf does: combine it only with --raw")
		}
	default:
		return fmt.Errorf("unknown --format %q, expected text, json, readelf, go, c or asm", flags.format)
	}
	search := input.SearchBelow("")
	if flags.format == "readelf" {
		search = debugfile.Search{} // package readelf finds debug files itself
	}
	f, err := input.OpenBeside(path, &search)
	if err != nil {
		return err
	}
	defer f.Close()
	defer input.WarnOfDamage(f)
	if flags.format == "readelf" {
		return tableReadelf(f, flags.raw)
	}
	sections, err := input.FrameSections(f, flags.section)
	if err != nil {
		return err
	}
	var list *table.Listing
	err = object.Guard(func() (err error) {
		list, err = table.List(sections, f, selection)
		return err
	})
	if list == nil {
		return output.InputErrorf("%w", err)
	}
	if err != nil {
		output.Warn("%v", err)
	}
	if list.Len() == 0 {
		return noEntries(f, flags)
	}
	done, end := output.ProgressBesideOutput("entries", list.Len())
	var summary table.Summary
	if isSource {
		summary, err = source.Write(output.Stdout, language, "clew table", list, f, done)
	} else {
		summary, err = list.Write(output.Stdout, flags.printer(selection), done)
	}
	end()
	switch {
	case err != nil:
		return output.InputErrorf("%w", err)
	case isSource && summary.Faults > 0:
		return output.Partialf("%s: %d functions are omitted, the first: %w", f.Name(), summary.Faults, summary.First)
	case summary.Faults == 1:
		return output.Partialf("%s: one entry is malformed: %w", f.Name(), summary.First)
	case summary.Faults > 1:
		return output.Partialf("%s: %d entries are malformed, the first: %w", f.Name(), summary.Faults, summary.First)
	}
	return nil
}

func (flags *tableFlags) selection() (s table.Selection, err error) {
	s.CIEs = flags.raw
	for _, name := range flags.functions {
		s.Functions = append(s.Functions, style.NewPattern(name))
	}
	for _, a := range flags.addresses {
		pc, err := strconv.ParseUint(a, 0, 64)
		if err != nil {
			return s, fmt.Errorf("--pc %s is not an address (expected 0x2724a or decimal)", a)
		}
		s.Addresses = append(s.Addresses, pc)
	}
	return s, nil
}

func (flags *tableFlags) printer(selection table.Selection) func() table.Printer {
	colours := output.Stdout.Palette()
	return func() table.Printer {
		switch {
		case flags.raw && flags.format == "json":
			return &table.RawJSON{}
		case flags.raw:
			return &table.RawText{Palette: colours}
		case flags.format == "json":
			return &table.JSON{}
		default:
			return &table.Text{Palette: colours, Mark: selection.Addresses}
		}
	}
}

func noEntries(f *object.File, flags *tableFlags) error {
	switch {
	case len(flags.functions) > 0:
		name := flags.functions[0]
		if s, ok := f.Symbol(name); ok {
			return output.Partialf("%s: %s is at %#x, but no FDE covers it", f.Name(), name, s.Address)
		}
		return output.Partialf("%s: no function with an unwind table is called %s%s", f.Name(), name, input.OtherNames(f, name))
	case len(flags.addresses) > 0:
		return output.Partialf("%s: no FDE covers %s; 'clew at %[1]s %[2]s' prints the nearest", f.Name(), flags.addresses[0])
	}
	return output.Partialf("%s: its call frame information is empty", f.Name())
}

// tableReadelf prints the tables as readelf does. It finds debug files as readelf does, too.
func tableReadelf(f *object.File, raw bool) error {
	separate, err := readelf.SeparateFiles(f)
	if err != nil {
		output.Warn("%v", err)
	}
	for _, d := range separate {
		defer d.Close()
	}
	mode := readelf.Rows
	if raw {
		mode = readelf.Raw
	}
	// The printer escapes foreign text. A second filter would take a fifth of the time.
	if err := readelf.File(output.Stdout.Raw(), f, separate, mode); err != nil {
		return output.Partial(err)
	}
	return nil
}
