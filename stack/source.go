// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"debug/elf"
	"errors"
	"fmt"
	"sync"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/unwind/ehabi"
	"github.com/clewdev/clew/unwind/golang"
)

// FileTables are the unwind tables of an object file, for an unwind.Module. The data may
// be a view of the file: see object.Guard.
type FileTables struct {
	Source unwind.Source

	// Function returns where the function that contains an address starts, as the call
	// frame information says, else the symbols.
	Function func(pc uint64) (start uint64, ok bool)

	// SwitchesStack is for Module.SwitchesStack: it finds libgcc's __morestack.
	SwitchesStack func(pc uint64) bool

	Bare bool // the file has no call frame information
	Go   bool // the file is a Go program
}

// ReadTables returns the unwind tables of a file: .eh_frame by its header, and .debug_frame
// for the code that .eh_frame does not cover. If the separate debug file was opened, its
// .debug_frame is used too. If compile is set, a table that is often used is compiled. If
// .eh_frame cannot be read, the Source returns that error for every address.
func ReadTables(f *object.File, compile bool) (t FileTables) {
	if err := object.Guard(func() error { return t.read(f, compile) }); err != nil {
		t.Source = failedSource{err: err}
	}
	return t
}

func (t *FileTables) read(f *object.File, compile bool) error {
	eh, err := f.EHFrame()
	if eh == nil && err != nil {
		return err
	}
	s := &unwind.Sections{EHFrame: eh, DebugFrame: f.DebugFrame}
	if eh == nil {
		debug, err := f.DebugFrame()
		t.Bare = debug == nil && err == nil
		s.DebugFrame = func() (*cfi.Section, error) { return debug, err }
	}
	if data, address, ok := f.EHFrameHdr(); ok {
		// A damaged header only costs its table: the section is searched instead.
		if h, err := cfi.ParseHeader(data, address, f.Machine()); err == nil {
			s.Header = h
		}
	}
	t.Function = func(pc uint64) (uint64, bool) {
		if start, ok := s.Function(pc); ok {
			return start, true
		}
		r, ok := f.FunctionRange(pc)
		return r.Low, ok
	}
	t.SwitchesStack = switchesStack(f)
	t.Source = s
	if compile && eh != nil {
		t.Source = &compilingSource{Sections: s}
	}
	t.Source = withExceptionTable(t.Source, f)
	// The call frame information does not say where the stacks of a Go program start and
	// where its runtime changes stacks, nor where those of another program start.
	if _, t.Go = f.Go(); t.Go {
		t.Source = newGoSource(t.Source, f)
	} else if f.Entry() != 0 {
		_, _, covered := f.EHFrameHdr()
		t.Source = entrySource{t.Source, f, covered, golang.Start(f.Machine())}
	}
	return nil
}

// switchesStack returns a function that reports whether an address is in __morestack.
// Functions of gcc -fsplit-stack call it when their stack is full. It runs them on a new
// stack. gdb knows it by this name, too: its rules do not differ from those of other functions.
func switchesStack(f *object.File) func(pc uint64) bool {
	find := sync.OnceValue(func() object.Symbol {
		s, _ := f.Symbol("__morestack")
		return s
	})
	return func(pc uint64) bool {
		s := find()
		return pc-s.Address < s.Size
	}
}

// CodeAnalyzer makes unwind rules for functions that no table describes, from their code.
// Package check/coderules has one.
type CodeAnalyzer interface {
	// Rules returns the rules before the instruction at pc in a function of the file, nil if
	// its code does not determine them. Addresses are without load bias. Rules can be called
	// concurrently.
	Rules(f *object.File, function object.AddressRange, pc uint64) *unwind.Rules
}

// Analyze returns the Analyze function of a module of the file, nil if a is nil.
func (t *FileTables) Analyze(f *object.File, a CodeAnalyzer) func(pc uint64) *unwind.Rules {
	if a == nil {
		return nil
	}
	isGo := t.Go
	return func(pc uint64) *unwind.Rules {
		if isGo {
			if _, ok := f.GoFunctionAt(pc); ok {
				return nil // it does not keep to the psABI
			}
		}
		function, ok := f.FunctionRange(pc)
		if !ok {
			return nil
		}
		return a.Rules(f, function, pc)
	}
}

// compilingSource looks addresses up in the sections, one by one, until compiling
// .eh_frame pays.
type compilingSource struct {
	*unwind.Sections
	table *unwind.Table
	asked int
}

// compileCost is how many bytes of .eh_frame are compiled in the time of one look-up in
// the sections.
const compileCost = 60

func (c *compilingSource) Rules(pc uint64) (*unwind.Rules, error) {
	if c.table == nil {
		if c.asked++; c.asked*compileCost > len(c.EHFrame.Data) {
			c.table = unwind.Compile(c.EHFrame)
		}
	}
	if c.table != nil {
		if rules, err := c.table.Rules(pc); err == nil {
			return rules, nil
		}
	}
	return c.Sections.Rules(pc)
}

