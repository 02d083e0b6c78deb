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
)

// maxPerfMaps bounds the perf maps that CodeSources looks for.
const maxPerfMaps = 1 << 12

// CodeSources reads what the processes of a recording tell of the code that they
// generated, whether a sample lies in it or not: the jitdumps that they had mapped,
// and the perf maps of those that had memory for such code. What of a source could
// not be read is in its Err; notes say what else is missing. With an error, which is
// of the recording, comes what was found until there.
func CodeSources(r *perfdata.Reader, opts Options) (sources []*generated.Source, notes []string, err error) {
	b := newBuilder(r, opts)
	defer b.close()
	b.opts.Filter = func(*Thread, string) bool { return false }
	perfMaps := make(map[fileKey]*generated.Source)
	b.leaving = func(p *process) {
		if !p.space.generates() || len(perfMaps) >= maxPerfMaps {
			return
		}
		m := p.named
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
		// Of a process that has executed another program, the map is of one of them.
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
	seen := make(map[any]bool) // a file that the recording tells apart is read once
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

// generates reports whether there is memory for generated code in the space.
func (s *space) generates() bool {
	return len(s.code.dumps) > 0 || slices.ContainsFunc(s.mappings, func(m mapping) bool {
		// The upper half is the kernel's, which shows all processes code of its own there.
		return m.start < 1<<63 && (m.file == nil || namesNoFile(m.file.path))
	})
}
