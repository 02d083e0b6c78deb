// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
	"iter"
	"math"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

// now is the time at which a jitdump is asked: its end. What a live process adds
// to it after the snapshot can replace what the stacks hold only where memory is
// used again within that millisecond; of a core whose process ran on, where it
// was ever after.
const now = math.MaxUint64

// dumpCode is the code that a jitdump describes.
type dumpCode struct {
	index   *perf.Index
	machine *arch.Machine
	tables  map[uint64]ruleTables // by start of function
	any     int8                  // unwinds: 0 not known, 1 yes, -1 no
}

func (c *dumpCode) function(pc uint64) (object.Symbol, bool) {
	f, ok := c.index.Find(pc, now)
	if !ok {
		return object.Symbol{}, false
	}
	return c.symbol(f), true
}

func (c *dumpCode) symbol(f *perf.Function) object.Symbol {
	return object.Symbol{Name: c.index.Name(f), Address: f.Address, Size: uint64(f.Size), Source: object.StaticSymbols}
}

// functions leaves out what was replaced or moved.
func (c *dumpCode) functions() iter.Seq[object.Symbol] {
	return func(yield func(object.Symbol) bool) {
		list := c.index.Functions()
		for i := range list {
			if at, ok := c.index.Find(list[i].Address, now); ok && at == &list[i] && !yield(c.symbol(at)) {
				return
			}
		}
	}
}

func (c *dumpCode) locate(pc uint64) ([]object.Location, error) {
	f, ok := c.index.Find(pc, now)
	if !ok {
		return nil, nil
	}
	// Writers list them in ascending order, but for V8's inlined positions.
	var best perf.Line
	found := false
	for l := range c.index.Lines(f) {
		if l.Offset <= pc-f.Address && (!found || l.Offset >= best.Offset) {
			best, found = l, true
		}
	}
	if !found || best.Line <= 0 {
		return nil, nil
	}
	return []object.Location{{Function: c.index.Name(f), File: best.File, Line: best.Line}}, nil
}

func (c *dumpCode) lines(pc uint64) iter.Seq[jit.Line] {
	return func(yield func(jit.Line) bool) {
		f, ok := c.index.Find(pc, now)
		if !ok {
			return
		}
		for l := range c.index.Lines(f) {
			if !yield(jit.Line{Offset: l.Offset, File: l.File, Line: max(l.Line, 0)}) {
				return
			}
		}
	}
}

func (c *dumpCode) frames(pc uint64) ([]*cfi.Section, error) {
	f, ok := c.index.Find(pc, now)
	if !ok {
		return nil, nil
	}
	s, err := c.index.EHFrame(f)
	if s == nil {
		return nil, err
	}
	return []*cfi.Section{s}, nil
}

func (c *dumpCode) rules(pc uint64) (*unwind.Rules, error) {
	f, ok := c.index.Find(pc, now)
	if !ok {
		return nil, cfi.ErrNoFDE
	}
	t, ok := c.tables[f.Address]
	if !ok {
		sections, err := c.frames(pc)
		if err != nil {
			return nil, err
		}
		t = newRuleTables(sections)
		if c.tables == nil || len(c.tables) >= maxTables {
			c.tables = make(map[uint64]ruleTables)
		}
		c.tables[f.Address] = t
	}
	return t.rules(pc)
}

// maxTables bounds the tables that are kept, each of which is of one function.
const maxTables = 1 << 8

// covers reports whether there is an unwind table for an address.
func (c *dumpCode) covers(pc uint64) bool {
	sections, err := c.frames(pc)
	if err != nil || len(sections) == 0 {
		return false
	}
	var f cfi.FDE
	return sections[0].Find(pc, &f) == nil
}

func (c *dumpCode) unwinds() bool {
	if c.any == 0 {
		c.any = -1
		list := c.index.Functions()
		for i := range list {
			if s, err := c.index.EHFrame(&list[i]); s != nil || err != nil {
				c.any = 1
				break
			}
		}
	}
	return c.any > 0
}

func (c *dumpCode) bytes(pc uint64) []byte {
	if f, ok := c.index.Find(pc, now); ok {
		return c.index.Code(f)
	}
	return nil
}

func (c *dumpCode) image() []byte { return nil }

// mapCode is the code that a perf map names.
type mapCode struct{ symbols *perf.Map }

func (c *mapCode) function(pc uint64) (object.Symbol, bool) {
	s, ok := c.symbols.Find(pc)
	if !ok {
		return object.Symbol{}, false
	}
	return object.Symbol{Name: s.Name, Address: s.Address, Size: s.Size, Source: object.StaticSymbols}, true
}

// functions leaves out those that later lines replaced.
func (c *mapCode) functions() iter.Seq[object.Symbol] {
	return func(yield func(object.Symbol) bool) {
		list := c.symbols.Symbols()
		for i := range list {
			at, ok := c.symbols.Find(list[i].Address)
			if ok && at == &list[i] && !yield(object.Symbol{Name: at.Name, Address: at.Address, Size: at.Size}) {
				return
			}
		}
	}
}

func (c *mapCode) locate(uint64) ([]object.Location, error) { return nil, nil }

func (c *mapCode) lines(uint64) iter.Seq[jit.Line] { return noLines }

func (c *mapCode) frames(uint64) ([]*cfi.Section, error) { return nil, nil }

func (c *mapCode) rules(uint64) (*unwind.Rules, error) { return nil, cfi.ErrNoFDE }

func (c *mapCode) unwinds() bool { return false }

func (c *mapCode) bytes(uint64) []byte { return nil }

func (c *mapCode) image() []byte { return nil }
