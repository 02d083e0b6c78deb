// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

func (c *Console) infoLine(args string) error {
	var address uint64
	wanted := 0 // the line in the location, if it has one
	if args == "" && c.list.info > 0 {
		return c.infoLine(fmt.Sprintf("%s:%d", c.list.file, c.list.info))
	}
	if args == "" {
		f, err := c.selectedFrame()
		if err != nil {
			return err
		}
		address = f.Physical.LookupPC
	} else {
		file, line, _ := c.sourceOf(args)
		wanted = lineIn(args)
		addresses, err := c.locate(args)
		if wanted > 0 && file != "" && errors.Is(err, session.ErrNotFound) {
			return fmt.Errorf("line number %d is out of range for %q", line, c.source.shown(file))
		}
		if err != nil {
			return err
		}
		// The name of a function means its first instruction.
		if a, ok := c.session.Symbol(args); ok {
			addresses = []uint64{a}
		} else if list := c.functions(args); len(list) > 0 {
			addresses = []uint64{list[0].Entry}
		}
		address = addresses[0]
	}
	r := frontend.Row(c.session, address)
	if r.Line == 0 {
		c.printf("No line number information available for address %#x%s\n", address, c.angle(address))
		return nil
	}
	if wanted > 0 {
		// A breakpoint there is after the prologue, which can have the line.
		if i := c.session.Image(address); i != nil {
			if f, ok := i.Function(address); ok {
				if before := frontend.Row(c.session, f.Start); before.File == r.File && before.Line == wanted {
					r = before
				}
			}
		}
	}
	if wanted > 0 && wanted != r.Line {
		start := r.Start
		// A breakpoint there is after the prologue, which has a line too.
		if i := c.session.Image(start); i != nil {
			if f, ok := i.Function(start); ok {
				if before := frontend.Row(c.session, f.Start); before.File == r.File && before.Line >= wanted && before.Line <= r.Line {
					start = f.Start
				}
			}
		}
		c.printf("Line %d of %q is at address %#x%s but contains no code.\n", wanted, c.source.shown(r.File), start, c.angle(start))
	} else {
		c.printf("Line %d of %q starts at address %#x%s and ends at %#x%s.\n", r.Line, c.source.shown(r.File), r.Start, c.angle(r.Start), r.End, c.angle(r.End))
	}
	c.list.info = cmp.Or(wanted, r.Line) + 1 // info line alone continues there, as in gdb
	c.setNext(r.Start)
	return nil
}

// lineIn returns the line number of a location: 3 in "fib.c:3", 0 in "fib".
func lineIn(location string) int {
	n, err := strconv.Atoi(location[strings.LastIndexByte(location, ':')+1:])
	if err != nil || location[0] == '*' || location[0] == '+' || location[0] == '-' {
		return 0
	}
	return n
}

func (c *Console) infoSymbol(args string) error {
	if args == "" {
		return errors.New("info symbol needs an address")
	}
	address, err := c.address(args)
	if err != nil {
		return err
	}
	name, offset, ok := c.symbols.Symbol(address)
	if !ok {
		c.printf("No symbol matches %s.\n", args)
		return nil
	}
	name = style.Demangle(name)
	if offset > 0 {
		name += fmt.Sprintf(" + %d", offset)
	}
	if section, image := c.sectionAt(address); section != "" {
		name += " in section " + section + " of " + filepath.Base(image)
	} else if image := c.session.Image(address); image != nil {
		name += " of " + filepath.Base(image.Name())
	}
	c.printf("%s\n", name)
	return nil
}

// sectionAt returns the names of the section at an address and of its image.
func (c *Console) sectionAt(address uint64) (name, image string) {
	for _, image := range c.session.Images() {
		for _, f := range image.Files() {
			for _, s := range f.Sections() {
				if s.Address != 0 && address >= s.Address && address-s.Address < s.Size {
					return s.Name, image.Name()
				}
			}
		}
	}
	return "", ""
}

// declared is a line of info functions, variables or types.
type declared struct {
	name string // by which the lines of a block are sorted
	line int    // 0 if it is unknown
	text string
	file bool // it has the scope of a file; those that other files can use come first
}

