// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package variable

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"
	"strings"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
)

// maxSymbols bounds the symbols that are read from one object.
const maxSymbols = 1 << 20

// Symbol implements print.Symbolizer: it names functions and data of the target's objects by
// their symbol tables, without versions and gcc's numbers.
func (r *Reader) Symbol(address uint64) (name string, offset uint64, ok bool) {
	o := r.objectAt(address)
	if o == nil {
		return "", 0, false
	}
	r.mu.Lock()
	list := r.open(o)
	r.mu.Unlock()
	list.list.Do(func() {
		if list.file == nil {
			return
		}
		_ = object.Guard(func() error { // a truncated file has no symbols
			list.symbols = symbols(list.file)
			return nil
		})
	})
	address -= o.Bias
	i := sort.Search(len(list.symbols), func(i int) bool { return list.symbols[i].address > address })
	// Symbols can be nested.
	for n := i - 1; n >= 0 && n >= i-8; n-- {
		if s := &list.symbols[n]; address-s.address < s.size {
			// The symbols of gfortran and GNAT are encoded. gdb prints the name in the source.
			if list.info != nil && s.typ == elf.STT_FUNC && (strings.HasSuffix(s.name, "_") || strings.Contains(s.name, "__")) {
				if fn, err := list.info.FunctionAt(s.address); err == nil && (fn.Language == value.Fortran || fn.Language == value.Ada) {
					return fn.Name, address - s.address, true
				}
			}
			return s.sourceName(list.info != nil), address - s.address, true
		}
	}
	return "", 0, false
}

type symbol struct {
	address, size uint64
	name          string
	typ           elf.SymType
	binding       elf.SymBind
}

// sourceName returns the name of a symbol without its version, and without the number
// by which gcc distinguishes the static variables of functions. With debugging
// information gdb uses the source's names of functions. Symbols of nested functions, and
// of functions that were compiled for some callers, have a suffix after a dot.
func (s *symbol) sourceName(described bool) string {
	name, _, _ := strings.Cut(s.name, "@")
	if s.binding != elf.STB_LOCAL || s.typ != elf.STT_OBJECT && !described {
		return name
	}
	for {
		base := strings.TrimRight(name, "0123456789")
		if base == name || len(base) < 2 || base[len(base)-1] != '.' {
			return name
		}
		name = base[:len(base)-1]
		for _, clone := range []string{".constprop", ".isra", ".part", ".lto_priv"} {
			name = strings.TrimSuffix(name, clone)
		}
	}
}

// symbols returns the symbols of a file with a size, by address. The last one at an address
// is preferred.
func symbols(f *object.File) []symbol {
	const least, most = 32, 1024 // symbols in a block; the blocks are copied once, to a slice of the exact size
	var blocks [][]symbol
	n, last := 0, make([]symbol, 0, least)
	for s := range f.Symbols() {
		if n++; n > maxSymbols {
			break
		}
		switch s.Type {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC, elf.STT_OBJECT:
			if s.Size == 0 || s.Name == "" {
				break
			}
			if len(last) == cap(last) {
				blocks, last = append(blocks, last), make([]symbol, 0, min(2*cap(last), most))
			}
			last = append(last, symbol{s.Address, s.Size, s.Name, s.Type, s.Binding})
		}
	}
	list := slices.Concat(append(blocks, last)...)
	slices.SortStableFunc(list, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.rank(), b.rank()))
	})
	return list
}

// rank returns the preference of debuggers among symbols at the same address.
func (s *symbol) rank() int {
	switch s.binding {
	case elf.STB_GLOBAL:
		return 2
	case elf.STB_WEAK:
		return 1
	}
	return 0
}
