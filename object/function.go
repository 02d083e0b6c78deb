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

// AddressRange is the range of addresses [Low, High).
type AddressRange struct{ Low, High uint64 }

// Contains reports whether addr is in the range.
func (r AddressRange) Contains(addr uint64) bool { return addr >= r.Low && addr < r.High }

// Function is a compiled function, or an inlined call.
type Function struct {
	Name   string         // the linkage name if there is one, else the plain name; "" if unknown
	Entry  uint64         // the address where it starts: the start of the first range
	Ranges []AddressRange // its code, in the order of the compiler

	Inlined  bool
	Starts   bool   // set by FunctionsAt: the inlined call is entered at the address
	CallFile string // of the inlined call: its place in the source
	CallLine int
}

// FunctionsAt returns the inlined calls at addr, the innermost first, and last the function
// itself, by the DWARF information. Without that it returns the function of a symbol that
// covers addr with its size. If there is an error, list contains the part that could be
// read.
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

// Functions returns the functions called name and the inlined calls of them, in the order of
// their entries. The name is the linkage name, or the source name with or without namespaces
// and classes. Functions without DWARF information come from symbols.
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
			CallFile: from.CallFile, CallLine: from.CallLine,
		}
		for _, r := range from.Ranges {
			list[i].Ranges = append(list[i].Ranges, AddressRange{r[0], r[1]})
		}
	}
	return list
}

// extent is the code of a function.
type extent struct{ start, end uint64 }

// FunctionStart returns the first address of the function that contains addr, both without
// load bias; false if no symbol shows it. The symbol covers addr with its size, or has no
// size and is the nearest one before addr in a table with all functions. Unlike
// [File.FindSymbols], FunctionStart is for single addresses: it keeps 16 bytes for each
// function.
func (f *File) FunctionStart(addr uint64) (start uint64, ok bool) {
	n := f.extentAt(addr)
	if n < 0 {
		return 0, false
	}
	return f.extents[n].start, true
}

// extentAt returns the index of the extent that contains an address, -1 if there is none.
func (f *File) extentAt(addr uint64) int {
	f.extentsOnce.Do(func() { f.noteFault(f.readExtents) })
	n := sort.Search(len(f.extents), func(i int) bool { return f.extents[i].start > addr }) - 1
	if n >= 0 && addr >= f.extents[n].end {
		return -1
	}
	return n
}

// maxLabels bounds the symbols within a function that FunctionRange passes over.
const maxLabels = 16

// FunctionRange returns the range of the function that contains addr, both without load bias;
// false if no symbol shows it. Unlike [File.FunctionStart], it passes over symbols within
// the range of another one, as labels in assembly language are.
func (f *File) FunctionRange(addr uint64) (AddressRange, bool) {
	n := f.extentAt(addr)
	if n < 0 {
		return AddressRange{}, false
	}
	for k := n - 1; k >= max(0, n-maxLabels); k-- {
		if f.extents[k].end > addr {
			n = k
		}
	}
	return AddressRange{f.extents[n].start, f.extents[n].end}, true
}

// readExtents reads the symbol tables for FunctionStart.
func (f *File) readExtents() {
	type symbol struct{ start, size, limit uint64 }
	var list []symbol
	f.tables(func(in *File, t symbolTable, _ error) bool {
		var span codeSpan
		in.scan(t, code, func(s *rawSymbol) bool {
			// After a symbol of the dynamic table may come a function without one,
			// and a local symbol of another type is a label within a function.
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

// CallSite is a call that the debugging information describes (DWARF 5 §3.4.1), as
// compilers write it for optimized code.
type CallSite struct {
	// PC is the address after the call; with At, of the call itself.
	PC uint64
	At bool

	// Entry is the first instruction of the called function if its code is in the file.
	// Else Name is its linkage name, if it is declared there. An indirect call has
	// neither.
	Entry uint64
	Name  string
}

// CallSite returns the call that returns to address pc; false if the debugging information
// of the file, or of its separate debug file, does not have it.
func (f *File) CallSite(pc uint64) (site CallSite, ok bool, err error) {
	err = f.withLines(func(d *dwarf.Data) error {
		found, known, err := d.CallSite(pc)
		site, ok = CallSite(found), known
		return err
	})
	return site, ok, err
}

// NoReturn reports whether the debugging information says that a call does not return: the
// call of the function that starts at an address, which would return to next.
func (f *File) NoReturn(start, next uint64) (known bool, err error) {
	err = f.withLines(func(d *dwarf.Data) (err error) {
		known, err = d.NoReturn(start, next)
		return err
	})
	return known, err
}

// TailCalls returns the tail calls (DW_AT_call_tail_call) of the function that contains
// addr: after one of them the called function has taken the place of the function's
// frame. The list is empty unless the debugging information says that it has all tail
// calls of the function, as in gdb. TailCalls returns false if no function contains addr.
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
