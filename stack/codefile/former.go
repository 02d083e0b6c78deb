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

// Former is a function at an address that it has left.
type Former struct {
	object.Symbol

	fate func() Fate
}

// Fate looks through all that came later for what became of the function there.
func (f *Former) Fate() Fate { return f.fate() }

// Fate is what ended the time of a function at its place.
type Fate struct {
	// Next is what took its place, or, with Moved, the function itself where it was
	// moved to.
	Next  object.Symbol
	Moved bool

	// Until says when that was, on the clock of the source: "12.5s". It is "" where
	// the source does not know.
	Until string
}

// Former yields the functions with matching names that were overwritten or moved
// before the dump ended, in the order of the times at which they were added.
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
			// One without a size reaches to the next one, and has its own address at least.
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
