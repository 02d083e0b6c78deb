// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/target"
)

// perfMap is the perf map that a process may have written.
type perfMap struct {
	process *process
	parent  *perfMap // of the process that it was forked from, whose code it has
	builder *builder
	index   int32 // in Recording.Objects, -1 until it has named an address

	// began is when the process was forked, or has executed its program, in the
	// time of the recording: 0 where that was before it.
	began uint64

	opened  bool
	path    string
	symbols *perf.Map
	space   *space // in which it was asked last
	fits    bool   // it is the process's
	in      int    // symbols that lie where the process has code
}

func (b *builder) newPerfMap(p *process, parent *perfMap, began uint64) *perfMap {
	return &perfMap{process: p, parent: parent, builder: b, index: -1, began: began}
}

// maxAncestors is how many processes are asked for the name of a place.
const maxAncestors = 16

// symbol returns the symbol of an address in a space, which is that of the process
// or comes from it.
func (m *perfMap) symbol(pc uint64, s *space) (*perf.Symbol, bool) {
	if !m.opened {
		m.opened = true
		m.open()
	}
	if m.symbols == nil {
		return nil, false
	}
	m.space = s
	found, ok := m.symbols.Find(pc)
	if ok && m.index < 0 {
		b := m.builder
		m.index = b.object(Object{Name: target.GeneratedName, File: m.path, Generated: target.PerfMap})
		b.mapOf[m.index] = m
	}
	return found, ok
}

// check reports whether most of the symbols lie where the process has code: the
// files stay, and another process can have had the number. It is asked late, when
// all is mapped that what was written last is of.
func (m *perfMap) check() bool {
	if m.fits {
		return true
	}
	all := m.symbols.Symbols()
	m.in = 0
	for i := range all {
		if at := all[i].Address; at < math.MaxUint64 && m.space.overlaps(at, at+1) {
			m.in++
		}
	}
	m.fits = m.in > 0 && 2*m.in >= len(all)
	return m.fits
}

// refuse takes the names of a perf map from frames.
func (b *builder) refuse(frames []int32) {
	for _, n := range frames {
		b.keys[n].object, b.keys[n].kind = -1, Unknown
		b.rec.frames[n].Kind = Unknown
	}
}

func (m *perfMap) open() {
	b := m.builder
	p := m.process
	for _, pid := range b.namesOf(p.pid) {
		path := "/tmp/perf-" + strconv.Itoa(int(pid)) + ".map"
		f, info, err := b.openFile(path, p.pid, b.mountOf(p), inode{})
		if errors.Is(err, errEnded) {
			b.complete = false
			b.note("a perf map of process %d is not to be had: %v", p.pid, errEnded)
		}
		if err != nil {
			continue
		}
		if err := m.old(info); err != nil {
			f.Close()
			b.note("%s: %v", path, err)
			continue
		}
		data, _, err := b.budget.Read(f)
		f.Close()
		b.noteError(err)
		m.path, m.symbols = path, perf.ParseMap(path, data)
		if all, err := m.symbols.Damage(); all > 0 {
			b.note("%s: %d bad lines: %v", path, all, err)
		}
		b.maps = append(b.maps, m)
		return
	}
}

// old tells why a file cannot be the process's: it was last written before the
// process began, where the recording has that and the time of day.
func (m *perfMap) old(info fs.FileInfo) error {
	clock := &m.builder.rec.Header.Clock
	if m.began == 0 || clock.Wall.IsZero() {
		return nil
	}
	began := clock.Wall.Add(time.Duration(m.began - clock.Time))
	if written := info.ModTime(); written.Before(began.Add(-time.Second)) {
		return fmt.Errorf("of another process: it was last written at %s, and process %d began at %s",
			written.Format(time.DateTime), m.process.pid, began.Format(time.DateTime))
	}
	return nil
}

// tellMaps says which perf maps are not those of their processes.
func (b *builder) tellMaps() {
	for _, m := range b.maps {
		if all := len(m.symbols.Symbols()); all > 0 && m.space != nil && !m.check() {
			b.note("%s: of another process: %d of its %d functions lie where process %d has code", m.path, m.in, all, m.process.pid)
		}
	}
}

// namesOf returns the IDs that a process may go by in its own namespace, the
// innermost first, and that of the recording.
func (b *builder) namesOf(pid int32) []int32 {
	ids := []int32{pid}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(int(pid)) + "/status")
	if err != nil {
		return ids
	}
	for line := range bytes.Lines(status) {
		list, ok := bytes.CutPrefix(line, []byte("NSpid:"))
		if !ok {
			continue
		}
		fields := bytes.Fields(list)
		if len(fields) > 1 {
			if n, err := strconv.ParseInt(string(fields[len(fields)-1]), 10, 32); err == nil {
				ids = append([]int32{int32(n)}, ids...)
			}
		}
	}
	return ids
}
