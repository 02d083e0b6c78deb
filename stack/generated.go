// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack/codefile"
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
	// Jitdump: in a jitdump, which the target has mapped for perf to find.
	Jitdump
	// DynInfoList: in libunwind's list of dynamic unwind information.
	DynInfoList
	// PerfMap: in /tmp/perf-PID.map of the target.
	PerfMap
	// GoModuleList: in the list of modules of the target's Go runtime.
	GoModuleList
)

// kinds are what the sources are called, and what they consist of.
var kinds = [...]struct{ name, entry string }{
	NotGenerated:    {"not generated", ""},
	GDBList:         {"GDB JIT list", "symbol file"},
	GDBListSearched: {"GDB JIT list that a search found", "symbol file"},
	Jitdump:         {"jitdump", "record"},
	DynInfoList:     {"dyn-info list of libunwind", "info"},
	PerfMap:         {"perf map", "line"},
	GoModuleList:    {"Go module list", "module"},
}

// String says it in words.
func (g Generated) String() string {
	if int(g) < len(kinds) {
		return kinds[g].name
	}
	return fmt.Sprintf("Generated(%d)", uint8(g))
}

// Entry says in words what a source of the kind consists of: "record".
func (g Generated) Entry() string {
	if int(g) < len(kinds) {
		return kinds[g].entry
	}
	return "entry"
}

// GeneratedName is the name of all objects that are generated code.
const GeneratedName = "[jit]"

// generated is the code in memory that belongs to no file, as the target tells
// others of it. Nothing is read before an address lies in such memory; then one
// source after the other, until the address has a name and rules.
type generated struct {
	objects *Objects
	module  unwind.Module // of all such memory

	sources []*CodeSource // that were read
	readers []sourceReader
	files   *codefile.Reader
	met     map[uint64]finding
	skipped []error
}

// sourceReader reads what a target has of one kind of source.
type sourceReader struct {
	read func(*generated) []*CodeSource
	// last is of a reader that costs more than others and names no more than
	// they do: it is asked where they have no rules.
	last bool
}

// sourceReaders are in the order of trust. Go's list of modules and the GDB JIT list
// are of the moment and exact; a jitdump can be behind by what is not written yet; of a perf map
// nothing tells how old its lines are.
func sourceReaders() []sourceReader {
	return []sourceReader{
		{read: (*generated).goModules},
		{read: (*generated).gdbLists},
		{read: (*generated).jitdumps},
		{read: (*generated).dynInfoLists},
		{read: (*generated).perfMaps},
		{read: (*generated).searchedLists, last: true},
	}
}

// finding is what is known of an address. Sources that disagree are put
// together: the rules are those of the first that has some, the name is of the
// same if it has one, else of the first that has.
type finding struct {
	object *Object // nil where no source covers the address
	rules  *unwind.Rules
	err    error // why there are no rules; wraps cfi.ErrNoFDE
}

// maxMet bounds the memory of what was found.
const maxMet = 1 << 16

// find returns the generated object that names an address, or covers it at
// least; nil where there is none.
func (g *generated) find(pc uint64) *Object { return g.at(pc).object }

// Rules implements unwind.Source.
func (g *generated) Rules(pc uint64) (*unwind.Rules, error) {
	f := g.at(pc)
	return f.rules, f.err
}

func (g *generated) at(pc uint64) finding {
	if f, ok := g.met[pc]; ok {
		return f
	}
	f := g.look(pc)
	if g.met == nil || len(g.met) >= maxMet {
		g.met = make(map[uint64]finding)
	}
	g.met[pc] = f
	return f
}

func (g *generated) look(pc uint64) finding {
	var f finding
	var named, covers bool
	ask := func(s *CodeSource) {
		o := s.find(pc)
		if o == nil {
			return
		}
		_, names := o.code.function(pc)
		if f.rules == nil {
			rules, err := o.code.rules(pc)
			switch {
			case err == nil:
				f.rules, f.err = rules, nil
				if names || !named {
					f.object, named, covers = o, names, true
				}
			case f.err == nil:
				f.err = fmt.Errorf("%w: the %v, which has the code at %#x, cannot be unwound by: %w", cfi.ErrNoFDE, s.Kind, pc, err)
				if errors.Is(err, cfi.ErrNoFDE) {
					f.err = fmt.Errorf("%w: the %v has no unwind table for the code at %#x", cfi.ErrNoFDE, s.Kind, pc)
				}
			}
		}
		if names && !named || !covers {
			f.object, named, covers = o, named || names, true
		}
	}
	for _, s := range g.sources {
		ask(s)
	}
	for len(g.readers) > 0 && (!named || f.rules == nil) && (f.rules == nil || !g.readers[0].last) {
		reader := g.readers[0]
		g.readers = g.readers[1:]
		for _, s := range reader.read(g) {
			g.sources = append(g.sources, s)
			ask(s)
		}
	}
	if f.object != nil && f.rules == nil {
		f.object.Bare = !f.object.code.unwinds()
	}
	if f.rules == nil && f.err == nil {
		f.err = fmt.Errorf("%w: no Go module list, GDB JIT list, jitdump, dyn-info list or perf map of the process describes the code at %#x", cfi.ErrNoFDE, pc)
	}
	return f
}

// readAll reads what was not read yet.
func (g *generated) readAll() []*CodeSource {
	for _, reader := range g.readers {
		g.sources = append(g.sources, reader.read(g)...)
	}
	g.readers = nil
	return g.sources
}

var errGenerated = errors.New("generated code has no object file")

// maxSkipped bounds what is told of damaged sources.
const maxSkipped = 8

func (g *generated) skip(err error) {
	if len(g.skipped) < maxSkipped {
		g.skipped = append(g.skipped, fmt.Errorf("generated code: %w", err))
	}
}

// object makes an object of what a source describes.
func (g *generated) object(kind Generated, d description) *Object {
	return newGeneratedObject(g.objects.snapshot, kind, d)
}

func newGeneratedObject(s *snapshot.Snapshot, kind Generated, d description) *Object {
	return &Object{Name: GeneratedName, Generated: kind, snapshot: s, code: d, err: errGenerated}
}
