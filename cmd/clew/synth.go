// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/survey"
	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/source"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/table"
)

const synthHelp = `Make unwind tables from code, for functions that have none: code of assembly language,
of a JIT compiler, or of a compiler that was told to write no tables.

Clew follows every path through a function, as clew check does, and writes where the
caller's registers are at each instruction. Without --func it takes the functions that
have a symbol, and no table. With --func the symbol can lack the type of a function; one
without a size extends to the next symbol. Clew takes for granted that the function is
called as the psABI says, and that its calls return.

With --output Clew writes a copy of FILE with the tables in it. Functions that have a
table keep it. An object file gets .eh_frame entries, which the linker puts into the
program, so that exceptions, backtraces and debuggers pass through the functions. A
program or a library gets .debug_frame entries: gdb, lldb and Clew read them, but C++
exceptions do not, since no segment loads them.

An instruction gets no row if no path leads to it, or if its state is not known. Clew
reports these gaps on standard error, and exits with 1. In a gap the return address is
undefined, so that a walk ends there instead of going wrong. Addresses of an object
file (.o) are those of a linked copy.`

type synthFlags struct {
	json      bool
	format    string
	functions []string
	raw       string
	machine   string
	output    string
}

func synthCommand() *cli.Command {
	var flags synthFlags
	return &cli.Command{
		Name:          "synth",
		Usage:         "Make unwind tables from code",
		Description:   synthHelp,
		ShellComplete: completeFunctions("--func", "-f"),
		Metadata:      manual.SeeAlso("rules", "templates", "json", "exit-codes"),
		UsageText: `clew synth FILE [flags]
clew synth FILE -o FILE [flags]
clew synth --raw FILE --machine MACHINE [flags]

Examples:
  clew synth memcpy.o                             directives, to add to the source
  clew synth memcpy.o -o described.o              the object file with the tables
  clew synth a.out --func 'fast_*' --format text  the rows
  clew synth --raw code.bin --machine arm64 --json`,
		// Names of C++ functions have commas.
		DisableSliceFlagSeparator: true,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "func", Aliases: []string{"f"}, Destination: &flags.functions, Usage: "only the function `NAME`, also if it has a table: a symbol, a demangled name, or a glob over either"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Destination: &flags.output, Usage: "write a copy of the file with the tables in it to `FILE`, which can be the same file"},
			&cli.StringFlag{Name: "raw", Destination: &flags.raw, Usage: "read the bytes of one function from `FILE` (- for standard input)"},
			&cli.StringFlag{Name: "machine", Destination: &flags.machine, Usage: "the `MACHINE` of the bytes: amd64 or arm64"},
			&cli.BoolFlag{Name: "json", Destination: &flags.json, Usage: "print JSON, one line for each row and one for each function with its gaps"},
			&cli.StringFlag{Name: "format", Value: "asm", Destination: &flags.format, Usage: "print `FORMAT`: asm (.cfi directives), text, json, or source code (go, c)"},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			n := c.Args().Len()
			switch {
			case flags.raw == "" && n == 0:
				return errors.New("which FILE? Name an object file, a program or a library, or bytes with --raw")
			case flags.raw != "" && n > 0:
				return errors.New("--raw reads bytes instead of a FILE: choose one")
			case n > 1:
				return fmt.Errorf("one FILE at a time, got %d", n)
			case (flags.raw != "") != (flags.machine != ""):
				return errors.New("--raw and --machine belong together: the bytes do not say which machine they are for")
			case flags.raw != "" && len(flags.functions) > 0:
				return errors.New("--func selects functions of a FILE; --raw reads one function")
			case flags.output != "" && flags.raw != "":
				return errors.New("--output writes a copy of FILE with tables; --raw has no FILE")
			case flags.output != "" && (flags.json || c.IsSet("format")):
				return errors.New("--output writes an ELF file, and --json and --format print: choose one")
			case flags.output == "-":
				return errors.New("--output needs the name of a file, not standard output")
			case flags.json && c.IsSet("format") && flags.format != "json":
				return fmt.Errorf("--json and --format=%s are two formats: choose one", flags.format)
			case flags.json:
				flags.format = "json"
			}
			if _, ok := source.ParseFormat(flags.format); !ok && flags.format != "text" && flags.format != "json" {
				return fmt.Errorf("unknown --format %q, expected asm, text, json, go or c", flags.format)
			}
			return flags.run(c.Args().First())
		},
	}
}

func (flags *synthFlags) run(path string) error {
	if flags.raw != "" {
		code, m, err := flags.bytes()
		if err != nil {
			return err
		}
		t, err := survey.SynthesizeCode(code, m)
		if err != nil {
			return output.InputErrorf("%s: %w", flags.raw, err)
		}
		return flags.print(t, nil)
	}
	f, err := input.OpenELF(path)
	if err != nil {
		return err
	}
	defer f.Close()
	defer input.WarnOfDamage(f)
	p, err := survey.ELF(f)
	if err != nil {
		return output.InputError(err)
	}
	var choose func(string) bool
	if len(flags.functions) > 0 {
		var patterns []style.Pattern
		for _, name := range flags.functions {
			patterns = append(patterns, style.NewPattern(name))
		}
		choose = func(symbol string) bool {
			return slices.ContainsFunc(patterns, func(p style.Pattern) bool { return p.Match(symbol) })
		}
	}
	t, err := p.Synthesize(choose)
	switch {
	case err != nil:
		return output.InputErrorf("%w", err)
	case len(t.Functions) == 0 && choose != nil:
		return output.Partialf("%s: no symbol of code is called %s", f.Name(), flags.functions[0])
	case len(t.Functions) == 0:
		return output.Partialf("%s: no function without an unwind table, of those that have a symbol; --func also takes those with a table", f.Name())
	}
	if flags.output != "" {
		return flags.amend(t, f)
	}
	return flags.print(t, t.File)
}

