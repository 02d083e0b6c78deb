// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package compact

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// Symbol is a function. Name is an offset in the strings of the module.
type Symbol struct {
	Start, Size uint64 // Size 0: up to the next symbol
	Name        uint32
	Rank        uint8 // of symbols with one start, the lowest is taken
}

// SymbolSize is the size of a symbol in the table, in bytes.
const SymbolSize = 8

// none is the name of code without a symbol: CLEW_NONE.
const none = math.MaxUint32

// Names returns the table of functions. It sorts the symbols by address. The end is that of the code.
// What would make the table larger than limit bytes is left out, from the highest address on.
func Names(symbols []Symbol, end uint64, limit int) []byte {
	if SymbolSize*len(symbols) > limit { // the caller may lack the symbol after one
		symbols = slices.DeleteFunc(symbols, func(s Symbol) bool { return s.Size == 0 })
	}
	most := (limit - headSize - 16) / SymbolSize
	if len(symbols) == 0 || most <= 0 {
		return nil
	}
	slices.SortFunc(symbols, func(a, b Symbol) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Name, b.Name))
	})
	symbols = slices.CompactFunc(symbols, func(a, b Symbol) bool { return a.Start == b.Start })
	base := symbols[0].Start
	type entry struct{ start, name uint32 }
	entries := make([]entry, 0, len(symbols)+len(symbols)/4)
	add := func(at uint64, name uint32) {
		if at-base > math.MaxUint32 {
			return
		}
		e := entry{uint32(at - base), name}
		if n := len(entries); n > 0 && entries[n-1].start == e.start {
			entries[n-1] = e
			return
		} else if n > 0 && entries[n-1].name == name {
			return
		}
		entries = append(entries, e)
	}
	// open are the symbols that contain the last one: if one ends, the next outer one goes on.
	type span struct {
		end  uint64
		name uint32
	}
	var open []span
	closeUpTo := func(at uint64) {
		for len(open) > 0 && open[len(open)-1].end <= at {
			ended := open[len(open)-1].end
			open = open[:len(open)-1]
			for len(open) > 0 && open[len(open)-1].end <= ended {
				open = open[:len(open)-1]
			}
			name := uint32(none)
			if len(open) > 0 {
				name = open[len(open)-1].name
			}
			add(ended, name)
		}
	}
	for i, s := range symbols {
		closeUpTo(s.Start)
		stop := s.Start + s.Size
		if s.Size == 0 {
			stop = max(end, s.Start)
			if i+1 < len(symbols) {
				stop = symbols[i+1].Start
			}
		} else if stop < s.Start {
			continue
		}
		const most = 64 // symbols in symbols
		if len(open) == most {
			open = open[:0]
		}
		open = append(open, span{stop, s.Name})
		add(s.Start, s.Name)
	}
	closeUpTo(math.MaxUint64)
	if len(entries) > most {
		entries = entries[:most]
		entries[most-1].name = none
	}
	t := newTable(magicNames, base, 1)
	t.array(len(entries), 8, func(b []byte) []byte {
		for _, e := range entries {
			b = binary.LittleEndian.AppendUint32(b, e.start)
			b = binary.LittleEndian.AppendUint32(b, e.name)
		}
		return b
	})
	return t.finish()
}
