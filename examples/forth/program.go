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

// Options are the options of Compile. The zero value and nil are valid.
type Options struct {
	// Machine is amd64 or arm64; nil is the machine on which this program runs.
	Machine *arch.Machine

	// FramePointers makes every word keep a frame pointer, for tools that do not use unwind tables.
	FramePointers bool

	// Entry adds a function that runs words for C code and debuggers: see Session.Enter.
	Entry bool

	// SpaceAfter returns the number of bytes to leave free after a word of a size in bytes. Some tools
	// need them for its unwind table: see SpaceAfter of package jit/perf. nil leaves none.
	SpaceAfter func(table *cfi.Program, size uint64) (uint64, error)
}

// Program is a compiled source file: position-independent code, and its initial data. It does not change
// after Compile.
type Program struct {
	Name    string // file name of Compile
	Machine *arch.Machine
	Text    []byte

	// Functions are the functions of Options.Entry, the words of the prelude that the program uses, its
	// own words, and TopLevel, in this order.
	Functions []jit.Function

	// Data is the initial content of the data space. Addresses of words such as @ and of variables
	// count from its start.
	Data []byte
}

// Compile compiles a source file. An error in the source is a *SyntaxError. file is the name in errors
// and in the lines of functions, preferably an absolute path. Compile may be called from several
// goroutines.
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
		return nil, fmt.Errorf("forth compiles for amd64 and arm64, not for %s", machineName(m))
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

// Code describes the program for tools, with its text at an address.
func (p *Program) Code(address uint64, text []byte) *jit.Code {
	return &jit.Code{
		Name: filepath.Base(p.Name), Machine: p.Machine,
		Address: address, Text: text, Functions: p.Functions,
	}
}

// word returns the index of the last function with a name, or -1.
func (p *Program) word(name string) int {
	for i := len(p.Functions) - 1; i >= 0; i-- {
		if lower(p.Functions[i].Name) == lower(name) {
			return i
		}
	}
	return -1
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
