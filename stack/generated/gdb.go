// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit/gdb/registry"
	"github.com/clewdev/clew/jit/symfile/reader"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/unwind"
)

// gdbLists reads the lists of the GDB JIT interface that a space contains.
func (r *Reader) gdbLists(space *registry.Space, kind Kind) []*Source {
	s := r.target.Snapshot
	if s.Memory == nil {
		return nil
	}
	space.Machine, space.Memory, space.Limits = s.Machine, s.Memory, r.limits
	lists, err := registry.Read(space)
	if err != nil {
		r.Skip(err)
	}
	return r.sourcesOf(lists, kind)
}

func (r *Reader) sourcesOf(lists []registry.List, kind Kind) (sources []*Source) {
	s := r.target.Snapshot
	for i := range lists {
		list := &lists[i]
		if slices.ContainsFunc(r.sources, func(s *Source) bool { return s.Kind == GDBList && s.address == list.Descriptor }) {
			continue // the search finds the others too
		}
		source := &Source{Kind: kind, Place: r.place(list.Descriptor), Entries: len(list.Entries), address: list.Descriptor, machine: s.Machine}
		var errs []error
		fail := func(err error) {
			r.Skip(err)
			if len(errs) < maxSkipped {
				errs = append(errs, err)
			}
		}
		if list.Err != nil {
			fail(fmt.Errorf("list at %#x: %w", list.Descriptor, list.Err))
		}
		foreign := 0
		var first error
		seen := make(map[*byte]bool) // images, because entries can share one
		for k := range list.Entries {
			e := &list.Entries[k]
			if e.Err == nil && seen[&e.Image[0]] {
				continue
			}
			err := r.addImage(source, e)
			if err == nil {
				seen[&e.Image[0]] = true
			}
			switch {
			case errors.Is(err, registry.ErrNotELF):
				if foreign++; foreign == 1 {
					first = err
				}
			case err != nil:
				fail(fmt.Errorf("entry at %#x: %w", e.Address, err))
			}
		}
		if foreign > 0 {
			source.Note = fmt.Sprintf("%d of %d entries are in a format of the runtime's own, and are skipped (the first, %v)", foreign, len(list.Entries), first)
		}
		source.Err = errors.Join(errs...)
		source.ranges.sort()
		sources = append(sources, source)
	}
	return sources
}

// place returns an address with the name of the object that contains it.
func (r *Reader) place(address uint64) string {
	if m := snapshot.FindMapping(r.target.Snapshot.Mappings, address); m != nil && m.Path != "" {
		return fmt.Sprintf("%#x in %s", address, filepath.Base(m.Path))
	}
	return fmt.Sprintf("%#x", address)
}

// addImage adds a symbol file to a source.
func (r *Reader) addImage(source *Source, e *registry.Entry) error {
	if e.Err != nil {
		return e.Err
	}
	image, err := reader.Open(e.Image)
	if err != nil {
		return err
	}
	if m := r.target.Snapshot.Machine; image.Machine().ELF != m.ELF || image.Machine().Class != m.Class {
		return fmt.Errorf("a symbol file for %s", image.Machine().Name)
	}
	index := len(source.codes)
	source.codes = append(source.codes, r.code(source.Kind, newImageCode(e.Image)))
	for _, r := range image.Code() {
		source.ranges.add(r.Start, r.End, index)
	}
	if len(image.Code()) > 0 {
		return nil
	}
	functions, err := image.Functions()
	for _, f := range functions {
		source.ranges.add(f.Start, f.Start+f.Size, index)
	}
	return err
}

// imageCode is the code that a symbol file describes. A target can have many thousand, and
// each open one takes some 10 KB, so only those that contain a frame are opened.
type imageCode struct {
	undescribed
	data   []byte
	opened func() *reader.Image
	tables ruleTables
	err    error
}

func newImageCode(data []byte) *imageCode {
	c := &imageCode{data: data}
	c.opened = sync.OnceValue(c.open)
	return c
}

// open opens the file, which addImage opened before without an error.
func (c *imageCode) open() *reader.Image {
	f, _ := reader.Open(c.data)
	return f
}

func (c *imageCode) switchesStack(pc uint64) bool {
	f, ok := c.opened().Find(pc)
	return ok && f.SwitchesStack
}

func (c *imageCode) function(pc uint64) (object.Symbol, bool) {
	f, ok := c.opened().Find(pc)
	return object.Symbol{Name: f.Name, Address: f.Start, Size: f.Size, Source: object.StaticSymbols}, ok
}

func (c *imageCode) functions() iter.Seq[object.Symbol] {
	return func(yield func(object.Symbol) bool) {
		list, _ := c.open().Functions()
		for _, f := range list {
			if f.Size > 0 && !yield(object.Symbol{Name: f.Name, Address: f.Start, Size: f.Size}) {
				return
			}
		}
	}
}

func (c *imageCode) locate(pc uint64) ([]object.Location, error) { return c.opened().Locate(pc) }

func (c *imageCode) frames(uint64) ([]*cfi.Section, error) { return c.opened().Frames() }

func (c *imageCode) rules(pc uint64) (*unwind.Rules, error) {
	if c.tables == nil {
		var sections []*cfi.Section
		sections, c.err = c.opened().Frames()
		c.tables = newRuleTables(sections)
	}
	rules, err := c.tables.rules(pc)
	if errors.Is(err, cfi.ErrNoFDE) && c.err != nil {
		err = c.err
	}
	return rules, err
}

func (c *imageCode) covers(pc uint64) bool {
	_, err := c.rules(pc)
	return err == nil
}

func (c *imageCode) unwinds() bool {
	sections, err := c.open().Frames()
	return len(sections) > 0 || err != nil
}

func (c *imageCode) image() []byte { return c.data }

// symbols yields the run-time addresses of a symbol in all objects.
func (r *Reader) symbols(name string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, o := range r.target.Objects() {
			f, bias, err := o.Open()
			if err != nil {
				continue // a frame in the object reports the error
			}
			if s, ok := f.Symbol(name); ok && !yield(s.Address+bias) {
				return
			}
		}
	}
}

// writable returns the ranges of the objects' variables: their writable mappings, and the
// memory without a file right after each.
func (r *Reader) writable() (ranges []registry.Range) {
	all := r.target.Snapshot.Mappings
	for _, o := range r.target.Objects() {
		for _, m := range o.Mappings {
			if !m.Writable || !m.Readable {
				continue
			}
			ranges = append(ranges, registry.Range{Start: m.Start, End: m.End})
			if next := snapshot.FindMapping(all, m.End); next != nil && next.Start == m.End && next.Path == "" && next.Writable && next.Readable {
				ranges = append(ranges, registry.Range{Start: next.Start, End: next.End})
			}
		}
	}
	return ranges
}
