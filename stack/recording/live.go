// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// Live is the system on which the processes of a recording run.
type Live interface {
	// Now returns the time by the clock of the recording.
	Now() uint64
	// Soon asks for samples some milliseconds after they were taken, because they are compared with
	// the memory of processes.
	Soon()
	// Open returns the mappings and the memory of a running process, without its threads, or nil
	// if the process has exited. Memory is closed if it is an io.Closer.
	Open(pid int32) (*snapshot.Snapshot, error)
}

// lists are the lists of generated code in the memory of a process that runs, as they were at several
// times. They are read once a sample is in code that nothing else names, and again when they have changed.
type lists struct {
	process *process
	builder *builder

	snapshot *snapshot.Snapshot // nil before the first read
	states   []listState        // by time
	retry    retry
	missed   bool // a look-up failed since the last read
	dropped  bool // states that samples may have referred to

	// before and after are the states around the time of the sample. They are the same if the lists
	// did not change meanwhile. Either can be nil.
	before, after *generated.Reader

	objects map[generated.Kind]*stack.Object
	numbers map[listed]int32
}

// listState are lists that certainly did not change from one time to another.
type listState struct {
	from, until uint64
	reader      *generated.Reader
	bytes       uint64 // of generated.Reader.Bytes
}

// drop drops the oldest state.
func (l *lists) drop() {
	l.builder.listed -= l.states[0].bytes
	l.states = slices.Delete(l.states, 0, 1)
}

// listed is a function of a list.
type listed struct {
	name        string
	start, size uint64
	kind        generated.Kind
}

// maxListed bounds the memory of all lists, in bytes.
const maxListed = 64 << 20

// retry says when something may be read again. Reading it takes at most a tenth of the time, and reading
// everything a third.
type retry struct {
	next  time.Time
	pause time.Duration
}

const (
	minPause = 20 * time.Millisecond
	maxPause = 5 * time.Second
)

func (r *retry) due(b *builder) bool {
	now := time.Now()
	return !now.Before(r.next) && !now.Before(b.nextRead)
}

// done sets the next time after a read that began at a time. Without news the pause doubles.
func (r *retry) done(b *builder, began time.Time, news bool) {
	if r.pause = min(2*r.pause, maxPause); news {
		r.pause = 0
	}
	now := time.Now()
	r.pause = max(r.pause, minPause, 10*now.Sub(began))
	r.next, b.nextRead = now.Add(r.pause), now.Add(2*now.Sub(began))
}

// at sets the time of the next look-ups, and reports whether they can have other results.
func (l *lists) at(at uint64) (changed bool) {
	if len(l.states) == 0 {
		if l.missed {
			l.read()
		}
	} else if last := &l.states[len(l.states)-1]; at > last.until {
		if now := l.builder.opts.Live.Now(); !last.reader.Changed() {
			last.until = now
		} else {
			l.read()
		}
	}
	var before, after *generated.Reader
	for len(l.states) > 1 && l.states[1].from <= at {
		l.drop()
	}
	if len(l.states) > 0 {
		s := &l.states[0]
		if s.from <= at {
			before = s.reader
		}
		switch {
		case at <= s.until:
			after = s.reader
		case len(l.states) > 1:
			after = l.states[1].reader
		}
	}
	if before == nil && l.dropped {
		after = nil // other code may have been there
	}
	changed = before != l.before || after != l.after
	l.before, l.after = before, after
	return changed
}

// read reads the lists, if they may be read again.
func (l *lists) read() {
	if !l.retry.due(l.builder) {
		return
	}
	began := time.Now()
	l.missed = false
	r := l.reader()
	// Only at this time, between two looks with equal results, the lists certainly were as they were read.
	// This program may have waited for a processor before and after.
	now := l.builder.opts.Live.Now()
	if r != nil && !r.Empty() && r.Changed() {
		l.retry.done(l.builder, began, true)
		return
	}
	l.retry.done(l.builder, began, r != nil && !r.Empty())
	if r == nil || r.Empty() {
		l.closeMemory() // most processes have no list
		return
	}
	for _, err := range r.Skipped() {
		l.builder.noteError(err)
	}
	size := r.Bytes()
	for len(l.states) > 0 && l.builder.listed+size > maxListed {
		l.drop()
		l.dropped = true
	}
	if l.builder.listed+size > maxListed {
		l.builder.note("process %d: its lists of generated code exceed the memory for those of all processes", l.process.pid)
		l.closeMemory()
		return
	}
	if len(l.states) >= maxStates {
		l.drop()
		l.dropped = true
	}
	s := listState{now, now, r, size}
	l.builder.listed += s.bytes
	l.states = append(l.states, s)
	l.builder.opts.Live.Soon()
}

// maxStates bounds the states that samples may still refer to.
const maxStates = 8

