// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
)

// inputError is a file that cannot be read; its text says what to do.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

func input(format string, args ...any) error { return inputError{message(format, args...)} }

// hint is text of Clew's own in an error: it can have more than one line.
type hint string

// ownText is an error with a text of Clew's own, the lines of which stay.
type ownText struct {
	text string
	err  error
}

func (e *ownText) Error() string   { return e.text }
func (e *ownText) Unwrap() error   { return e.err }
func (e *ownText) Lines() []string { return strings.Split(e.text, "\n") }

// message is like fmt.Errorf. An argument stays in its line unless it is a hint.
func message(format string, args ...any) error {
	return &ownText{fmt.Sprintf(strings.ReplaceAll(format, "%w", "%v"), inLine(args)...), fmt.Errorf(format, args...)}
}

// inLine returns arguments of a format of which strings and errors have the ends of lines
// escaped, but for errors that were joined.
func inLine(args []any) []any {
	args = slices.Clone(args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = printable.Text(arg)
		case error:
			args[i] = strings.Join(printable.Lines(arg), "\n")
		}
	}
	return args
}

// regular returns an error for what cannot be read from its start to its end, any
// number of times. It is asked before a file is opened: to open a pipe waits for
// who writes it, and to open a device can do something. What is known of the file
// comes with that error too.
func regular(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, inputError{err}
	}
	kind := "device"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return info, nil
	case mode.IsDir():
		kind = "directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "pipe"
	case mode&fs.ModeSocket != 0:
		kind = "socket"
	}
	return info, input("%s is a %s, not a regular file", path, kind)
}

// exist returns an error for the first of the paths that the user gave, "" for none, that
// does not exist.
func exist(paths ...string) error {
	for _, path := range paths {
		if _, err := os.Stat(path); path != "" && err != nil {
			return inputError{err}
		}
	}
	return nil
}

// openFile opens an ELF file together with its separate debug file, which is looked
// for as that of a stack is. What is damaged in it is told on standard error.
func openFile(path string) (*object.File, error) {
	s := searchBelow("")
	return openBeside(path, &s)
}

// openBeside opens an ELF file together with the separate debug file that a search
// finds.
func openBeside(path string, search *debugfile.Search) (*object.File, error) {
	info, err := regular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if found, lookErr := exec.LookPath(path); lookErr == nil && !strings.Contains(path, "/") {
			return nil, input("%s: no such file; did you mean %s?", path, found)
		}
		return nil, input("%s: no such file", path)
	case info != nil && info.IsDir():
		return nil, input("%w; name one ELF file in it", err)
	case err != nil:
		return nil, err
	case info.Size() == 0:
		return nil, input("%s is empty; was its build or download cut short?", path)
	}
	f, err := object.Open(path)
	if err != nil {
		var instead hint
		if c, err := contentOf(path); err == nil {
			instead = c.insteadOfELF(path)
		}
		return nil, input("%w%s", err, instead)
	}
	if _, err := search.OpenDebugFile(f); err != nil {
		for _, line := range printable.Lines(err) {
			warn("%s", line)
		}
	}
	return f, nil
}

// frameSections returns the sections of call frame information of the file and
// of its debug file, or the one that is named.
func frameSections(f *object.File, name string) ([]*cfi.Section, error) {
	sections, err := f.CFISections()
	if err != nil {
		warn("%v", err)
	}
	var debug *cfi.Section
	for _, s := range sections {
		if s.Kind == cfi.DebugFrame {
			debug = s
		}
	}
	if debug == nil {
		if debug, err = f.DebugFrame(); err != nil {
			warn("%v", err)
		}
		if debug != nil {
			sections = append(sections, debug)
		}
	}
	if len(sections) == 0 {
		return nil, noFrames(f)
	}
	if name == "" {
		return sections, nil
	}
	var chosen []*cfi.Section
	var names []string
	for _, s := range sections {
		if s.Name == name || s.Name == "."+name {
			chosen = append(chosen, s)
		}
		names = append(names, s.Name)
	}
	if len(chosen) == 0 {
		return nil, no("%s: no call frame information in a section %s; it has %s", f.Name(), name, strings.Join(names, ", "))
	}
	return chosen, nil
}

// noFrames explains why a file may have no call frame information.
func noFrames(f *object.File) error {
	advice := "It may have been built with -fno-asynchronous-unwind-tables, or its tables were stripped off."
	switch link, _ := f.DebugLink(); {
	case f.Type() == elf.ET_CORE:
		advice = "It is a core: the unwind tables are in the program and the libraries that it is of; name one of them."
	case f.Damage() != nil:
		advice = "They may be in what is damaged of the file."
	case f.Machine().ELF == elf.EM_ARM:
		advice = "Unwind tables of 32-bit ARM are in .ARM.exidx, which Clew does not read; a build with -g has a .debug_frame."
	case isGo(f):
		advice = "Go's linker writes .debug_frame, and leaves it out with -ldflags=-w or -s: build it without."
	case link != "":
		advice = fmt.Sprintf("Its debug file, %s, may hold a .debug_frame: install it, or name it instead%s.", printable.Text(link), orServers())
	case f.BuildID() != nil:
		advice += fmt.Sprintf("\nA debug file may hold a .debug_frame: look for build ID %x%s.", f.BuildID(), orServers())
	}
	return no("%s: no call frame information: neither .eh_frame nor .debug_frame.%s", f.Name(), hint("\n"+advice))
}

// otherNames says how to find a function that goes by another name, or by none.
func otherNames(f *object.File, name string) hint {
	for s := range f.Symbols() {
		if s.Source == object.StaticSymbols || s.Source == object.DebugSymbols {
			return hint(fmt.Sprintf("\nLonger names that hold it: clew table %s --func '*%s*'", printable.Text(f.Name()), printable.Text(name)))
		}
	}
	if isGo(f) {
		return "\nIts symbols were stripped; functions of Go go by names such as main.main."
	}
	return "\nIts symbols were stripped, so most functions have no name: ask by address, or install its debug file" + hint(orServers()) + "."
}

// orServers advises to have debug files fetched where they are not.
func orServers() string {
	if fetch() != nil {
		return ""
	}
	return ", or name servers in DEBUGINFOD_URLS, which may have it"
}

func isGo(f *object.File) bool {
	_, ok := f.Go()
	return ok
}

// warnOfDamage says what was wrong with parts of the file that were read around.
func warnOfDamage(f *object.File) {
	if err := f.Damage(); err != nil {
		warn("%s: read around what is damaged: %v", f.Name(), err)
	}
}

// speaker is what messages begin with: the command with its verb. Only run sets it.
var speaker = "clew"

// warn tells of something that costs a part of the answer, or could.
func warn(format string, args ...any) {
	fmt.Fprintf(stderr, speaker+": "+format+"\n", inLine(args)...)
}
