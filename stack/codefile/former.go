// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codefile

import (
	"fmt"
	"iter"
	"time"

	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/object"
)

// Former is a function at an address from which it was moved or where it was overwritten.
type Former struct {
	object.Symbol

	// Fate searches the later entries of the source for the end of the function.
	Fate func() Fate
}

// Fate is the end of a function at an address.
type Fate struct {
	// Next is the function that replaced it, or with Moved, the function at its new place.
	Next  object.Symbol
	Moved bool

	// Until is the time of the end by the clock of the source: "12.5s". It is "" if the
	// source has no times.
	Until string
}

// Former yields the functions with matching names that were overwritten or moved
// before the dump ended, in the order in which they were added.
func (d *Jitdump) Former(match func(name string) bool) iter.Seq[Former] {
	return func(yield func(Former) bool) {
		list := d.index.Functions()
		for i := range list {
			f := &list[i]
			if at, ok := d.index.Find(f.Address, End); ok && at == f || !match(d.index.Name(f)) {
				continue
			}
			if !yield(Former{d.Symbol(f), func() Fate { return d.fate(f) }}) {
				return
			}
		}
	}
}

func (d *Jitdump) fate(f *perf.Function) Fate {
	next, moved := d.index.Next(f)
	if next == nil {
		return Fate{}
	}
	until := time.Duration(next.Time).String()
	if d.Counter {
		until = fmt.Sprintf("cycle %d", next.Time)
	}
	return Fate{d.Symbol(next), moved, until}
}

// Former yields the symbols with matching names that later lines of the map
// replaced, in the order of the lines.
func (m *Map) Former(match func(name string) bool) iter.Seq[Former] {
	return func(yield func(Former) bool) {
		for i := range m.symbols.Len() {
			s := m.symbols.Symbol(i)
			at := m.symbols.Index(s.Address)
			if at < 0 || at == i || !match(s.Name) {
				continue
			}
			// A symbol without a size reaches to the next symbol, and at least contains its
			// own address.
			fate := func() Fate {
				for k := i + 1; k < m.symbols.Len(); k++ {
					if n := m.symbols.Symbol(k); s.Address-n.Address < max(n.Size, 1) {
						return Fate{Next: symbol(n)}
					}
				}
				return Fate{Next: symbol(m.symbols.Symbol(at))}
			}
			if !yield(Former{symbol(s), fate}) {
				return
			}
		}
	}
}