// reader returns a reader of the lists, or nil if the memory cannot be read.
func (l *lists) reader() *generated.Reader {
	b := l.builder
	s, err := b.opts.Live.Open(l.process.pid)
	if l.closeMemory(); err != nil {
		b.note("lists of generated code in process %d cannot be read: %v", l.process.pid, err)
	}
	if l.snapshot = s; s == nil {
		return nil
	}
	s.Machine = l.process.machine
	return generated.NewListReader(generated.Target{Snapshot: s, Objects: l.mapped, IsObjectCode: func(address uint64) bool {
		module, _ := l.process.space.modules.Find(address)
		return mappedBy(module) != nil
	}}, maxListed-min(b.listed, maxListed))
}

// end closes the memory of the process.
func (l *lists) end() {
	if l == nil {
		return
	}
	for len(l.states) > 0 {
		l.drop()
	}
	l.closeMemory()
}

func (l *lists) closeMemory() {
	if l.snapshot != nil {
		closeMemory(l.snapshot)
		l.snapshot = nil
	}
}

// closeMemory closes the memory of a snapshot that Live.Open has returned.
func closeMemory(s *snapshot.Snapshot) {
	if c, ok := s.Memory.(io.Closer); ok {
		c.Close()
	}
}

// mapped returns the object files of the process.
func (l *lists) mapped() (objects []generated.Object) {
	seen := make(map[*file]bool)
	for _, r := range l.process.space.modules.Ranges() {
		n := mappedBy(r.Module.Loaded())
		if n == nil || !n.fits || seen[n.file] {
			continue
		}
		seen[n.file] = true
		o := generated.Object{Name: n.file.path, Open: func() (*object.File, uint64, error) { return n.file.object, n.Bias, nil }}
		for i := range l.snapshot.Mappings {
			if m := &l.snapshot.Mappings[i]; m.Path == n.file.path {
				o.Mappings = append(o.Mappings, m)
			}
		}
		objects = append(objects, o)
	}
	return objects
}

// find returns the function at an address, nil if there is none or another one was there shortly before.
func (l *lists) find(pc uint64) (*generated.Code, object.Symbol) {
	if l == nil {
		return nil, object.Symbol{}
	}
	if len(l.states) == 0 {
		if l.read(); len(l.states) > 0 {
			l.after = l.states[0].reader
		}
	}
	var code *generated.Code
	var symbol object.Symbol
	named := false
	if l.after != nil {
		if code = l.after.Find(pc); code != nil {
			symbol, named = code.Function(pc)
		}
	}
	if l.before != l.after && l.before != nil {
		if old := l.before.Find(pc); old != nil {
			was, _ := old.Function(pc)
			if code == nil || was.Name != symbol.Name || was.Address != symbol.Address || was.Size != symbol.Size {
				l.builder.note("process %d replaced generated code during some samples: these have no name there", l.process.pid)
				return nil, object.Symbol{}
			}
		}
	}
	if code == nil || !named {
		l.missed = true
	}
	return code, symbol
}

func (l *lists) rules(pc uint64) (*unwind.Rules, error) {
	if code, _ := l.find(pc); code == nil {
		return nil, errNoGenerated
	}
	return l.after.Rules(pc)
}

// place returns the place of a key without an object, if it is in code of a list.
func (l *lists) place(lookup uint64, key placeKey) (int32, bool) {
	code, symbol := l.find(lookup)
	if code == nil || symbol.Name == "" {
		return 0, false
	}
	b := l.builder
	id := listed{b.copied(symbol.Name), symbol.Address, symbol.Size, code.Kind}
	number, ok := l.numbers[id]
	if !ok {
		number = int32(len(l.numbers))
		l.numbers[id] = number
	}
	key.function = number
	if key.object = l.objects[code.Kind]; key.object == nil {
		key.object = b.addGenerated(code.Kind, "")
		l.objects[code.Kind] = key.object
	}
	n, added := b.newPlace(key)
	if added {
		c := &b.rec.places[n].Code
		c.Symbol = symbol
		c.Symbol.Name = b.copied(symbol.Name)
		if b.opts.Lines {
			c.Locations, _ = code.Locate(c.LookupAddress())
		}
		for i := range c.Locations {
			c.Locations[i].Function, c.Locations[i].File = b.copied(c.Locations[i].Function), b.copied(c.Locations[i].File)
		}
	}
	return n, true
}

// retryPlaces names the places of generated code that had no name when they were added, once their
// files are complete: a runtime can write the names late.
func (b *builder) retryPlaces() {
	read := make(map[any]bool)
	for n, u := range b.unnamed {
		c := &b.rec.places[n].Code
		for _, d := range slices.Backward(u.dumps) {
			if !read[d] {
				read[d] = true
				d.retry, b.nextRead = retry{}, time.Time{}
				d.catchUp(math.MaxUint64)
			}
			// Another function can have been there when the place was added.
			if f := d.find(u.lookup, u.first); f != nil && f == d.find(u.lookup, codefile.End) {
				c.Object = d.object()
				d.name(c, f)
			}
		}
		for m, i := u.perfMap, 0; m != nil && i < maxAncestors && c.Object == nil; m, i = m.parent, i+1 {
			if !read[m] {
				read[m] = true
				m.retry, b.nextRead = retry{}, time.Time{}
				m.catchUp(math.MaxUint64)
			}
			if s, ok := m.find(u.lookup, u.space); ok {
				c.Object, c.Symbol = m.stackObject, s
				c.Symbol.Name = b.copied(s.Name)
			}
		}
	}
	maps.DeleteFunc(b.unnamed, func(n int32, _ unnamedPlace) bool { return b.rec.places[n].Object != nil })
}

