// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile

import (
	"encoding/binary"

	"github.com/clewdev/clew/jit"
)

// morestack is the name of a second symbol of functions that change stacks. gdb accepts a
// caller's frame further down the stack only from a function with the name of libgcc's
// __morestack (get_prev_frame_always_1 in frame.c), or from a signal frame, whose name it
// does not print. The function's own symbol has no size and precedes the second one: of the
// symbols with one address gdb takes one with a size (lookup_minimal_symbol_by_pc_section in
// minsyms.c). The name that it prints is that of the debugging information.
const morestack = "__morestack"

// putSymbols writes the symbols of a batch, of which some functions change stacks. The name of
// their second symbols is the last one of the string table.
func (e *encoder) putSymbols(c *jit.Code, switches int) {
	table := e.symbols(len(c.Functions) + switches)
	alias := e.strings + e.files.bytes + e.calls.bytes
	if switches > 0 {
		for i := range c.Functions {
			if i == 0 || c.Functions[i].Name != c.Functions[i-1].Name {
				alias += len(c.Functions[i].Name) + 1
			}
		}
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		table = putFunctionSymbols(table, e.name(c.Functions, i), uint32(alias), f.Range+1, c.Start(f), f.Size, f.SwitchesStack)
	}
}

// putFunctionSymbols writes the symbol of a function, or both symbols if it changes stacks.
func putFunctionSymbols(table []byte, name, alias uint32, text int, start, size uint64, switches bool) []byte {
	if !switches {
		return putSymbol(table, name, text, start, size)
	}
	table = putSymbol(table, name, text, start, 0)
	return putSymbol(table, alias, text, start, size)
}

// size returns the size of the function of the first symbol, whether it changes stacks, and the
// symbols after its own.
func (s *source) size(symbols []byte) (size uint64, switches bool, rest []byte) {
	le := binary.LittleEndian
	size, rest = le.Uint64(symbols[16:]), symbols[symbolSize:]
	if size == 0 && len(rest) > 0 && le.Uint64(rest[8:]) == le.Uint64(symbols[8:]) {
		if name, ok := s.name(le.Uint32(rest)); ok && string(name) == morestack {
			return le.Uint64(rest[16:]), true, rest[symbolSize:]
		}
	}
	return size, false, rest
}
