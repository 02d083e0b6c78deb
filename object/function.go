// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"cmp"
	"debug/elf"
	"errors"
	"slices"
	"sort"

	"github.com/clewdev/clew/object/internal/dwarf"
)

// AddressRange is the addresses from Low up to High, which is not in it.
type AddressRange struct{ Low, High uint64 }

// Contains reports whether addr is in the range.
func (r AddressRange) Contains(addr uint64) bool { return addr >= r.Low && addr < r.High }

// Function is a function that was compiled, or a call that was inlined.
type Function struct {
	Name   string         // the linkage name where there is one, "" where nothing names it
	Entry  uint64         // the address where it starts: that of the first range
	Ranges []AddressRange // its code, in the order of the compiler

	Inlined    bool
	Starts     bool   // of FunctionsAt: the inlined call is entered at the address
	CallFile   string // where the call stands that was inlined
	CallLine   int
	CallColumn int
}

// Contains reports whether addr is in one of the function's ranges.
func (f *Function) Contains(addr uint64) bool {
	return slices.ContainsFunc(f.Ranges, func(r AddressRange) bool { return r.Contains(addr) })
}

// FunctionsAt returns the calls that were inlined at addr, the innermost first,
// and last the function itself, by the DWARF information; else the function that
// a symbol with a size tells of, alone.
func (f *File) FunctionsAt(addr uint64) (list []Function, err error) {
	err = f.withLines(func(d *dwarf.Data) error {
		found, err := d.FunctionsAt(addr)
		list = functions(found)
		return err
	})
	if len(list) > 0 {
		return list, err
	}
	symbols, symbolsErr := f.FindSymbols([]uint64{addr})
	if s := symbols[0]; s.Size > 0 && addr-s.Address < s.Size {
		list = []Function{symbolFunction(&s)}
	}
	return list, errors.Join(err, symbolsErr)
}

// Functions returns the functions called name and the calls of such functions
// that were inlined, in the order of their entries. A name is the one that the
// linker knows, that of the source, with or without namespaces and classes. What
// the DWARF information does not have may come from symbols.
func (f *File) Functions(name string) (list []Function, err error) {
	err = f.withLines(func(d *dwarf.Data) error {
		found, err := d.Functions(name)
		list = functions(found)
		return err
	})
	known := make(map[uint64]bool, len(list))
	for i := range list {
		known[list[i].Entry] = true
	}
	f.noteFault(func() {
		f.tables(func(in *File, t symbolTable, _ error) bool {
			in.scan(t, code, func(s *rawSymbol) bool {
				if isFunction(s) && !known[s.value] && hasName(t.names, uint64(s.name), name) {
					known[s.value] = true
					symbol := t.symbol(s)
					list = append(list, symbolFunction(&symbol))
				}
				return true
			})
			return true
		})
	})
	slices.SortStableFunc(list, func(a, b Function) int { return cmp.Compare(a.Entry, b.Entry) })
	return list, err
}

func symbolFunction(s *Symbol) Function {
	return Function{Name: s.Name, Entry: s.Address, Ranges: []AddressRange{{s.Address, s.Address + s.Size}}}
}

func functions(found []dwarf.Function) []Function {
	list := make([]Function, len(found))
	for i, from := range found {
		list[i] = Function{
			Name: from.Name, Entry: from.Entry, Inlined: from.Inlined, Starts: from.Starts,
			CallFile: from.CallFile, CallLine: from.CallLine, CallColumn: from.CallColumn,
		}
		for _, r := range from.Ranges {
			list[i].Ranges = append(list[i].Ranges, AddressRange{r[0], r[1]})
		}
	}
	return list
}

// extent is the code of a function.
type extent struct{ start, end uint64 }

// FunctionStart returns where the function starts that an address lies in, both
// without load bias, and whether a symbol says so: one of a function whose size
// covers the address, or, in a table that has all functions, one without a size
// before it. Unlike [File.FindSymbols] it keeps what it read, 16 bytes a function,
// as it is made to be asked for one address after the other. It may be called by
// several goroutines.
func (f *File) FunctionStart(addr uint64) (start uint64, ok bool) {
	f.extentsOnce.Do(func() { f.noteFault(f.readExtents) })
	n := sort.Search(len(f.extents), func(i int) bool { return f.extents[i].start > addr })
	if n == 0 || addr >= f.extents[n-1].end {
		return 0, false
	}
	return f.extents[n-1].start, true
}

// readExtents reads the symbol tables for FunctionStart.
func (f *File) readExtents() {
	type symbol struct{ start, size, limit uint64 }
	var list []symbol
	f.tables(func(in *File, t symbolTable, _ error) bool {
		var span codeSpan
		in.scan(t, code, func(s *rawSymbol) bool {
			// After a symbol of the dynamic table may come a function without one,
			// and a local symbol that is no function's is a label within one.
			named := s.size != 0 || t.source != DynamicSymbols && (isFunction(s) || s.binding() != elf.STB_LOCAL)
			if named && s.value+s.size >= s.value && span.holds(in, s) {
				list = append(list, symbol{s.value, s.size, span.end})
			}
			return true
		})
		return true
	})
	slices.SortFunc(list, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.size, a.size))
	})
	list = slices.CompactFunc(list, func(a, b symbol) bool { return a.start == b.start })
	f.extents = make([]extent, len(list))
	for i, s := range list {
		end := s.start + s.size
		if s.size == 0 {
			end = s.limit
			if i+1 < len(list) {
				end = min(end, list[i+1].start)
			}
		}
		f.extents[i] = extent{s.start, end}
	}
}

// CallSite is a call that the debugging information tells of (DWARF 5 §3.4.1).
// Compilers do so where they optimize.
type CallSite struct {
	// PC is the address behind the call. Where At is set only that of the call
	// itself is known, and PC is that.
	PC uint64
	At bool

	// Entry is the first instruction of the function that is called where its
	// code is in the file, else Name is its linkage name where it is declared
	// there. An indirect call has neither.
	Entry uint64
	Name  string
}

// CallSite returns the call that returns to address pc, and false where the
// debugging information of the file, or of its separate debug file, has none.
func (f *File) CallSite(pc uint64) (site CallSite, ok bool, err error) {
	err = f.withLines(func(d *dwarf.Data) error {
		found, known, err := d.CallSite(pc)
		site, ok = CallSite(found), known
		return err
	})
	return site, ok, err
}

// TailCalls returns the calls in the place of a return (DW_AT_call_tail_call) of
// the function that has code at addr: after one of them the function's frame is
// that of the function that it has called. A function of which the debugging
// information does not say that it tells of all such calls has none, as gdb has
// it. TailCalls reports false where it has no function at addr.
func (f *File) TailCalls(addr uint64) (list []CallSite, ok bool, err error) {
	err = f.withLines(func(d *dwarf.Data) error {
		found, known, err := d.TailCalls(addr)
		ok = known
		for _, site := range found {
			list = append(list, CallSite(site))
		}
		return err
	})
	return list, ok, err
}
