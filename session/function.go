// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"cmp"
	"debug/elf"
	"slices"
	"strings"

	"github.com/clewdev/clew/object"
)

// findFunctions lists the functions that symbols tell of. Assembly code often
// gives them no type and no size: a label that is in no other function is one.
func (i *Image) findFunctions() {
	var labels []object.Symbol
	for _, f := range i.files {
		for s := range f.Symbols() {
			switch {
			case !i.Contains(s.Address):
			case s.Type == elf.STT_FUNC:
				i.functions = append(i.functions, Function{Name: s.Name, Start: s.Address, Size: s.Size})
			case s.Type == elf.STT_NOTYPE:
				labels = append(labels, s)
			}
		}
	}
	slices.SortFunc(i.functions, func(a, b Function) int {
		return cmp.Or(compareFunctions(a, b), strings.Compare(a.Name, b.Name))
	})
	var found []Function
	for _, s := range labels {
		f, ok := covering(i.functions, s.Address)
		switch {
		case !ok:
			found = append(found, Function{Name: s.Name, Start: s.Address})
		case f.Start == s.Address:
			found = append(found, Function{Name: s.Name, Start: s.Address, Size: f.Size})
		}
	}
	i.functions = append(found, i.functions...)
	slices.SortStableFunc(i.functions, compareFunctions)
	next := uint64(0)
	for n := len(i.functions) - 1; n >= 0; n-- {
		f := &i.functions[n]
		if n+1 < len(i.functions) && i.functions[n+1].Start != f.Start {
			next = i.functions[n+1].Start
		}
		if f.Size == 0 {
			r, _ := i.rangeOf(f.Start)
			f.Size = r.End - f.Start
			if next > f.Start {
				f.Size = min(f.Size, next-f.Start)
			}
		}
	}
	slices.SortStableFunc(i.functions, compareFunctions)
}

// compareFunctions sorts by addresses. Where several start at one, that of most
// bytes is the last, which is the one that covers what others do.
func compareFunctions(a, b Function) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Size, b.Size))
}

// Functions returns all functions, in ascending order of their addresses. The
// slice is the image's.
func (i *Image) Functions() []Function { return i.functions }

// Function returns the function that covers an address.
func (i *Image) Function(address uint64) (Function, bool) { return covering(i.functions, address) }

// covering returns the last function of a list that covers an address.
func covering(list []Function, address uint64) (Function, bool) {
	n, _ := slices.BinarySearchFunc(list, address, func(f Function, address uint64) int {
		if f.Start <= address {
			return -1
		}
		return 1
	})
	for n--; n >= 0; n-- {
		if f := list[n]; f.Size != 0 {
			return f, address-f.Start < f.Size
		}
	}
	return Function{}, false
}
