// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"errors"
	"fmt"
	"time"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/stack/generated"
)

// perfMap is the perf map that a process may have written.
type perfMap struct {
	process     *process
	parent      *perfMap // of the process that it was forked from, whose code it has
	builder     *builder
	stackObject *stack.Object // nil until the map names an address

	// began is when the process was forked or executed its program, by the clock of the
	// recording; 0 if that was before the recording.
	began uint64

	// ended is when the process ended or executed another program, 0 if it did not.
	ended uint64

	opened bool
	code   *codefile.Map // nil if there is none
	err    error         // why the map cannot be searched for
	space  *space        // of the last look-up
	fits   bool          // the map is that of the process

	growing
	numbers map[string]int32 // of the symbols, by name, if the map is read again
}

func (b *builder) newPerfMap(p *process, parent *perfMap, began uint64) *perfMap {
	return &perfMap{process: p, parent: parent, builder: b, began: began}
}

// maxAncestors is in how many perf maps a place is looked up.
const maxAncestors = 16

// find returns the symbol at an address in a space, which is that of the process or was forked
// from it. Its name is a part of the file's text.
func (m *perfMap) find(pc uint64, s *space) (symbol object.Symbol, ok bool) {
	if !m.opened {
		m.growing.begin(m.builder, m.size)
		m.open()
		m.note()
	}
	if m.code == nil {
		return symbol, false
	}
	m.space = s
	if m.stale {
		return symbol, false
	}
	symbol, ok = m.code.Find(pc)
	if ok && m.stackObject == nil {
		m.stackObject = m.builder.addGenerated(generated.PerfMap, m.code.Path)
	}
	return symbol, ok
}

// number returns the number of a symbol. Another symbol at the same address, which a later line of the map
// names, is another place.
func (m *perfMap) number(name string) int32 {
	name = m.builder.copied(name)
	n, ok := m.numbers[name]
	if !ok {
		if m.numbers == nil {
			m.numbers = make(map[string]int32)
		}
		n = int32(len(m.numbers))
		m.numbers[name] = n
	}
	return n
}

// check returns an error if most of the symbols lie where the process has no code. It must
// be called late, when the memory of the newest symbols is mapped.
func (m *perfMap) check() error {
	if m.fits || m.space == nil {
		return nil
	}
	err := m.code.Fits(func(address uint64) bool { return address+1 > address && m.space.overlaps(address, address+1) })
	m.fits = err == nil
	return err
}

// open looks for the map and reads it.
func (m *perfMap) open() {
	m.opened = true
	b := m.builder
	writer, err := m.writer()
	switch {
	case errors.Is(err, errEnded) && b.opts.Live != nil: // there can be many
		b.lostMaps++
		return
	case err != nil:
		m.err = fmt.Errorf("the perf map of process %d cannot be opened: %w", m.process.pid, err)
		return
	}
	b.readCode(m.process.pid, &m.growing, func() { m.code = b.reads.Map(writer) })
}

func (m *perfMap) writer() (*snapshot.Process, error) {
	b := m.builder
	writer, err := b.writer(m.process.pid, b.mountOf(m.process))
	if err != nil {
		return nil, err
	}
	if clock := &b.reader.Header().Clock; !clock.Wall.IsZero() {
		if m.began != 0 {
			writer.Began = clock.Wall.Add(time.Duration(m.began - clock.Time))
		}
		if m.ended != 0 && b.opts.Live != nil { // a copy can be newer
			writer.Ended = clock.Wall.Add(time.Duration(m.ended - clock.Time))
		}
	}
	return writer, nil
}

// note notes what is missing in the map.
func (m *perfMap) note() {
	b := m.builder
	b.noteRefused(m.err)
	if m.code != nil {
		b.noteRefused(m.code.Err)
		b.maps = append(b.maps, m)
	}
}
