// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"
)

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
