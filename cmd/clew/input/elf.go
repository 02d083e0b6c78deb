// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package input

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
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
)

// Regular returns an error for a file that is not regular, with the file's information if it
// exists. Callers use it before they open the file, because opening a pipe waits for its writer, and
// opening a device can have effects.
func Regular(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, output.InputError(err)
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
	return info, output.InputErrorf("%s is a %s, not a regular file", path, kind)
}

// Exist returns an error for the first path that does not exist. It skips empty paths.
func Exist(paths ...string) error {
	for _, path := range paths {
		if _, err := os.Stat(path); path != "" && err != nil {
			return output.InputError(err)
		}
	}
	return nil
}

// OpenELF opens an ELF file together with its separate debug file. It warns of damage.
func OpenELF(path string) (*object.File, error) {
	s := SearchBelow("")
	return OpenBeside(path, &s)
}

// OpenBeside opens an ELF file together with the separate debug file that search finds.
func OpenBeside(path string, search *debugfile.Search) (*object.File, error) {
	info, err := Regular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if found, lookErr := exec.LookPath(path); lookErr == nil && !strings.Contains(path, "/") {
			return nil, output.InputErrorf("%s: no such file; did you mean %s?", path, found)
		}
		return nil, output.InputErrorf("%s: no such file", path)
	case info != nil && info.IsDir():
		return nil, output.InputErrorf("%w; name one ELF file in it", err)
	case err != nil:
		return nil, err
	case info.Size() == 0:
		return nil, output.InputErrorf("%s is empty; was its build or download cut short?", path)
	}
	f, err := object.Open(path)
	if err != nil {
		var advice output.Hint
		if c, err := ContentOf(path); err == nil {
			advice = c.adviceForELF(path)
		}
		return nil, output.InputErrorf("%w%s", err, advice)
	}
	if _, err := search.OpenDebugFile(f); err != nil {
		for _, line := range printable.Lines(err) {
			output.Warn("%s", line)
		}
	}
	return f, nil
}

// FrameSections returns the sections of call frame information of a file and of its debug file.
// With a name it returns the sections of that name only.
func FrameSections(f *object.File, name string) ([]*cfi.Section, error) {
	sections, err := f.CFISections()
	if err != nil {
		output.Warn("%v", err)
	}
	if !slices.ContainsFunc(sections, func(s *cfi.Section) bool { return s.Kind == cfi.DebugFrame }) {
		debug, err := f.DebugFrame()
		if err != nil {
			output.Warn("%v", err)
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
		return nil, output.Partialf("%s: no call frame information in a section %s; it has %s", f.Name(), name, strings.Join(names, ", "))
	}
	return chosen, nil
}

// noFrames returns the error for a file without call frame information, with likely reasons.
func noFrames(f *object.File) error {
	advice := "It may have been built with -fno-asynchronous-unwind-tables, or its tables may have been stripped."
	switch link, _ := f.DebugLink(); {
	case f.Type() == elf.ET_CORE:
		advice = "It is a core: the unwind tables are in its program and libraries; name one of them."
	case f.Damage() != nil:
		advice = "It may be in a damaged part of the file."
	case f.Machine().UnwindIndex != elf.PT_NULL:
		advice = "Unwind tables of 32-bit ARM are in .ARM.exidx, which Clew does not read; a build with -g has a .debug_frame."
	case isGo(f):
		advice = "Go's linker omits .debug_frame with -ldflags=-w or -s: build without these flags."
	case link != "":
		advice = fmt.Sprintf("Its debug file, %s, may hold a .debug_frame: install it, or name it instead%s.", printable.Text(link), orServers())
	case f.BuildID() != nil:
		advice += fmt.Sprintf("\nA debug file may hold a .debug_frame: look for build ID %x%s.", f.BuildID(), orServers())
	}
	return output.Partialf("%s: no call frame information: neither .eh_frame nor .debug_frame.%s", f.Name(), output.Hint("\n"+advice))
}

// OtherNames returns advice for finding a function with another name, or without a name.
func OtherNames(f *object.File, name string) output.Hint {
	for s := range f.Symbols() {
		if s.Source == object.StaticSymbols || s.Source == object.DebugSymbols {
			return output.Hint(fmt.Sprintf("\nLonger names that contain it: clew table %s --func '*%s*'", printable.Text(f.Name()), printable.Text(name)))
		}
	}
	if isGo(f) {
		return "\nIts symbols were stripped; functions of Go have names such as main.main."
	}
	return "\nIts symbols were stripped, so most functions have no name: use an address, or install its debug file" + output.Hint(orServers()) + "."
}

// orServers returns advice to name debuginfod servers, "" if some are set.
func orServers() string {
	if Fetch() != nil {
		return ""
	}
	return ", or set DEBUGINFOD_URLS to servers that may have it"
}

func isGo(f *object.File) bool {
	_, ok := f.Go()
	return ok
}

// WarnOfDamage warns of damaged parts of the file that were skipped.
func WarnOfDamage(f *object.File) {
	if err := f.Damage(); err != nil {
		output.Warn("%s: damaged parts were skipped: %v", f.Name(), err)
	}
}
