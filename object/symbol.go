// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"iter"

	"github.com/clewdev/clew/internal/printable"
)

// Symbol is a symbol that is defined in the file.
type Symbol struct {
	Name    string // mangled, without version; cut at 16 KiB, with "…", and see [File.Symbols]
	Address uint64 // without load bias and without the Thumb bit
	Size    uint64 // bytes, 0 if unknown
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
// its order. A symbol in several tables comes several times. If names share so many bytes that
// together they are much longer than the string table, those that follow are cut at 128 bytes.
func (f *File) Symbols() iter.Seq[Symbol] {
	return func(yield func(Symbol) bool) {
		f.noteFault(func() {
			f.tables(func(in *File, t symbolTable, err error) bool {
				if err != nil {
					f.note(err)
				}
				more := true
				left := maxShared*len(t.names) + printable.MaxName
				in.scan(t, code|object, func(s *rawSymbol) bool {
					longest := printable.MaxName
					if left < 0 {
						longest = maxSharing
					}
					symbol := t.symbolCut(s, longest)
					left -= len(symbol.Name)
					more = yield(symbol)
					return more
				})
				return more
			})
		})
	}
}

// Linkers let a name be the end of another one: the names of a real file are up to twice as long as
// its string table. In a hostile file, each of millions of names can be that of 16 KiB.
const (
	maxShared  = 4   // times the size of the string table
	maxSharing = 128 // bytes of a name after that
)

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

// SymbolsAt returns the symbols that start at an address, in the order of [File.Symbols]: a
// function can have several names. The list is cut when its names have 1 MiB.
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

// movesSymbols reports whether toAddress can change values.
func (f *File) movesSymbols() bool {
	return f.marksModes() || f.arch.Descriptors || f.typ == elf.ET_REL || f.sectionRelative()
}

// toAddress changes the value of a symbol to an address; of a function, to that of the first
// instruction.
func (f *File) toAddress(s *rawSymbol) {
	if (f.typ == elf.ET_REL || f.sectionRelative()) && s.shndx != elf.SHN_ABS && uint64(s.shndx) < f.shnum {
		s.value += f.section(int(s.shndx)).addr
	}
	if !isFunction(s) {
		return
	}
	if f.marksModes() {
		s.value &^= 1
	}
	if f.arch.Descriptors && f.flags&3 < 2 && f.inDescriptors(s) { // ELFv1
		if entry := f.descriptor(s.value); entry != 0 {
			// The symbol's section is that of the descriptor.
			s.value, s.shndx = entry, elf.SHN_ABS
		}
	}
}

// marksModes reports whether the lowest bit of a function's address is the mode in which
// its code runs: Thumb, microMIPS, MIPS16.
func (f *File) marksModes() bool { return f.arch.CodeMask&1 == 0 }

// descriptor returns the first word of a function descriptor, 0 if it cannot be read.
func (f *File) descriptor(addr uint64) uint64 {
	if f.memory != nil {
		var word [8]byte
		if f.ReadMemory(word[:], addr) != nil {
			return 0
		}
		return f.withoutBias(f.order.Uint64(word[:]))
	}
	if b, _, ok := f.at(addr); ok && len(b) >= 8 {
		return f.order.Uint64(b)
	}
	return 0
}

// inDescriptors reports whether a symbol is outside of executable code: in .opd, the function
// descriptors of the ELFv1 ABI.
func (f *File) inDescriptors(s *rawSymbol) bool {
	if s.shndx != elf.SHN_ABS && uint64(s.shndx) < f.shnum {
		return f.section(int(s.shndx)).flags&elf.SHF_EXECINSTR == 0
	}
	p, ok := f.segmentAt(s.value)
	return ok && p.Flags&elf.PF_X == 0
}

func isFunction(s *rawSymbol) bool {
	return s.typ() == elf.STT_FUNC || s.typ() == elf.STT_GNU_IFUNC
}

// maxUndecided bounds the symbols that findSectionRelative examines. In files of linkers the
// first function decides.
const maxUndecided = 1 << 12

// findSectionRelative reports whether the values of symbols are relative to their
// sections though the file is not ET_REL (gABI, "Symbol Values"). Runtimes that make
// an ET_DYN of an object file, to register it with debuggers, often leave them so.
// The first function decides it with a value that is inside of its section in one
// interpretation and outside in the other.
func (f *File) findSectionRelative() (relative bool) {
	if f.typ != elf.ET_DYN && f.typ != elf.ET_EXEC || f.arch.Descriptors {
		return false // values are those of descriptors, which are in another section
	}
	f.noteFault(func() {
		left := maxUndecided
		f.symbolTables(func(t symbolTable, _ error) bool {
			size, info := f.symbolSize(), f.symbolInfo()
			for entries := t.entries; len(entries) >= size && left > 0; entries = entries[size:] {
				if left--; entries[info]&0xf != byte(elf.STT_FUNC) {
					continue
				}
				s := f.decodeSymbol(entries)
				if s.shndx == elf.SHN_UNDEF || s.shndx >= elf.SHN_LORESERVE || uint64(s.shndx) >= f.shnum {
					continue
				}
				section := f.section(int(s.shndx))
				if section.flags&(elf.SHF_ALLOC|elf.SHF_EXECINSTR) != elf.SHF_ALLOC|elf.SHF_EXECINSTR {
					continue
				}
				inside, insideByOffset := s.value-section.addr < section.size, s.value < section.size
				if inside != insideByOffset {
					relative, left = insideByOffset, 0
				}
			}
			return left > 0
		})
	})
	return relative
}