// matching returns the function that selects names by a regular expression, and prints the heading.
func (c *Console) matching(noun, pattern string) (func(string) bool, error) {
	if pattern == "" {
		c.printf("All defined %s:\n", noun)
		return func(string) bool { return true }, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%q is not a regular expression: %w", pattern, err)
	}
	c.printf("All %s matching regular expression %q:\n", noun, pattern)
	return re.MatchString, nil
}

// printDeclared prints declarations by files, as gdb does.
func (c *Console) printDeclared(files map[string][]declared) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		c.printf("\nFile %s:\n", name)
		list := files[name]
		slices.SortFunc(list, func(a, b declared) int {
			switch {
			case a.file == b.file:
				return cmp.Or(cmp.Compare(a.name, b.name), a.line-b.line, cmp.Compare(a.text, b.text))
			case a.file:
				return 1
			}
			return -1
		})
		for _, d := range slices.Compact(list) {
			if d.line == 0 {
				c.printf("\t%s\n", d.text)
			} else {
				c.printf("%d:\t%s\n", d.line, d.text)
			}
		}
	}
}

func (c *Console) infoFunctions(args string) error {
	match, err := c.matching("functions", args)
	if err != nil {
		return err
	}
	files := make(map[string][]declared)
	var others []session.Function
	hosts := 0
	for _, image := range c.session.Images() {
		for _, f := range image.Functions() {
			if args == "" && image.IsHost() {
				hosts++
				continue
			}
			if info := image.Info(f.Start); info != nil {
				fn, err := info.FunctionAt(f.Start)
				if r := frontend.Row(c.session, f.Start); err == nil && r.File != "" {
					if !match(f.Name) && !match(style.Demangle(fn.LinkageName)) {
						continue
					}
					d := declared{name: fn.Name, line: fn.Line, text: declarationOf(fn) + ";", file: !fn.External}
					if d.file {
						d.text = "static " + d.text
					}
					file := c.source.shown(r.File)
					files[file] = append(files[file], d)
					continue
				}
			}
			if match(f.Name) {
				others = append(others, f)
			}
		}
	}
	c.printDeclared(files)
	if len(others) > 0 {
		c.printf("\nNon-debugging symbols:\n")
		for _, f := range others {
			c.printf("0x%016x  %s\n", f.Start, f.Name)
		}
	}
	if hosts > 0 {
		c.printf("\nAnd %d functions of the host; \"info functions .\" lists them too.\n", hosts)
	}
	return nil
}

// infos returns the debugging information of the images' files.
func (c *Console) infos() (list []*value.Info) {
	for _, o := range c.values.Objects() {
		if f, ok := o.(interface{ Info() *value.Info }); ok && f.Info() != nil && !slices.Contains(list, f.Info()) {
			list = append(list, f.Info())
		}
	}
	return list
}

func (c *Console) infoVariables(args string) error {
	match, err := c.matching("variables", args)
	if err != nil {
		return err
	}
	files, known := make(map[string][]declared), make(map[string]bool)
	for _, info := range c.infos() {
		list, _ := info.Variables() // those that can be read
		for _, v := range list {
			known[v.Name] = true
			if !match(v.Name) {
				continue
			}
			d := declared{name: v.Name, line: v.Line, text: v.Type.Declare(v.Name) + ";", file: !v.Variable.External}
			if d.file {
				d.text = "static " + d.text
			}
			file := c.source.shown(v.File)
			files[file] = append(files[file], d)
		}
	}
	c.printDeclared(files)
	heading := "\nNon-debugging symbols:\n"
	for d := range c.symbols.Data() {
		if name := style.Demangle(d.Name); !known[name] && match(name) {
			c.printf("%s0x%016x  %s\n", heading, d.Address, name)
			heading = ""
		}
	}
	return nil
}

