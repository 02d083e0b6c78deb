// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit/gdb"
	"github.com/clewdev/clew/jit/symfile"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

// Generated is where generated code was found that no file holds.
type Generated uint8

const (
	NotGenerated Generated = iota
	// GDBList: in the list of the GDB JIT interface, by its symbol.
	GDBList
	// GDBListSearched: in that list, which a search of the target's memory
	// found, as no symbol leads to it.
	GDBListSearched
)

// String says it in words.
func (g Generated) String() string {
	switch g {
	case NotGenerated:
		return "not generated"
	case GDBList:
		return "GDB JIT list"
	case GDBListSearched:
		return "GDB JIT list that a search found"
	}
	return fmt.Sprintf("Generated(%d)", uint8(g))
}

// GeneratedName is the name of all objects that are generated code.
const GeneratedName = "[jit]"

// generated is the code in memory that belongs to no file, as the target tells
// debuggers of it. Nothing is read before an address lies in such memory, and
// the target's memory is searched only where the lists that have a symbol do not
// cover one.
type generated struct {
	objects *Objects
	module  unwind.Module // of all such memory; its rules are those of the images

	listed, searched bool
	ranges           []generatedRange // by start
	ends             []uint64         // by index of ranges: the highest end of it and of those before
	skipped          []error
}

type generatedRange struct {
	start, end uint64
	object     *Object
}

// maxGeneratedRanges is how many ranges of code are looked at for one address.
// In the target they overlap by mistake at most.
const maxGeneratedRanges = 256

// find returns the generated object that covers an address, nil where there is
// none.
func (g *generated) find(pc uint64) *Object {
	if !g.listed {
		g.listed = true
		g.read(&gdb.Space{Symbols: g.symbols}, GDBList)
	}
	o := g.at(pc)
	if o == nil && !g.searched {
		g.searched = true
		g.read(&gdb.Space{Writable: g.writable()}, GDBListSearched)
		o = g.at(pc)
	}
	return o
}

// at looks an address up in what was read: a function that covers it, or at
// least code.
func (g *generated) at(pc uint64) (found *Object) {
	at := sort.Search(len(g.ranges), func(i int) bool { return g.ranges[i].start > pc })
	for n := 0; at > 0 && n < maxGeneratedRanges; n++ {
		at--
		if g.ends[at] <= pc {
			break
		}
		r := &g.ranges[at]
		if r.end <= pc {
			continue
		}
		if _, ok := r.object.image.Find(pc); ok {
			return r.object
		}
		if found == nil {
			found = r.object
		}
	}
	return found
}

// read adds the images of the lists of an address space.
func (g *generated) read(space *gdb.Space, how Generated) {
	s := g.objects.snapshot
	if s.Memory == nil {
		return
	}
	space.Machine, space.Memory = s.Machine, s.Memory
	lists, err := gdb.Read(space)
	if err != nil {
		g.skip(err)
	}
	for i := range lists {
		list := &lists[i]
		if list.Err != nil {
			g.skip(fmt.Errorf("list at %#x: %w", list.Descriptor, list.Err))
		}
		for k := range list.Entries {
			if err := g.add(&list.Entries[k], how); err != nil {
				g.skip(fmt.Errorf("entry at %#x: %w", list.Entries[k].Address, err))
			}
		}
	}
	slices.SortStableFunc(g.ranges, func(a, b generatedRange) int { return cmp.Compare(a.start, b.start) })
	g.ends = g.ends[:0]
	highest := uint64(0)
	for _, r := range g.ranges {
		highest = max(highest, r.end)
		g.ends = append(g.ends, highest)
	}
}

// add adds one image.
func (g *generated) add(e *gdb.Entry, how Generated) error {
	if e.Err != nil {
		return e.Err
	}
	image, err := symfile.Open(e.Image)
	if err != nil {
		return err
	}
	if m := g.objects.snapshot.Machine; image.Machine().ELF != m.ELF || image.Machine().Class != m.Class {
		return fmt.Errorf("a symbol file for %s", image.Machine().Name)
	}
	o := &Object{Name: GeneratedName, Generated: how, snapshot: g.objects.snapshot, image: image, opened: true, err: errGenerated}
	for _, r := range image.Code() {
		g.ranges = append(g.ranges, generatedRange{r.Start, r.End, o})
	}
	if len(image.Code()) > 0 {
		return nil
	}
	functions, err := image.Functions()
	for _, f := range functions {
		g.ranges = append(g.ranges, generatedRange{f.Start, f.Start + f.Size, o})
	}
	return err
}

