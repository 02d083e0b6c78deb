// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit/gdb/registry"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/unwind"
)

// Target is the process or core that a Reader reads.
type Target struct {
	Snapshot *snapshot.Snapshot

	// Objects returns the mapped object files with code, by address.
	Objects func() []Object

	// IsObjectCode reports whether an object file is mapped as code at a run-time address.
	IsObjectCode func(address uint64) bool
}

// Object is an object file that a target has mapped.
type Object struct {
	Name     string // its path
	Mappings []*snapshot.Mapping

	// Open returns the file, and its load bias: run-time addresses minus addresses in the
	// file.
	Open func() (f *object.File, bias uint64, err error)
}

// Reader finds the generated code at addresses of a target. It reads nothing before the first
// call of Find or Rules, and then one source after the other until the address has a name and
// rules. A Reader is not safe for concurrent use.
type Reader struct {
	target  Target
	sources []*Source // read so far
	readers []sourceReader
	files   *codefile.Reader
	limits  registry.Limits
	stamps  [][]byte // of the sources, in a Reader of lists
	found   map[uint64]finding
	skipped []error
}

// NewReader returns a reader of a target.
func NewReader(t Target) *Reader {
	return &Reader{target: t, readers: sourceReaders(), files: codefile.NewReader()}
}

// sourceReader reads the sources of one kind.
type sourceReader struct {
	read func(*Reader) []*Source
	// memory marks a reader of lists of generated code in the target's memory.
	memory bool
	// last marks a reader that costs more than the others and finds no other names. It is
	// used only if the others have no rules.
	last bool
}

// sourceReaders returns the readers in the order of trust. Go's module list and the GDB JIT
// list are exact at any time. A jitdump can lack records that are not written yet. The age of
// the lines in a perf map is unknown.
func sourceReaders() []sourceReader {
	return []sourceReader{
		{read: (*Reader).goModules},
		{read: func(r *Reader) []*Source { return r.gdbLists(&registry.Space{Symbols: r.symbols}, GDBList) }, memory: true},
		{read: (*Reader).jitdumps},
		{read: (*Reader).dynInfoLists, memory: true},
		{read: (*Reader).perfMaps},
		{read: func(r *Reader) []*Source { return r.gdbLists(&registry.Space{Writable: r.writable()}, GDBListSearched) }, memory: true, last: true},
	}
}

// finding is the result for an address. If sources disagree, the rules are those of the
// first source with rules. The name is of the same source if it has one, else of the first
// source with a name.
type finding struct {
	code  *Code // nil if no source covers the address
	rules *unwind.Rules
	err   error // why there are no rules; wraps cfi.ErrNoFDE
}

// maxFound bounds the addresses whose findings are kept.
const maxFound = 1 << 16

// Find returns the code that names a run-time address, or at least covers it; nil if there is
// none.
func (r *Reader) Find(pc uint64) *Code { return r.at(pc).code }

// Rules implements unwind.Source.
func (r *Reader) Rules(pc uint64) (*unwind.Rules, error) {
	f := r.at(pc)
	return f.rules, f.err
}

func (r *Reader) at(pc uint64) finding {
	if f, ok := r.found[pc]; ok {
		return f
	}
	f := r.look(pc)
	if r.found == nil || len(r.found) >= maxFound {
		r.found = make(map[uint64]finding)
	}
	r.found[pc] = f
	return f
}

func (r *Reader) look(pc uint64) finding {
	var f finding
	var named, covers bool
	ask := func(s *Source) {
		c := s.find(pc)
		if c == nil {
			return
		}
		_, names := c.is.function(pc)
		if f.rules == nil {
			rules, err := c.is.rules(pc)
			switch {
			case err == nil:
				f.rules, f.err = rules, nil
				if names || !named {
					f.code, named, covers = c, names, true
				}
			case f.err == nil:
				f.err = fmt.Errorf("%w: the unwind table of the %v for the code at %#x cannot be used: %w", cfi.ErrNoFDE, s.Kind, pc, err)
				if errors.Is(err, cfi.ErrNoFDE) {
					f.err = fmt.Errorf("%w: the %v has no unwind table for the code at %#x", cfi.ErrNoFDE, s.Kind, pc)
				}
			}
		}
		if names && !named || !covers {
			f.code, named, covers = c, named || names, true
		}
	}
	for _, s := range r.sources {
		ask(s)
	}
	for len(r.readers) > 0 && (!named || f.rules == nil) && (f.rules == nil || !r.readers[0].last) {
		next := r.readers[0]
		r.readers = r.readers[1:]
		for _, s := range next.read(r) {
			r.sources = append(r.sources, s)
			ask(s)
		}
	}
	if f.code != nil && f.rules == nil {
		f.code.Bare = !f.code.is.unwinds()
	}
	if f.rules == nil && f.err == nil {
		f.err = fmt.Errorf("%w: no Go module list, GDB JIT list, jitdump, dyn-info list or perf map of the process describes the code at %#x", cfi.ErrNoFDE, pc)
	}
	return f
}

// Published reads the sources that were not read yet, except for lists that only a search of all
// memory can find, and returns all of them.
func (r *Reader) Published() []*Source {
	for len(r.readers) > 0 && !r.readers[0].last {
		next := r.readers[0]
		r.readers = r.readers[1:]
		r.sources = append(r.sources, next.read(r)...)
	}
	return r.sources
}

// Sources reads the sources that were not read yet, and returns all of them.
func (r *Reader) Sources() []*Source {
	for _, next := range r.readers {
		r.sources = append(r.sources, next.read(r)...)
	}
	r.readers = nil
	return r.sources
}

// Skipped returns the errors of parts of sources that could not be read, at most eight. The
// slice is the reader's.
func (r *Reader) Skipped() []error { return r.skipped }

// maxSkipped bounds the errors of damaged sources that are kept.
const maxSkipped = 8

// Skip adds an error to the list that Skipped returns.
func (r *Reader) Skip(err error) {
	if len(r.skipped) < maxSkipped {
		r.skipped = append(r.skipped, fmt.Errorf("generated code: %w", err))
	}
}

func (r *Reader) code(kind Kind, d description) *Code {
	return &Code{Kind: kind, snapshot: r.target.Snapshot, is: d}
}
