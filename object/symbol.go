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
	Name    string // as the file has it: mangled, without version; of more than 16 KiB cut, with "…"
	Address uint64 // without load bias and without the Thumb bit
	Size    uint64 // bytes, 0 where the file does not say
	Type    elf.SymType
	Binding elf.SymBind
	Source  SymbolSource

	// Hidden says that its version is not the default one: nobody gets it who asks for
	// the name alone, neither by dlsym nor by linking.
	Hidden bool

	// Gccgo says that gccgo compiled code of the file: it writes characters that assemblers
	// do not take as escapes, "example_0com_1pkg.F". FindSymbols sets it.
	Gccgo bool

	// GNAT says that the file has code of Ada that GNAT compiled, which encodes names:
	// "pkg__proc". FindSymbols sets it.
	GNAT bool

	// Section is the index in [File.Sections] that the symbol names, of the
	// file whose table it is in; 0 where it names none. Symbols, Symbol and
	// FindCode set it.
	Section int
}

// SymbolSource tells where a symbol was found.
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

// Symbols yields the functions and objects that the symbol tables define, each
// table in its order; a symbol of several tables comes several times.
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

// Symbol returns the symbol called name: the one that the file defines for others, of
// several versions the default one; else the first one as [File.Symbols] yields them, a
// function or global one before others.
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

// SymbolsAt returns the symbols that start at an address, as [File.Symbols] yields
// them: a function can have several names. Those beyond a MiB of names are left out.
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
