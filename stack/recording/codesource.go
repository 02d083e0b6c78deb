// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"cmp"
	"maps"
	"slices"

	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// maxPerfMaps bounds the perf maps that CodeSources looks for.
const maxPerfMaps = 1 << 12

// CodeSources reads the descriptions of the code that the processes of a recording
// generated, also of code without samples. It reads the jitdumps that the processes mapped,
// and the perf maps of processes with memory for such code. The Err of a source says which
// part could not be read, and notes say what else is missing. If the recording cannot be
// read to its end, CodeSources returns the sources up to there and an error.
func CodeSources(r *perfdata.Reader, opts Options) (sources []*generated.Source, notes []string, err error) {
	b := newBuilder(r, opts)
	defer b.close()
	b.opts.Filter = func(*Thread, string) bool { return false }
	perfMaps := make(map[fileKey]*generated.Source)
	b.leaving = func(p *process) {
		if !p.space.generates() || len(perfMaps) >= maxPerfMaps {
			return
		}
		m := p.perfMap
		if !m.opened {
			m.open()
		}
		if m.code == nil {
			if m.err != nil {
				b.note("%v", m.err)
			}
			return
		}
		source := generated.FromPerfMap(m.code)
		m.space = p.space
		if err := m.check(); err != nil {
			source = &generated.Source{Kind: generated.PerfMap, Place: m.code.Path, Err: err}
		}
		// A process that executed another program has one map for both programs.
		key := fileKey{path: m.code.Path, mount: p.mount}
		if known := perfMaps[key]; known == nil || known.Entries == 0 {
			perfMaps[key] = source
		}
	}
	err = b.read()
	for _, pid := range slices.Sorted(maps.Keys(b.processes)) {
		b.leaving(b.processes[pid])
	}
	for _, key := range slices.SortedFunc(maps.Keys(perfMaps), fileKey.compare) {
		sources = append(sources, perfMaps[key])
	}
	seen := make(map[any]bool) // several keys can lead to the same file
	for _, key := range slices.SortedFunc(maps.Keys(b.dumps), fileKey.compare) {
		d := b.dumps[key]
		d.open()
		switch {
		case d.err != nil && !seen[d.path]:
			seen[d.path] = true
			sources = append(sources, &generated.Source{Kind: generated.Jitdump, Place: d.path, Err: d.err})
		case d.code != nil && !seen[d.code]:
			seen[d.code] = true
			sources = append(sources, generated.FromJitdump(d.code))
		}
	}
	slices.SortStableFunc(sources, func(a, b *generated.Source) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place, b.Place))
	})
	return sources, b.notes, err
}

// generates reports whether the space has memory for generated code.
func (s *space) generates() bool {
	return len(s.code.dumps) > 0 || slices.ContainsFunc(s.modules.Ranges(), func(r unwind.Range) bool {
		// The upper half is the kernel's: [vsyscall] is there in all processes.
		n := mappedBy(r.Module)
		return r.Start < 1<<63 && (n == nil || isMemfd(n.file.path))
	})
}
