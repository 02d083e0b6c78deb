// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"fmt"
	"time"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/stack/generated"
)

// perfMap is the perf map that a process may have written.
type perfMap struct {
	process *process
	parent  *perfMap // of the process that it was forked from, whose code it has
	builder *builder
	of      *stack.Object // nil until it has named an address

	// began is when the process was forked, or has executed its program, in the
	// time of the recording: 0 where that was before it.
	began uint64

	opened bool
	code   *codefile.Map // nil where there is none
	err    error         // why it is not known whether there is one
	space  *space        // in which it was asked last
	fits   bool          // it is the process's
	cloned clonedName
}

func (b *builder) newPerfMap(p *process, parent *perfMap, began uint64) *perfMap {
	return &perfMap{process: p, parent: parent, builder: b, began: began}
}

// maxAncestors is how many processes are asked for the name of a place.
const maxAncestors = 16

// names reports whether the map names an address in a space, which is that of the
// process or comes from it.
func (m *perfMap) names(pc uint64, s *space) bool {
	if !m.opened {
		m.open()
		m.tell()
	}
	if m.code == nil {
		return false
	}
	m.space = s
	_, ok := m.code.Find(pc)
	if ok && m.of == nil {
		m.of = m.builder.addGenerated(generated.PerfMap, m.code.Path, m)
	}
	return ok
}

func (m *perfMap) name(_ int32, address uint64, _ bool) (object.Symbol, []object.Location) {
	s, _ := m.code.Find(address)
	s.Name = m.cloned.clone(s.Name)
	return s, nil
}

// check returns an error where most of the symbols lie where the process has no
// code. It is asked late, when all is mapped that what was written last is of.
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
	who, err := b.writer(m.process.pid, b.mountOf(m.process))
	if err != nil {
		m.err = fmt.Errorf("a perf map of process %d is not to be had: %w", m.process.pid, err)
		return
	}
	if clock := &b.reader.Header().Clock; m.began != 0 && !clock.Wall.IsZero() {
		who.Began = clock.Wall.Add(time.Duration(m.began - clock.Time))
	}
	m.code = b.reads.Map(who)
}

// tell says what is to be known of the map.
func (m *perfMap) tell() {
	b := m.builder
	b.refused(m.err)
	if m.code != nil {
		b.refused(m.code.Err)
		b.maps = append(b.maps, m)
	}
}

// tellMaps says which perf maps are not those of their processes.
func (b *builder) tellMaps() {
	for _, m := range b.maps {
		if err := m.check(); err != nil {
			b.noteError(err)
		}
	}
}
