// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"iter"
)

// Symbol is a symbol that is defined in the file.
type Symbol struct {
	Name    string // mangled, without version; cut at 16 KiB, with "…"
	Address uint64 // without load bias and without the Thumb bit
	Size    uint64 // bytes, 0 if the table has none
	Type    elf.SymType
	Binding elf.SymBind
	Source  SymbolSource

	// Hidden says that the symbol's version is not the default one: neither dlsym nor
	// linkers find it by its name alone.
	Hidden bool

	// Gccgo says that gccgo compiled code of the file. It escapes characters that
	// assemblers do not accept: "example_0com_1pkg.F". FindSymbols sets it.
	Gccgo bool

	// GNAT says that GNAT compiled Ada code of the file. It encodes names: "pkg__proc".
	// FindSymbols sets it.
	GNAT bool

	// Section is an index in [File.Sections] of the file with the symbol's table; 0 if the
	// symbol has no section. Symbols, Symbol and FindCode set it.
	Section int
}

// SymbolSource is the table that a symbol was found in.
type SymbolSource uint8

const (
	NoSymbols        SymbolSource = iota
	StaticSymbols                 // .symtab
	DebugSymbols                  // .symtab of the separate debug file
	DynamicSymbols                // .dynsym
	MiniDebugSymbols              // .symtab in .gnu_debugdata
	GoSymbols                     // .gopclntab
	StubSymbols                   // a stub of the procedure linkage table, "puts@plt"
)

// Symbols yields the functions and objects that the symbol tables define, each table in
// its order. A symbol in several tables comes several times.
func (f *File) Symbols() iter.Seq[Symbol] {
	return func(yield func(Symbol) bool) {
		f.noteFault(func() {
			f.tables(func(in *File, t symbolTable, err error) bool {
				if err != nil {
					f.note(err)
				}
				more := true
				in.scan(t, code|object, func(s *rawSymbol) bool {
					more = yield(t.symbol(s))
					return more
				})
				return more
			})
		})
	}
}

// Symbol returns the symbol called name: the dynamic symbol, in its default version if
// there are several, else the first one in the order of [File.Symbols], functions and
// global symbols before others.
func (f *File) Symbol(name string) (symbol Symbol, ok bool) {
	f.noteFault(func() {
		if symbol, ok = f.exported(name); ok {
			return
		}
		f.tables(func(in *File, t symbolTable, _ error) bool {
			symbol, ok = in.bestNamed(t, name)
			return !ok
		})
	})
	return symbol, ok
}

// bestNamed returns the first symbol of a table that has a name, a default version, a
// function or global one before others.
func (f *File) bestNamed(t symbolTable, name string) (symbol Symbol, ok bool) {
	best := -1
	f.scanNamed(t, code|object, name, func(s *rawSymbol) {
		if r := rank(s); r > best {
			best, symbol, ok = r, t.symbol(s), true
		}
	})
	return symbol, ok
}

// SymbolsAt returns the symbols that start at an address, in the order of [File.Symbols]:
// a function can have several names. The list ends at a MiB of names.
func (f *File) SymbolsAt(addr uint64) (list []Symbol) {
	left := 1 << 20
	f.noteFault(func() {
		f.tables(func(in *File, t symbolTable, _ error) bool {
			in.scanAt(t, code|object, addr, func(s *rawSymbol) bool {
				symbol := t.symbol(s)
				if left -= len(symbol.Name) + 1; left >= 0 {
					list = append(list, symbol)
				}
				return left >= 0
			})
			return left >= 0
		})
	})
	return list
}
