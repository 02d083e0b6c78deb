// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"debug/elf"
	"fmt"
	"path/filepath"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// Options says how a program is compiled. The zero value, like nil, is for the
// machine that this program runs on.
type Options struct {
	// Machine is amd64 or arm64; nil is the one that this program runs on.
	Machine *arch.Machine

	// FramePointers makes every word keep a frame pointer, as code does that is
	// looked at without unwind tables. Otherwise the unwind tables alone know
	// where a word's caller is.
	FramePointers bool

	// Entry adds a function that runs words for C code and debuggers: see
	// Session.Enter.
	Entry bool

	// SpaceAfter returns the number of bytes to leave free after a word of a size in bytes. Some tools
	// need them for its unwind table: see SpaceAfter of package jit/perf.
	// nil is none.
	SpaceAfter func(table *cfi.Program, size uint64) (uint64, error)
}

// Program is a compiled source file: code that runs wherever it is copied to,
// and the data that it begins with. It is not changed after Compile.
type Program struct {
	Name    string // of the source file, as it was given
	Machine *arch.Machine
	Text    []byte

	// Functions are the words, those of the prelude that the program uses first,
	// TopLevel last. With Options.Entry what it adds comes before them.
	Functions []jit.Function

	// Data is what the data space begins with. Addresses of words such as @ and
	// of variables count from its start.
	Data []byte
}

// Compile compiles a source file. What is wrong with the source is a
// *SyntaxError; file is its name there and in the lines of the functions, best
// an absolute path. It may be called from several goroutines.
func Compile(file string, source []byte, options *Options) (*Program, error) {
	if options == nil {
		options = new(Options)
	}
	m := options.Machine
	if m == nil {
		m = jit.Host()
	}
	e := &emitter{frames: options.FramePointers, spaceAfter: options.SpaceAfter}
	switch {
	case m != nil && m.ELF == elf.EM_X86_64 && m.AddressSize == 8:
		e.machine = amd64{}
	case m != nil && m.ELF == elf.EM_AARCH64 && m.AddressSize == 8 && m.Order.Uint16([]byte{1, 0}) == 1:
		e.machine = arm64{}
	default:
		return nil, fmt.Errorf("forth is compiled for amd64 and arm64, and not for %s", machineName(m))
	}
	words, data, err := parse(file, source)
	if err != nil {
		return nil, err
	}
	e.cie = cfi.EntryCIE(m)
	p := &Program{Name: file, Machine: m, Data: data}
	var stubs []jit.Function
	if options.Entry {
		if stubs, err = e.emitStubs(); err != nil {
			return nil, err
		}
	}
	p.Functions, err = e.program(words)
	p.Functions = append(stubs, p.Functions...)
	p.Text = e.text
	return p, err
}

func machineName(m *arch.Machine) string {
	if m == nil {
		return "this machine"
	}
	return m.Name
}

// Code describes the program for tools, where its text was copied to address.
func (p *Program) Code(address uint64, text []byte) *jit.Code {
	return &jit.Code{
		Name: filepath.Base(p.Name), Machine: p.Machine,
		Address: address, Text: text, Functions: p.Functions,
	}
}

// word returns the function that a name means, nil where there is none: the
// last that was defined, as for the source.
func (p *Program) word(name string) *jit.Function {
	for i := len(p.Functions) - 1; i >= 0; i-- {
		if lower(p.Functions[i].Name) == lower(name) {
			return &p.Functions[i]
		}
	}
	return nil
}

// position returns the source of the instruction at an offset into the text.
func (p *Program) position(offset uint64) (word string, line jit.Line) {
	for i := range p.Functions {
		f := &p.Functions[i]
		if offset < f.Offset || offset-f.Offset >= f.Size {
			continue
		}
		for _, l := range f.Lines {
			if l.Offset <= offset-f.Offset {
				line = l
			}
		}
		return f.Name, line
	}
	return "", jit.Line{}
}
