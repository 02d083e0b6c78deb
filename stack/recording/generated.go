// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// generatedCode is the generated code of an address space: the jitdumps that were mapped
// in it, the newest last.
type generatedCode struct {
	dumps  []*jitdump
	loaded []int  // how many functions of each jitdump exist at time
	time   uint64 // of the current sample
	lists  *lists // of the process of the current sample; may be nil

	version uint32 // changes if another function can be at an address
}

// at sets the time, and reports whether other functions exist than at the previous time.
func (g *generatedCode) at(time uint64) (changed bool) {
	g.time = time
	for i, d := range g.dumps {
		if len(g.loaded) <= i {
			g.loaded = append(g.loaded, 0)
		}
		if d.code == nil || !d.timed {
			continue
		}
		functions := d.code.Functions()
		n := g.loaded[i]
		// A file that is read again can have fewer functions than before: it can be written anew.
		if n > len(functions) || n < len(functions) && functions[n].Time <= time || n > 0 && functions[n-1].Time > time {
			g.loaded[i] = sort.Search(len(functions), func(i int) bool { return functions[i].Time > time })
			changed = true
		}
	}
	return changed
}

// jitdump is a jitdump that a process of the recording mapped.
type jitdump struct {
	fileKey
	builder     *builder
	stackObject *stack.Object // nil before the first frame
	pid         int32         // of the process that mapped it first

	opened bool
	code   *codefile.Jitdump // nil if it cannot be read
	err    error
	timed  bool // its clock is that of the recording
	growing
}

// maxJitdumps bounds the jitdumps of an address space: its own and those of the processes
// that it was forked from. Each look-up of an address searches all.
const maxJitdumps = 64

// find returns the function at an address at the time of the sample.
func (g *generatedCode) find(pc uint64) (*jitdump, *perf.Function) {
	for _, d := range slices.Backward(g.dumps) {
		if f := d.find(pc, g.time); f != nil {
			return d, f
		}
	}
	return nil, nil
}

// stale reports whether a jitdump has grown since it was read. Then what else describes its code is older,
// or has no times.
func (g *generatedCode) stale() bool {
	return slices.ContainsFunc(g.dumps, func(d *jitdump) bool { return d.stale })
}

// namedLater reports whether such a jitdump has times: what is at an address now will be known once it is read.
func (g *generatedCode) namedLater() bool {
	return slices.ContainsFunc(g.dumps, func(d *jitdump) bool { return d.stale && d.timed })
}

func (d *jitdump) find(pc, time uint64) *perf.Function {
	if !d.opened {
		d.growing.begin(d.builder, d.size)
		d.open()
		d.note()
	}
	if d.code == nil || d.stale {
		return nil
	}
	if !d.timed {
		time = codefile.End
	}
	return d.code.Find(pc, time)
}

func (d *jitdump) object() *stack.Object {
	if d.stackObject == nil {
		d.stackObject = d.builder.addGenerated(generated.Jitdump, d.path)
	}
	return d.stackObject
}

// name sets the names of a place in a function.
func (d *jitdump) name(c *stack.Code, f *perf.Function) {
	c.Symbol = d.code.Symbol(f)
	c.Symbol.Name = d.builder.copied(c.Symbol.Name)
	if d.builder.opts.Lines {
		c.Locations = d.code.Locate(f, c.LookupAddress())
	}
	for i := range c.Locations {
		c.Locations[i].Function, c.Locations[i].File = c.Symbol.Name, d.builder.copied(c.Locations[i].File)
	}
}

// open reads the jitdump, once for all of its names.
func (d *jitdump) open() {
	d.opened = true
	b := d.builder
	writer, err := b.writer(d.pid, d.mount)
	if err == nil {
		b.readCode(d.pid, &d.growing, func() {
			d.code, err = b.reads.Jitdump(writer, codefile.Marker{Path: d.path, Inode: d.inode.number})
		})
		for _, other := range b.dumps { // one file with two keys was read once: either can stay longer
			if d.code != nil && other.code == d.code {
				d.bytes = max(d.bytes, other.bytes)
			}
		}
	}
	if d.err = err; err == nil {
		d.timed = b.monotonic && !d.code.Counter
	}
}

// note notes what is missing or guessed in the jitdump.
func (d *jitdump) note() {
	b := d.builder
	if d.err != nil {
		b.complete = false
		b.note("jitdump: %v", d.err)
		return
	}
	b.noteRefused(d.code.Err)
	switch {
	case d.code.Counter:
		b.note("%s: its times are of the processor's counter, not of the recording's clock; the last function at each address is shown for the whole recording", d.path)
	case !b.monotonic:
		b.note("%s: the recording has another clock (use perf record -k mono); the last function at each address is shown for the whole recording", d.path)
	}
}

// rules returns the unwind rules of the function at an address.
func (g *generatedCode) rules(pc uint64) (*unwind.Rules, error) {
	d, f := g.find(pc)
	switch {
	case f == nil && g.stale():
		return nil, errNoGenerated
	case f == nil:
		return g.lists.rules(pc)
	}
	rules, err := d.code.Rules(f, pc)
	if err != nil {
		if listed, refused := g.lists.rules(pc); refused == nil {
			return listed, nil
		}
	}
	if err != nil && !errors.Is(err, cfi.ErrNoFDE) {
		err = fmt.Errorf("%w: %w", cfi.ErrNoFDE, err)
	}
	return rules, err
}

var errNoGenerated = fmt.Errorf("%w: no jitdump has a function there", cfi.ErrNoFDE)

func (b *builder) addGenerated(kind generated.Kind, path string) *stack.Object {
	return b.add(&stack.Object{Name: stack.GeneratedName, Path: path, Generated: kind})
}

// copied returns a copy of a name of generated code, which does not keep the text of its file
// in memory. Equal names share the copy.
func (b *builder) copied(name string) string {
	name = printable.Shortened(name, printable.MaxName)
	known, ok := b.names[name]
	if !ok {
		known = strings.Clone(name)
		b.names[known] = known
	}
	return known
}

// noteRefused notes why a file of generated code, or a part of it, was not read. A file
// of another process does not make the recording partial.
func (b *builder) noteRefused(err error) {
	if err == nil {
		return
	}
	b.noteError(err)
	if !errors.Is(err, snapshot.ErrOtherProcess) {
		b.complete = false
	}
}
