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
)

// maxSymbols is how many symbols of one object are looked at.
const maxSymbols = 1 << 20

// Symbol implements value.Symbolizer: functions and data of the target's objects,
// by the names that their symbol tables have, without versions and gcc's numbers.
func (r *Reader) Symbol(address uint64) (name string, offset uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.objectAt(address)
	if o == nil {
		return "", 0, false
	}
	list := r.open(o)
	if !list.listed {
		list.listed = true
		if f, err := o.File(); err == nil {
			_ = object.Guard(func() error { // what was read of a file that was cut is kept
				list.symbols = symbols(f)
				return nil
			})
		}
	}
	address -= o.Bias
	i := sort.Search(len(list.symbols), func(i int) bool { return list.symbols[i].Address > address })
	// Symbols can lie in each other.
	for n := i - 1; n >= 0 && n >= i-8; n-- {
		if s := &list.symbols[n]; address-s.Address < s.Size {
			return sourceName(s, list.info != nil), address - s.Address, true
		}
	}
	return "", 0, false
}

// sourceName returns the name of a symbol without its version, and without the number
// by which gcc tells the static variables of functions apart. With debugging
// information gdb knows functions by what the source calls them, nested ones and those
// that were compiled for some callers too: their symbols have more behind a dot.
func sourceName(s *object.Symbol, described bool) string {
	name, _, _ := strings.Cut(s.Name, "@")
	if s.Binding != elf.STB_LOCAL || s.Type != elf.STT_OBJECT && !described {
		return name
	}
	for {
		rest := strings.TrimRight(name, "0123456789")
		if rest == name || len(rest) < 2 || rest[len(rest)-1] != '.' {
			return name
		}
		name = rest[:len(rest)-1]
		for _, clone := range []string{".constprop", ".isra", ".part", ".lto_priv"} {
			name = strings.TrimSuffix(name, clone)
		}
	}
}

// symbols returns the symbols of a file that have a size, by address, the
// preferred one of equal ones last.
func symbols(f *object.File) (list []object.Symbol) {
	n := 0
	for s := range f.Symbols() {
		if n++; n > maxSymbols {
			break
		}
		switch s.Type {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC, elf.STT_OBJECT:
			if s.Size > 0 && s.Name != "" {
				list = append(list, s)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b object.Symbol) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(rank(&a), rank(&b)))
	})
	return list
}

// rank is higher for what debuggers call an address by.
func rank(s *object.Symbol) int {
	n := 0
	if s.Binding == elf.STB_GLOBAL {
		n = 2
	} else if s.Binding == elf.STB_WEAK {
		n = 1
	}
	return n
}
