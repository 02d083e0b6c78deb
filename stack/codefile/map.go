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

// Map is the code that a perf map names. Nothing tells how old its lines are: of
// several for an address the last one is taken, for all of the time. It does not
// change, and may be used from several goroutines.
type Map struct {
	Path string
	Err  error // what could not be read of it, or why it was refused; nil where all was read

	symbols *perf.Map
}

func newMap(path string, data []byte, damage error) *Map {
	m := &Map{Path: path, symbols: perf.ParseMap(path, data)}
	all, bad := m.symbols.Damage()
	if all > 1 {
		bad = fmt.Errorf("%s: %d bad lines: %w", path, all, bad)
	}
	m.Err = errors.Join(damage, m.symbols.Cut(), bad)
	return m
}

// Fits returns an error where most of the code lies where code, which is asked for
// an address, says that the process has none.
func (m *Map) Fits(code func(address uint64) bool) error {
	return fits(m.Path, m.symbols.Len(), func(i int) uint64 { return m.symbols.Symbol(i).Address }, code)
}

// Lines is how many complete lines were read.
func (m *Map) Lines() int { return m.symbols.Len() }

// Find returns the symbol that an address has. Its name is part of what was read.
func (m *Map) Find(pc uint64) (object.Symbol, bool) {
	s, ok := m.symbols.Find(pc)
	if !ok {
		return object.Symbol{}, false
	}
	return symbol(s), true
}

// Symbols yields the symbols, but those that later lines replaced.
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
