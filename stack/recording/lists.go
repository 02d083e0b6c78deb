// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"slices"
	"time"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// lists are the lists of generated code in the memory of a process that runs, as they were at several
// times. They are read once a sample is in code that nothing else names, and again when they have changed.
type lists struct {
	process *process
	builder *builder

	snapshot *snapshot.Snapshot // nil before the first read
	states   []listState        // by time
	retry    retry
	held     uint64 // bytes of the states
	missed   bool   // a look-up failed since the last read
	time     uint64 // of the sample

	dropped bool   // the oldest states are gone: samples before the others have no name
	none    uint64 // a look at this time found no list; 0 without one
	guessed uint64 // the longest time from a sample to the first look, by which its frames have names

	// before and after are the states around the time of the sample. They are the same if the lists
	// did not change meanwhile. Either can be nil.
	before, after *generated.Reader
	unproven      bool // there was no look before the sample

	objects map[generated.Kind]*stack.Object
	numbers map[listed]int32
}

// listState are lists that certainly did not change from one time to another.
type listState struct {
	from, until uint64
	reader      *generated.Reader
	bytes       uint64 // of generated.Reader.Bytes
}

func newLists(p *process, b *builder) *lists {
	return &lists{process: p, builder: b, objects: make(map[generated.Kind]*stack.Object), numbers: make(map[listed]int32)}
}

// drop drops the oldest state.
func (l *lists) drop() {
	l.builder.listed -= l.states[0].bytes
	l.held -= l.states[0].bytes
	l.states = slices.Delete(l.states, 0, 1)
}

// forget is drop for a state that samples may still refer to.
func (l *lists) forget() {
	l.drop()
	l.dropped, l.none = true, 0
}

// listed is a function of a list.
type listed struct {
	name        string
	start, size uint64
	kind        generated.Kind
}

// maxListed bounds the memory of all lists, in bytes. Of that a process may have as much as the others leave,
// and at least an equal share: the process with the most gives up its oldest state for another one.
const maxListed = 64 << 20

// share returns how many bytes of lists the process may have.
func (l *lists) share() uint64 {
	others, processes := uint64(0), uint64(1)
	for _, p := range l.builder.processes {
		if p.lists != nil && p.lists != l && p.lists.held > 0 {
			others += p.lists.held
			processes++
		}
	}
	return max(maxListed-min(others, maxListed), maxListed/processes)
}

// reserve drops states of the processes with the most until the process can have another one of a size. It
// reports false if the process would be that with the most.
func (l *lists) reserve(size uint64) bool {
	for l.builder.listed+size > maxListed {
		most, held := l, l.held+size
		for _, p := range l.builder.processes {
			if p.lists != nil && p.lists != l && p.lists.held > held {
				most, held = p.lists, p.lists.held
			}
		}
		if len(most.states) == 0 {
			return false
		}
		most.forget()
	}
	return true
}

// at sets the time of the next look-ups, and reports whether they can have other results.
func (l *lists) at(at uint64) (changed bool) {
	l.time = at
	if len(l.states) == 0 {
		if l.missed {
			l.read()
		}
	} else if last := &l.states[len(l.states)-1]; at > last.until {
		if now := l.builder.opts.Live.Now(); !last.reader.Changed() {
			last.until = now
		} else {
			l.builder.opts.Live.Soon()
			l.read()
		}
	}
	before, after := l.before, l.after
	l.around()
	return before != l.before || after != l.after
}

// around finds the states around the time of the sample.
func (l *lists) around() {
	var before, after *generated.Reader
	at := l.time
	l.unproven = false
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
	switch {
	case before != nil || after == nil || l.none > 0 && at >= l.none:
	case l.dropped || l.states[0].from-at > maxGuess:
		after = nil // other code may have been there
	default:
		l.unproven = true
	}
	l.before, l.after = before, after
}

// maxGuess is how long before the first look at a list samples have names by it, in nanoseconds. They come up
// to two looks at the kernel's buffers late, and finding the lists of a large program takes as long.
const maxGuess = 2e9

// noteGuessed notes that names rest on the first look at a list.
func (l *lists) noteGuessed() {
	if l != nil && l.guessed > 0 {
		l.builder.note("process %d: the first look at its lists of generated code came up to %v after samples in that code, so their names are not certain",
			l.process.pid, time.Duration(l.guessed).Round(time.Millisecond))
		l.guessed = 0
	}
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
		if r != nil && len(l.states) == 0 {
			l.none, l.dropped = now, false
		}
		l.closeMemory() // most processes have no list
		return
	}
	for _, err := range r.Skipped() {
		l.builder.noteError(err)
	}
	size := r.Bytes()
	if !l.reserve(size) {
		l.builder.note("process %d: its lists of generated code exceed the memory for those of all processes", l.process.pid)
		l.closeMemory()
		return
	}
	if len(l.states) >= maxStates {
		l.forget()
	}
	s := listState{now, now, r, size}
	l.builder.listed += s.bytes
	l.held += s.bytes
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
	}}, l.share())
}

// end closes the memory of the process.
func (l *lists) end() {
	if l == nil {
		return
	}
	l.noteGuessed()
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
			if m := &l.snapshot.Mappings[i]; m.Path == n.Name {
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
		l.read()
		l.around()
	}
	var code *generated.Code
	var symbol object.Symbol
	named := false
	if l.after != nil {
		if code = l.after.Find(pc); code != nil {
			symbol, named = code.Function(pc)
			if l.unproven {
				l.guessed = max(l.guessed, l.states[0].from-l.time)
			}
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