// amend writes a copy of f with tables, and then prints the gaps.
func (flags *synthFlags) amend(t *survey.Tables, f *object.File) error {
	for i := range t.Functions {
		if s := &t.Functions[i]; s.Described {
			output.Warn("%s: it has a table, which stays", s.Name)
		}
	}
	t.Functions = slices.DeleteFunc(t.Functions, func(s survey.Synthesized) bool { return s.Described })
	if !slices.ContainsFunc(t.Functions, func(s survey.Synthesized) bool { return s.Unwind != nil }) {
		output.Warn("%s: no table to add, so %s is not written", f.Name(), flags.output)
		return cmp.Or(flags.gaps(t), error(output.Status(output.ExitNo)))
	}
	info, err := input.Regular(f.Name())
	if err != nil {
		return err
	}
	out, err := outputfile.Create(flags.output)
	if err != nil {
		return output.InputError(err)
	}
	defer out.Close()
	buffer := bufio.NewWriterSize(out, 1<<16)
	if err := t.Amend(buffer, f); err != nil {
		return output.InputError(err)
	}
	err = errors.Join(buffer.Flush(), executable(out.File, info))
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return output.InputError(err)
	}
	return flags.gaps(t)
}

// executable lets those execute a new file who can read it, if they can execute the old one.
func executable(f *os.File, old fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	read := info.Mode().Perm() & 0o444
	return f.Chmod(info.Mode().Perm() | old.Mode().Perm()&(read>>2))
}

// maxRaw bounds the bytes that --raw reads: package check analyses no larger function.
const maxRaw = 8 << 20

// bytes reads the code and the machine of --raw.
func (flags *synthFlags) bytes() ([]byte, *arch.Machine, error) {
	m := arch.LookupGo(flags.machine, elf.ELFDATA2LSB)
	if m == nil {
		m = arch.LookupUname(flags.machine, elf.ELFDATA2LSB)
	}
	if m == nil {
		return nil, nil, fmt.Errorf("unknown --machine %q, expected amd64 or arm64", flags.machine)
	}
	if flags.raw == "-" {
		code, err := io.ReadAll(io.LimitReader(os.Stdin, maxRaw+1))
		if err == nil && len(code) > maxRaw {
			err = fmt.Errorf("more than %d bytes", maxRaw)
		}
		if err != nil {
			return nil, nil, output.InputErrorf("standard input: %w", err)
		}
		return code, m, nil
	}
	if _, err := input.Regular(flags.raw); err != nil {
		return nil, nil, err
	}
	code, err := untrusted.ReadNamed(flags.raw, maxRaw)
	if err != nil {
		return nil, nil, output.InputErrorf("%w", err)
	}
	return code, m, nil
}

// print prints tables, and then the gaps.
func (flags *synthFlags) print(t *survey.Tables, names table.Names) error {
	list, err := table.List([]*cfi.Section{t.Section}, names, table.Selection{})
	if err != nil {
		output.Warn("%v", err)
	}
	if language, ok := source.ParseFormat(flags.format); ok {
		_, err = source.Write(output.Stdout, language, "clew synth", list, t.File, nil)
	} else {
		_, err = list.Write(output.Stdout, flags.printer, nil)
	}
	if err != nil {
		return output.InputErrorf("%w", err)
	}
	return flags.gaps(t)
}

// gaps prints the gaps of tables. Its error is the exit code if there are any.
func (flags *synthFlags) gaps(t *survey.Tables) error {
	partly := false
	for i := range t.Functions {
		f := &t.Functions[i]
		partly = partly || len(f.Gaps) > 0
		if flags.format == "json" {
			if err := printable.EncodeJSON(output.Stdout, synthLineOf(f)); err != nil {
				return err
			}
			continue
		}
		for _, g := range f.Gaps {
			output.Warn("%s: no row from %v", cmp.Or(f.Name, flags.raw), g)
		}
	}
	if partly {
		return output.Status(output.ExitNo)
	}
	return nil
}

func (flags *synthFlags) printer() table.Printer {
	if flags.format == "json" {
		return &table.JSON{}
	}
	return &table.Text{Palette: output.Stdout.Palette()}
}

const synthSchema = `One object for each row, as clew table --json prints it, and then one for each
function:
  symbol          the symbol as the file has it; absent with --raw
  function_start, function_end   its addresses [start, end), as hexadecimal strings
  instructions    the number of instructions
  undecided       how many of them have no row
  gaps            where these are: [{"start", "end", "reason"}]`

// synthLine is the line of a function in JSON, after the lines of rows.
type synthLine struct {
	Symbol       string     `json:"symbol,omitempty"`
	Start        string     `json:"function_start"`
	End          string     `json:"function_end"`
	Instructions int        `json:"instructions"`
	Undecided    int        `json:"undecided"`
	Gaps         []synthGap `json:"gaps"`
}

type synthGap struct {
	Start  string `json:"start"`
	End    string `json:"end"`
	Reason string `json:"reason"`
}

func synthLineOf(f *survey.Synthesized) synthLine {
	hex := func(address uint64) string { return fmt.Sprintf("%#x", address) }
	l := synthLine{Symbol: f.Name, Start: hex(f.Start), End: hex(f.Start + f.Size), Instructions: f.Instructions, Undecided: f.Undecided, Gaps: []synthGap{}}
	for _, g := range f.Gaps {
		l.Gaps = append(l.Gaps, synthGap{hex(f.Start + g.Offset), hex(f.Start + g.End), g.Why()})
	}
	return l
}