var errGenerated = errors.New("generated code has no object file")

// maxSkipped bounds what is told of damaged lists.
const maxSkipped = 8

func (g *generated) skip(err error) {
	if len(g.skipped) < maxSkipped {
		g.skipped = append(g.skipped, fmt.Errorf("generated code: %w", err))
	}
}

// symbols yields the run-time addresses of a symbol of all objects.
func (g *generated) symbols(name string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, o := range g.objects.inOrder() {
			f, err := o.File()
			if err != nil {
				continue // and tells so where a frame needs it
			}
			if s, ok := f.Symbol(name); ok && !yield(s.Address+o.Bias) {
				return
			}
		}
	}
}

// writable returns where the objects keep their variables: their writable
// mappings, and the memory without a file that follows one.
func (g *generated) writable() (ranges []gdb.Range) {
	all := g.objects.snapshot.Mappings
	for _, o := range g.objects.inOrder() {
		for _, m := range o.Mappings {
			if !m.Writable || !m.Readable {
				continue
			}
			ranges = append(ranges, gdb.Range{Start: m.Start, End: m.End})
			if next := FindMapping(all, m.End); next != nil && next.Start == m.End && next.Path == "" && next.Writable && next.Readable {
				ranges = append(ranges, gdb.Range{Start: next.Start, End: next.End})
			}
		}
	}
	return ranges
}

// inOrder returns the objects that hold code, by address.
func (o *Objects) inOrder() (list []*Object) {
	for _, object := range o.byModule {
		if slices.ContainsFunc(object.Mappings, func(m *Mapping) bool { return m.Executable }) {
			list = append(list, object)
		}
	}
	slices.SortFunc(list, func(a, b *Object) int { return cmp.Compare(a.Mappings[0].Start, b.Mappings[0].Start) })
	return list
}

// Rules implements unwind.Source.
func (g *generated) Rules(pc uint64) (*unwind.Rules, error) {
	o := g.find(pc)
	if o == nil {
		return nil, fmt.Errorf("%w: %#x belongs to no module", cfi.ErrNoFDE, pc)
	}
	return o.rules(pc)
}

// rules returns the rules that a generated object has at an address.
func (o *Object) rules(pc uint64) (*unwind.Rules, error) {
	if o.tables == nil {
		var sections []*cfi.Section
		sections, o.tablesErr = o.image.Frames()
		o.tables = make([]*unwind.Sections, len(sections))
		for i, s := range sections {
			o.tables[i] = &unwind.Sections{EHFrame: s}
		}
	}
	err := o.tablesErr
	for _, t := range o.tables {
		var rules *unwind.Rules
		if rules, err = t.Rules(pc); err == nil || !errors.Is(err, cfi.ErrNoFDE) {
			return rules, err
		}
	}
	if err == nil {
		return nil, fmt.Errorf("%w: the symbol file of the code at %#x has no call frame information", cfi.ErrNoFDE, pc)
	}
	return nil, fmt.Errorf("%w: %w", cfi.ErrNoFDE, err)
}

// nameGenerated finds the names of addresses of a generated object.
func (a *addresses) nameGenerated(o *Object, opts NameOptions) error {
	a.symbols = make([]object.Symbol, len(a.list))
	for i, address := range a.list {
		if f, ok := o.image.Find(address); ok {
			a.symbols[i] = object.Symbol{Name: f.Name, Address: f.Start, Size: f.Size, Source: object.StaticSymbols}
		}
	}
	if !opts.Lines {
		return nil
	}
	a.locations = make([][]object.Location, len(a.list))
	for i, address := range a.list {
		var err error
		if a.locations[i], err = o.image.Locate(address); err != nil {
			return err
		}
	}
	return nil
}
