// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codefile

import (
	"errors"
	"fmt"
	"iter"

	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/object"
)

// Map is the code that a perf map names. Its lines have no times: the last line for
// an address applies at any time. A Map does not change, and is safe for concurrent
// use.
type Map struct {
	Path string
	Err  error // why it was refused, or which parts could not be read; nil if all was read

	symbols *perf.Map
}

func newMap(path string, data []byte, damage error) *Map {
	m := &Map{Path: path, symbols: perf.ParseMap(path, data)}
	all, invalid := m.symbols.Damage()
	if all > 1 {
		invalid = fmt.Errorf("%s: %d invalid lines: %w", path, all, invalid)
	}
	m.Err = errors.Join(damage, m.symbols.Cut(), invalid)
	return m
}

// Fits returns an error if code reports for most of the map's addresses that the
// process has no code there.
func (m *Map) Fits(code func(address uint64) bool) error {
	return fits(m.Path, m.symbols.Len(), func(i int) uint64 { return m.symbols.Symbol(i).Address }, code)
}

// Lines returns the number of complete lines that were read.
func (m *Map) Lines() int { return m.symbols.Len() }

// Find returns the symbol of an address. Its name is a part of the file's data.
func (m *Map) Find(pc uint64) (object.Symbol, bool) {
	s, ok := m.symbols.Find(pc)
	if !ok {
		return object.Symbol{}, false
	}
	return symbol(s), true
}

// Symbols yields the symbols that no later line replaced.
func (m *Map) Symbols() iter.Seq[object.Symbol] {
	return func(yield func(object.Symbol) bool) {
		for s := range m.symbols.Current() {
			if !yield(symbol(s)) {
				return
			}
		}
	}
}

func symbol(s perf.Symbol) object.Symbol {
	return object.Symbol{Name: s.Name, Address: s.Address, Size: s.Size, Source: object.StaticSymbols}
}
