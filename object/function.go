// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"cmp"
	"errors"
	"slices"

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