// unnamedPlace is a place in executable memory without a file and without a name.
type unnamedPlace struct {
	lookup, first uint64 // its address, and the time when it was added
	space         *space
	dumps         []*jitdump
	perfMap       *perfMap
}

// growing is a file of generated code that is read while its runtime writes it.
type growing struct {
	until uint64 // the file was read, or had the same size, at this time
	size  int64  // when it was read
	stale bool   // it has grown since
	bytes int64  // of it that are in memory
	retry retry
}

// begin notes the time and the size before the file is read for the first time.
func (g *growing) begin(b *builder, size func() int64) {
	if b.opts.Live != nil {
		g.until, g.size = b.opts.Live.Now(), size()
	}
}

// catchUp reads the file again if it has grown before a time: a function can be missing, or replaced by a
// new one. It reports whether look-ups can have other results. size returns the size of the file, and read
// reads it.
func (g *growing) catchUp(b *builder, at uint64, size func() int64, read func() bool) (changed bool) {
	if at <= g.until {
		return false
	}
	now, n := b.opts.Live.Now(), size()
	switch {
	case n == g.size:
		g.until = now
		return false
	case !g.retry.due(b):
		changed, g.stale = !g.stale, true
		return changed
	}
	began := time.Now()
	changed = g.stale
	if g.stale = !read(); !g.stale {
		changed = true
		g.until, g.size = now, n
	}
	g.retry.done(b, began, true)
	return changed
}

func (d *jitdump) catchUp(at uint64) bool {
	return d.opened && d.growing.catchUp(d.builder, at, d.size, d.renew)
}

// size returns the size of the jitdump in bytes, or -1 if it cannot be opened.
func (d *jitdump) size() int64 {
	writer, err := d.builder.writer(d.pid, d.mount)
	if err != nil {
		return -1
	}
	return codefile.DumpSize(writer, codefile.Marker{Path: d.path, Inode: d.inode.number})
}

func (m *perfMap) catchUp(at uint64) bool {
	return m.opened && m.growing.catchUp(m.builder, at, m.size, m.renew)
}

// size returns the size of the perf map in bytes, or -1 if there is none.
func (m *perfMap) size() int64 {
	writer, err := m.writer()
	if err != nil {
		return -1
	}
	return codefile.MapSize(writer)
}

// held returns the size in bytes of the files of generated code that are in memory, without one of them.
// What may be read is bounded for all together.
func (b *builder) held(but *growing) (bytes int64) {
	for _, d := range b.dumps {
		if d.code != nil && &d.growing != but {
			bytes += d.bytes
		}
	}
	for _, p := range b.processes {
		if m := p.perfMap; m != nil && m.code != nil && &m.growing != but {
			bytes += m.bytes
		}
	}
	return bytes
}

// renew reads the jitdump again, and reports whether that succeeded.
func (d *jitdump) renew() bool {
	former := *d
	d.builder.reads = codefile.NewReaderBeside(d.builder.held(&d.growing))
	if d.open(); d.code == nil {
		d.code, d.err, d.timed, d.bytes = former.code, former.err, former.timed, former.bytes
		return false
	}
	return true
}

// renew reads the perf map again, and reports whether that succeeded.
func (m *perfMap) renew() bool {
	former, bytes := m.code, m.bytes
	m.builder.reads = codefile.NewReaderBeside(m.builder.held(&m.growing))
	switch m.open(); {
	case m.code == nil:
		m.code, m.bytes = former, bytes
		return false
	case former == nil:
		m.note()
	}
	return true
}

// update sets the time of the next look-ups in generated code, for a thread of the process, and reads again
// what may have grown.
func (p *process) update(t *thread, at uint64) {
	s := p.space
	changed := s.code.at(at)
	if b := p.perfMap.builder; b.opts.Live != nil {
		if p.lists == nil {
			p.lists = &lists{process: p, builder: b, objects: make(map[generated.Kind]*stack.Object), numbers: make(map[listed]int32)}
		}
		for _, d := range s.code.dumps {
			changed = d.catchUp(at) || changed
		}
		s.code.at(at)
		changed = p.perfMap.catchUp(at) || changed
		changed = p.lists.at(at) || changed
		if former := s.code.lists; former != p.lists {
			changed = changed || former != nil && len(former.states) > 0 || len(p.lists.states) > 0
			s.code.lists = p.lists
		}
	}
	if changed {
		s.changed()
		s.code.version++
	}
	if t.version != s.code.version {
		t.version = s.code.version
		t.trail.Forget() // the names of its frames can be wrong
		t.places, t.gap = t.places[:0], 0
	}
}
