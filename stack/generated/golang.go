// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import (
	"fmt"
	"iter"
	"sync"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/unwind/golang"
)

// goModules reads the module lists of the Go runtimes in the target. Loaders add their code to
// these lists, so that Go's garbage collector and tracebacks can walk through it.
func (r *Reader) goModules() (sources []*Source) {
	s := r.target.Snapshot
	if s.Memory == nil {
		return nil
	}
	budget := new(object.GoModuleBudget)
	for _, o := range r.target.Objects() {
		f, bias, err := o.Open()
		if err != nil {
			continue
		}
		first, modules, err := f.GoModules(s.Memory, bias, budget)
		source := &Source{Kind: GoModuleList, Place: r.place(first), Err: err, address: first, machine: s.Machine}
		for _, m := range modules {
			if r.target.IsObjectCode(m.Start) {
				continue // a plugin, which is read as an object file
			}
			source.Entries++
			source.ranges.add(m.Start, m.End, len(source.codes))
			source.codes = append(source.codes, r.code(GoModuleList, newGoCode(s, m)))
		}
		if err != nil {
			r.Skip(fmt.Errorf("list of Go modules at %#x: %w", first, err))
		}
		if source.Entries > 0 || err != nil {
			source.ranges.sort()
			sources = append(sources, source)
		}
	}
	return sources
}

// goCode is the code of one module of a Go runtime's list.
type goCode struct {
	undescribed
	module   *object.GoModule
	snapshot *snapshot.Snapshot
	table    func() (*golang.Table, bool)
}

func newGoCode(s *snapshot.Snapshot, m *object.GoModule) *goCode {
	c := &goCode{module: m, snapshot: s}
	c.table = sync.OnceValues(func() (*golang.Table, bool) {
		return c.tableOf(func(address uint64) (object.GoFunction, bool) {
			f, ok, _ := m.FunctionAt(address)
			return f, ok
		})
	})
	return c
}

// tableOf returns the rules of functions of the module.
func (c *goCode) tableOf(function func(address uint64) (object.GoFunction, bool)) (*golang.Table, bool) {
	return golang.New(golang.Program{
		Machine: c.snapshot.Machine,
		Code:    c.snapshot.Memory,
		Named:   func(string) (golang.Function, bool) { return golang.Function{}, false },
		Function: func(address uint64) (golang.Function, bool) {
			f, ok := function(address)
			// The code may not come from Go's compiler, so saved registers are found in its
			// first instructions, as for assembly. The name of a runtime function does not
			// make it one.
			f.Assembly, f.Name = true, ""
			return golang.Function(f), ok
		},
	})
}

func (c *goCode) function(pc uint64) (object.Symbol, bool) {
	f, ok, _ := c.module.FunctionAt(pc)
	return goSymbol(&f), ok && f.Name != ""
}

func goSymbol(f *object.GoFunction) object.Symbol {
	return object.Symbol{Name: f.Name, Address: f.Entry, Size: f.End - f.Entry, Source: object.GoSymbols}
}

func (c *goCode) functions() iter.Seq[object.Symbol] {
	return func(yield func(object.Symbol) bool) {
		for f := range c.module.Functions() {
			if !yield(goSymbol(&f)) {
				return
			}
		}
	}
}

func (c *goCode) locate(pc uint64) ([]object.Location, error) { return c.module.Locate(pc) }

func (c *goCode) rules(pc uint64) (*unwind.Rules, error) {
	if _, _, err := c.module.FunctionAt(pc); err != nil {
		return nil, err
	}
	table, ok := c.table()
	if !ok {
		return nil, errNoGoFrames
	}
	return table.Rules(pc)
}

var errNoGoFrames = fmt.Errorf("%w: the frames of Go functions are not known on this machine", cfi.ErrNoFDE)

func (c *goCode) covers(pc uint64) bool {
	_, err := c.rules(pc)
	return err == nil
}

func (c *goCode) unwinds() bool { return true }