func (c *Console) infoTypes(args string) error {
	match, err := c.matching("types", args)
	if err != nil {
		return err
	}
	files := make(map[string][]declared)
	for _, info := range c.infos() {
		list, _ := info.Types() // those that can be read
		for _, t := range list {
			if !match(t.Name) {
				continue
			}
			d := declared{name: t.Name, line: t.Line, text: t.Type.String(), file: true}
			switch t.Type.Kind() {
			case value.Typedef:
				d.text = "typedef " + t.Type.Elem().Declare(t.Name)
			case value.Struct, value.Class, value.Union, value.Enum:
				// C++ has one definition of a type in all files.
				d.file = t.Type.Language() != value.CPlusPlus
			}
			if d.line > 0 || t.Type.Language() == value.Rust && t.Type.Kind() == value.Struct {
				d.text += ";"
			}
			file := c.source.shown(t.File)
			files[file] = append(files[file], d)
		}
	}
	c.printDeclared(files)
	return nil
}

// languageName returns gdb's name of a language, or "".
func languageName(l value.Language) string {
	switch l {
	case value.C:
		return "c"
	case value.CPlusPlus:
		return "c++"
	case value.Rust:
		return "rust"
	case value.Go:
		return "go"
	case value.D:
		return "d"
	case value.Fortran:
		return "fortran"
	case value.Ada:
		return "ada"
	case value.Pascal:
		return "pascal"
	case value.Modula2:
		return "modula-2"
	}
	return ""
}

func (c *Console) infoSource(string) error {
	file := c.list.file
	f := c.current()
	if f != nil && f.Location.File != "" {
		file = f.Location.File
	}
	if file == "" {
		c.printf("No current source file.\n")
		return nil
	}
	unit, known := c.unitOf(f, file)
	c.printf("Current source file is %s\n", c.source.shown(file))
	if unit.Directory != "" {
		c.printf("Compilation directory is %s\n", unit.Directory)
	}
	if s := c.source.open(file); s.err != nil {
		c.printf("It cannot be read: %v; --directory adds a directory with sources\n", s.err)
	} else {
		if path, err := filepath.Abs(file); err == nil {
			c.printf("Located in %s\n", path)
		}
		c.printf("Contains %d lines.\n", len(s.lines))
	}
	if name := languageName(unit.Language); name != "" {
		c.printf("Source language is %s.\n", name)
	}
	if unit.Producer != "" {
		c.printf("Producer is %s.\n", unit.Producer)
	}
	if known {
		c.printf("Compiled with DWARF %d debugging format.\n", unit.Version)
		if unit.HasMacros {
			c.printf("Includes preprocessor macro info.\n")
		} else {
			c.printf("Does not include preprocessor macro info.\n")
		}
	}
	return nil
}

// unitOf returns the unit with the code of a frame, or with the first function in a file.
func (c *Console) unitOf(f *frontend.Frame, file string) (value.Unit, bool) {
	if f != nil && f.Location.File == file && f.Physical.Info() != nil {
		return f.Physical.Info().Unit(f.Physical.LookupPC)
	}
	for fn := range frontend.Functions(c.session) {
		if frontend.Row(c.session, fn.Start).File != file {
			continue
		}
		if i := c.session.Image(fn.Start); i != nil && i.Info(fn.Start) != nil {
			return i.Info(fn.Start).Unit(fn.Start)
		}
	}
	return value.Unit{}, false
}

func (c *Console) infoImages(string) error {
	c.printf("From                To                  Functions  Image\n")
	for _, image := range c.session.Images() {
		ranges := image.Ranges()
		if len(ranges) == 0 {
			continue
		}
		c.printf("0x%016x  0x%016x  %-9s  %s\n", ranges[0].Start, ranges[len(ranges)-1].End, strconv.Itoa(len(image.Functions())), image.Name())
	}
	return nil
}

func (c *Console) infoProgram(string) error {
	switch c.session.State() {
	case session.Stopped:
		c.printf("%s is stopped at %#x%s, in process %d.\n", c.runningText(), c.programCounter(), c.angle(c.programCounter()), c.session.PID())
	case session.Exited:
		c.printf("The last call has ended.\n")
	default:
		c.printf("No function has been called yet.\n")
	}
	return nil
}
