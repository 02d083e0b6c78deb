// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debug

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/console"
	"github.com/clewdev/clew/session/hosted"
	"github.com/clewdev/clew/session/link"
)

// program is the code that a session runs.
type program struct {
	images   []*session.Image
	language console.Language // nil for C
	closers  []func() error   // called in reverse order
}

func (p *program) close() {
	for _, c := range slices.Backward(p.closers) {
		_ = c() // the command ends, so errors do not matter
	}
}

// load loads object files or a Forth program. The code's output goes to out.
func load(files []string, out io.Writer) (*program, error) {
	p := new(program)
	var err error
	switch {
	case filepath.Ext(files[0]) != ".fth":
		err = p.loadObjects(files, out)
	case len(files) > 1:
		err = fmt.Errorf("one Forth program at a time: %s", strings.Join(files, " "))
	default:
		err = p.loadForth(files[0], out)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// loadObjects links object files with each other and with the functions of package hosted.
func (p *program) loadObjects(files []string, out io.Writer) error {
	var objects []*object.File
	for _, path := range files {
		f, err := input.OpenELF(path)
		if err != nil {
			return err
		}
		p.closers = append(p.closers, f.Close)
		if f.Type() != elf.ET_REL {
			return output.InputErrorf("%s is not an object file: name the output of 'gcc -g -c'.\n"+
				"For a whole program use gdb; 'clew stack -- %s' prints its stacks when it crashes.", path, path)
		}
		objects = append(objects, f)
	}
	library, err := hosted.New(&hosted.Options{Output: out})
	if err != nil {
		return output.InputError(err)
	}
	p.closers = append(p.closers, library.Close)
	libc, err := library.Image()
	if err != nil {
		return output.InputError(err)
	}
	p.closers = append(p.closers, libc.Close)
	image, err := session.LoadImage(&session.ImageOptions{Imports: []*session.Image{libc}}, objects...)
	switch {
	case errors.Is(err, link.ErrUndefined):
		return undefined(err, library)
	case err != nil:
		return output.InputError(err)
	}
	p.closers = append(p.closers, image.Close)
	p.images = []*session.Image{image, libc}
	return nil
}

// undefined returns an error that lists the undefined symbols, demangled and one on each line, with
// advice.
func undefined(err error, library *hosted.Library) error {
	_, list, ok := strings.Cut(err.Error(), link.ErrUndefined.Error()+": ")
	if !ok {
		return output.InputError(err)
	}
	var b strings.Builder
	entries := strings.Split(list, "; ")
	b.WriteString("undefined symbols:")
	cplusplus, types, exceptions, rust := false, false, false, false
	for _, entry := range entries {
		name, places, _ := strings.Cut(entry, ",")
		fmt.Fprintf(&b, "\n  %s,%s", printable.Text(style.Demangle(name)), printable.Text(places))
		if rustName(name) {
			rust = true
			continue
		}
		cplusplus = cplusplus || strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "__cxa") || strings.HasPrefix(name, "__gxx")
		types = types || strings.HasPrefix(name, "_ZTVN10__cxxabiv1") || strings.HasPrefix(name, "_ZTI")
		exceptions = exceptions || strings.HasPrefix(name, "__gxx_personality") || strings.HasPrefix(name, "_Unwind_") ||
			slices.Contains([]string{"__cxa_throw", "__cxa_begin_catch", "__cxa_allocate_exception", "__cxa_call_unexpected", "__cxa_end_cleanup"}, name)
	}
	b.WriteString("\nName the object files that define them too.")
	if types {
		b.WriteString("\nClasses need no run-time type information if compiled with g++ -fno-rtti.")
	}
	if rust {
		b.WriteString("\nClew has no Rust library: use #![no_std], and compile with rustc -g -C opt-level=1\n" +
			"-C panic=abort -C overflow-checks=off.")
	} else if exceptions {
		b.WriteString("\nExceptions cannot be thrown here; compile with g++ -fno-exceptions.")
	}
	if cplusplus {
		b.WriteString("\nClew has no C++ library: an object file must define operator new and delete,\nfor example.")
	} else {
		fmt.Fprintf(&b, "\nClew has these functions of the C library:\n%s.", functionList(library))
	}
	return output.InputErrorf("%s", output.Hint(b.String()))
}

// rustName reports whether a mangled name is of Rust's library.
func rustName(name string) bool {
	if strings.HasPrefix(name, "_R") {
		return true
	}
	i := strings.LastIndex(name, "17h") // a hash of 16 digits, in the names of earlier releases
	return strings.HasPrefix(name, "_ZN") && i > 0 && len(name) == i+len("17h")+16+len("E")
}

func functionList(l *hosted.Library) string {
	text, column := "", 0
	for i, f := range l.Functions() {
		if strings.HasPrefix(f.Name, "__") {
			continue
		}
		switch {
		case i > 0 && column+len(f.Name) > 76:
			text, column = text+",\n", 0
		case text != "":
			text, column = text+", ", column+2
		}
		text, column = text+f.Name, column+len(f.Name)
	}
	return text
}

const maxForth = 64 << 20 // bytes of a Forth program

func (p *program) loadForth(path string, out io.Writer) error {
	if _, err := input.Regular(path); err != nil {
		return err
	}
	source, err := untrusted.ReadNamed(path, maxForth)
	if err != nil {
		return output.InputError(err)
	}
	// A debugger that looks for the source may run in another folder.
	full, err := filepath.Abs(path)
	if err != nil {
		return output.InputError(err)
	}
	program, err := forth.Compile(full, source, &forth.Options{Entry: true})
	if err != nil {
		return output.InputError(err)
	}
	loaded, err := forth.Load(program, &forth.SessionOptions{Output: out, Unpublished: true})
	if err != nil {
		return output.InputError(err)
	}
	p.closers = append(p.closers, loaded.Close)
	image, err := session.NewImage(loaded.Code())
	if err != nil {
		return output.InputError(err)
	}
	p.closers = append(p.closers, image.Close)
	p.images = []*session.Image{image}
	p.language = &forthLanguage{program: program, session: loaded, file: full}
	return nil
}

// welcome returns the first lines of an interactive session.
func (p *program) welcome(call string) string {
	if call != "" {
		return fmt.Sprintf("\"run\" calls %s, \"start\" stops at its beginning; \"help\" lists the commands.", call)
	}
	names := p.functions()
	switch {
	case len(names) == 0:
		return "No functions to call. \"help\" lists the commands."
	case len(names) > 10:
		names = append(names[:10:10], "…")
	}
	example := names[0] + "(...)"
	if _, ok := p.language.(*forthLanguage); ok {
		example = "1 2 " + names[0]
	}
	return fmt.Sprintf("Functions: %s\n\"break %s\", then \"call %s\"; \"help\" lists the commands.", strings.Join(names, ", "), names[0], example)
}

func (p *program) functions() []string {
	if p.language != nil {
		return p.language.Functions()
	}
	var names []string
	for _, f := range p.images[0].Functions() {
		names = append(names, f.Name)
	}
	return names
}