// entrySource is the source of a file with an entry point. The kernel starts the program
// there, so the function has no caller. The tables of ld.so, of older glibc on arm64, and of
// glibc on MIPS, m68k and sparc64 do not say so.
type entrySource struct {
	unwind.Source
	file    *object.File
	covered bool // the file has a table of all its functions, but for a few in assembly
	start   *unwind.Rules
}

func (s entrySource) Rules(pc uint64) (*unwind.Rules, error) {
	rules, err := s.Source.Rules(pc)
	if err != nil && !errors.Is(err, cfi.ErrNoFDE) || err == nil && leadsOn(rules) || !s.isEntry(pc) {
		return rules, err
	}
	return s.start, nil
}

// isEntry reports whether an address is in the function at the entry point. If no symbol
// gives its size, it is taken for a few instructions, which prepare the arguments and call
// C. Some machines need more (EntryCode); isEntry then accepts only the return address,
// because other functions can follow. If the file has no table, many functions are not
// covered: then the nearest symbol must be that of the entry point.
func (s entrySource) isEntry(pc uint64) bool {
	const few, most = 32, 1 << 10
	entry := s.file.Entry()
	switch {
	case pc-entry > most: // or before it
		return false
	case !s.covered:
		symbols, _ := s.file.FindSymbols([]uint64{pc})
		return symbols[0].Name != "" && symbols[0].Address == entry
	case pc-entry < few:
		return true
	}
	if start, ok := s.file.FunctionStart(pc); ok {
		return start == entry
	}
	m := s.file.Machine()
	return pc-entry < m.EntryCode && (pc+1)%m.CodeAlign == 0 // the byte before a return address
}

// leadsOn reports whether rules give the place of the return address. A function that calls
// others cannot keep it in its register.
func leadsOn(r *unwind.Rules) bool {
	for i := range r.Registers {
		if rule := &r.Registers[i]; uint64(rule.Column) == r.ReturnAddress {
			return rule.Kind != cfi.SameValue
		}
	}
	return false
}

// goSource is the source of a program with Go functions. The call frame information of Go
// describes every function as if it had been called, also those at which a stack starts or
// the runtime changes stacks. A walk past them would read memory outside the stack.
// goSource therefore uses Go's own table for Go functions.
type goSource struct {
	unwind.Source
	file  *object.File
	table *golang.Table // nil for machines that package golang does not support
	start *unwind.Rules
}

func newGoSource(s unwind.Source, f *object.File) goSource {
	table, _ := golang.New(golang.Program{
		Machine: f.Machine(),
		Function: func(address uint64) (golang.Function, bool) {
			fn, ok := f.GoFunctionAt(address)
			return golang.Function(fn), ok
		},
		Named: func(name string) (golang.Function, bool) {
			fn, ok := f.GoFunctionNamed(name)
			return golang.Function(fn), ok
		},
		Code: f,
	})
	return goSource{s, f, table, golang.Start(f.Machine())}
}

func (s goSource) Rules(pc uint64) (*unwind.Rules, error) {
	fn, ok := s.file.GoFunctionAt(pc)
	switch {
	case !ok:
		return s.Source.Rules(pc)
	case s.table != nil:
		return s.table.Rules(pc)
	case golang.StartsIn(fn.Name) || fn.Name == "runtime.mcall":
		return s.start, nil
	case golang.SwitchesIn(fn.Name):
		return nil, fmt.Errorf("%w: %s, at %#x: %w", cfi.ErrNoFDE, fn.Name, pc, unwind.ErrMovesStack)
	}
	return s.Source.Rules(pc)
}

// withExceptionTable returns a source that also reads the exception table of an arm file,
// if it has one.
func withExceptionTable(s unwind.Source, f *object.File) unwind.Source {
	index := f.Machine().UnwindIndex
	if index == elf.PT_NULL {
		return s
	}
	for _, p := range f.Segments() {
		if p.Type != index || p.Filesz > maxExceptionIndex {
			continue
		}
		table := make([]byte, p.Filesz)
		if f.ReadMemory(table, p.Vaddr) == nil {
			return exceptionSource{s, ehabi.New(table, p.Vaddr, f.Entry(), f.Machine(), f)}
		}
	}
	return s
}

// maxExceptionIndex exceeds the size of all known tables: libLLVM's has 0.4 MB.
const maxExceptionIndex = 16 << 20

type exceptionSource struct {
	unwind.Source
	table *ehabi.Table
}

func (s exceptionSource) Rules(pc uint64) (*unwind.Rules, error) {
	rules, err := s.Source.Rules(pc)
	if err == nil || !errors.Is(err, cfi.ErrNoFDE) {
		return rules, err
	}
	rules, tableErr := s.table.Rules(pc)
	if tableErr != nil {
		return nil, fmt.Errorf("%w; and %w", err, tableErr)
	}
	return rules, nil
}
