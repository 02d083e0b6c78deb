// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import (
	"fmt"
	"iter"
	"os"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/unwind"
)

// maxJitdumps bounds the jitdumps of a target. A forked process has its own and those of its
// parents.
const maxJitdumps = 64

// jitdumps reads the jitdumps that the target has mapped, as perf requires.
func (r *Reader) jitdumps() (sources []*Source) {
	s := r.target.Snapshot
	seen := make(map[string]bool)
	for i := range s.Mappings {
		m := &s.Mappings[i]
		if !perf.IsMarker(m.Path) || seen[m.Path] || len(seen) == maxJitdumps {
			continue
		}
		seen[m.Path] = true
		marker := codefile.Marker{Path: m.Path}
		if s.Open != nil && (s.Live || s.Process == nil) {
			// Open the mapped file itself. A core contains at most one page of it: there the
			// file at its path is opened through the process, if it is known.
			marker.Open = func() (*os.File, error) { return s.Open(m) }
		}
		source := &Source{Kind: Jitdump, Place: m.Path}
		d, err := r.files.Jitdump(s.Process, marker)
		if err == nil {
			err = d.Fits(s.Machine, executable(s))
		}
		if err == nil {
			source = FromJitdump(d).of(s)
			err = d.Err
		}
		if source.Err = err; err != nil {
			r.Skip(fmt.Errorf("jitdump: %w", err))
		}
		sources = append(sources, source)
	}
	return sources
}

// perfMaps reads the target's perf map.
func (r *Reader) perfMaps() []*Source {
	s := r.target.Snapshot
	m := r.files.Map(s.Process)
	if m == nil {
		return nil
	}
	source := FromPerfMap(m).of(s)
	if isExecutable := executable(s); isExecutable != nil {
		if err := m.Fits(isExecutable); err != nil {
			source = &Source{Kind: PerfMap, Place: m.Path, Err: err}
		}
	}
	if source.Err != nil {
		r.Skip(fmt.Errorf("perf map: %w", source.Err))
	}
	return []*Source{source}
}

// executable returns a function that reports whether the target has code at an address. It
// detects files of other processes: when a core is read, another process can have had the
// same ID or file name. It is nil for a live target.
func executable(s *snapshot.Snapshot) func(address uint64) bool {
	if s.Live {
		return nil
	}
	return func(address uint64) bool {
		m := s.Mapping(address)
		return m != nil && m.Executable
	}
}

// FromJitdump returns a jitdump as a Source, with the code that existed at its end.
func FromJitdump(d *codefile.Jitdump) *Source {
	code := &dumpCode{file: d}
	return &Source{Kind: Jitdump, Place: d.Path, Entries: len(d.Functions()), Err: d.Err, machine: d.Machine,
		codes: []*Code{{Kind: Jitdump, is: code}}}
}

// FromPerfMap returns a perf map as a Source.
func FromPerfMap(m *codefile.Map) *Source {
	return &Source{Kind: PerfMap, Place: m.Path, Entries: m.Lines(), Err: m.Err,
		codes: []*Code{{Kind: PerfMap, is: &mapCode{file: m}}}}
}

// of sets the target of a file's source.
func (source *Source) of(s *snapshot.Snapshot) *Source {
	source.machine, source.codes[0].snapshot = s.Machine, s
	return source
}

// Read reads a file that a runtime wrote for perf: a jitdump or a perf map. The name becomes
// the source's Place. Errors in parts of the file are in the source's Err. Read returns an
// error if the file is neither.
func Read(name string, data []byte) (*Source, error) {
	return fileSource(codefile.Parse(name, data, nil))
}

// Open reads a jitdump or a perf map from a path, up to its first hole and at most two
// gigabytes.
func Open(path string) (*Source, error) {
	return fileSource(codefile.NewReader().Read(path))
}

func fileSource(d *codefile.Jitdump, m *codefile.Map, err error) (*Source, error) {
	switch {
	case err != nil:
		return nil, err
	case d != nil:
		return FromJitdump(d), nil
	}
	return FromPerfMap(m), nil
}

// dumpCode is the code that existed at the end of a jitdump. If the process of a core ran on,
// that can be later than the core.
type dumpCode struct {
	undescribed
	file *codefile.Jitdump
}

func (c *dumpCode) find(pc uint64) *perf.Function { return c.file.Find(pc, codefile.End) }

func (c *dumpCode) function(pc uint64) (object.Symbol, bool) {
	f := c.find(pc)
	if f == nil {
		return object.Symbol{}, false
	}
	return c.file.Symbol(f), true
}

func (c *dumpCode) functions() iter.Seq[object.Symbol] {
	return func(yield func(object.Symbol) bool) {
		for f := range c.file.Last() {
			if !yield(c.file.Symbol(f)) {
				return
			}
		}
	}
}

func (c *dumpCode) former(match func(string) bool) iter.Seq[codefile.Former] {
	return c.file.Former(match)
}

func (c *dumpCode) locate(pc uint64) ([]object.Location, error) {
	return c.file.Locate(c.find(pc), pc), nil
}

func (c *dumpCode) lines(pc uint64) iter.Seq[jit.Line] { return c.file.Lines(c.find(pc)) }

func (c *dumpCode) frames(pc uint64) ([]*cfi.Section, error) {
	s, err := c.file.Frames(c.find(pc))
	return sectionOrNone(s), err
}

func (c *dumpCode) rules(pc uint64) (*unwind.Rules, error) { return c.file.Rules(c.find(pc), pc) }

func (c *dumpCode) covers(pc uint64) bool { return c.file.Covers(c.find(pc), pc) }

func (c *dumpCode) unwinds() bool { return c.file.Unwinds() }

func (c *dumpCode) bytes(pc uint64) []byte { return c.file.Code(c.find(pc)) }

// mapCode is the code that a perf map names.
type mapCode struct {
	undescribed
	file *codefile.Map
}

func (c *mapCode) function(pc uint64) (object.Symbol, bool) { return c.file.Find(pc) }

func (c *mapCode) functions() iter.Seq[object.Symbol] { return c.file.Symbols() }

func (c *mapCode) former(match func(string) bool) iter.Seq[codefile.Former] {
	return c.file.Former(match)
}
