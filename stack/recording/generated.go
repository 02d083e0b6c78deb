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
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// generatedCode is what is known of the generated code of an address space: the
// jitdumps that were mapped in it, the newest last. It is the unwind.Source of
// memory without a file.
type generatedCode struct {
	module unwind.Module
	dumps  []*jitdump
	come   []int  // how many functions of each have come by time
	time   uint64 // of the sample that is walked
}

// inherit makes what another space knows part of this one, which a fork made.
func (g *generatedCode) inherit(from *generatedCode) { g.dumps = slices.Clone(from.dumps) }

// at sets the time, and reports whether code has come since the time before.
func (g *generatedCode) at(time uint64) (changed bool) {
	g.time = time
	for i, d := range g.dumps {
		if len(g.come) <= i {
			g.come = append(g.come, 0)
		}
		if d.code == nil || !d.timed {
			continue
		}
		functions := d.code.Functions()
		n := g.come[i]
		if n < len(functions) && functions[n].Time <= time || n > 0 && functions[n-1].Time > time {
			g.come[i] = sort.Search(len(functions), func(i int) bool { return functions[i].Time > time })
			changed = true
		}
	}
	return changed
}

// codeNames names the frames of an object of generated code. It may be asked while
// others are.
type codeNames interface {
	name(function int32, address uint64, lines bool) (object.Symbol, []object.Location)
}

// jitdump is a jitdump that the recording leads to.
type jitdump struct {
	fileKey
	of      *stack.Object // nil before a frame lies in it
	builder *builder
	pid     int32 // of the process that has mapped it first

	opened bool
	code   *codefile.Jitdump // nil where it is not to be had
	err    error             // why it is not
	timed  bool              // its clock is that of the recording
	cloned clonedName
}

// maxJitdumps bounds the jitdumps of an address space, all of which are asked for
// each address: a process that was forked has its own and those of its parents.
const maxJitdumps = 64

// find returns the function that lies at an address at the time of the sample.
func (g *generatedCode) find(pc uint64) (*jitdump, *perf.Function) {
	for _, d := range slices.Backward(g.dumps) {
		if f := d.find(pc, g.time); f != nil {
			return d, f
		}
	}
	return nil, nil
}

func (d *jitdump) find(pc, time uint64) *perf.Function {
	if !d.opened {
		d.open()
		d.tell()
	}
	if d.code == nil {
		return nil
	}
	if !d.timed {
		time = codefile.End
	}
	return d.code.Find(pc, time)
}

// object returns the dump's object.
func (d *jitdump) object() *stack.Object {
	if d.of == nil {
		d.of = d.builder.addGenerated(generated.Jitdump, d.path, d)
	}
	return d.of
}

// The names that it returns do not keep the file that they were read from.
func (d *jitdump) name(function int32, address uint64, lines bool) (s object.Symbol, locations []object.Location) {
	f := &d.code.Functions()[function]
	s = d.code.Symbol(f)
	s.Name = d.cloned.clone(s.Name)
	if lines {
		locations = d.code.Locate(f, address)
	}
	for i := range locations {
		locations[i].Function, locations[i].File = s.Name, strings.Clone(locations[i].File)
	}
	return s, locations
}

// open reads the jitdump, unless it was read by another name.
func (d *jitdump) open() {
	d.opened = true
	b := d.builder
	who, err := b.writer(d.pid, d.mount)
	if err == nil {
		d.code, err = b.reads.Jitdump(who, codefile.Marker{Path: d.path, Inode: d.inode.number})
	}
	if d.err = err; err == nil {
		d.timed = b.monotonic && !d.code.Counter
	}
}

// tell says what is to be known of the jitdump.
func (d *jitdump) tell() {
	b := d.builder
	if d.err != nil {
		b.complete = false
		b.note("jitdump: %v", d.err)
		return
	}
	b.refused(d.code.Err)
	switch {
	case d.code.Counter:
		b.note("%s: its times are of the processor's counter, not of the recording's clock; the functions that came last at their addresses are shown for all of the time", d.path)
	case !b.monotonic:
		b.note("%s: the recording has another clock (perf record -k mono has the jitdump's); the functions that came last at their addresses are shown for all of the time", d.path)
	}
}

// Rules implements unwind.Source.
func (g *generatedCode) Rules(pc uint64) (*unwind.Rules, error) {
	d, f := g.find(pc)
	if f == nil {
		return nil, errNoGenerated
	}
	rules, err := d.code.Rules(f, pc)
	if err != nil && !errors.Is(err, cfi.ErrNoFDE) {
		err = fmt.Errorf("%w: %w", cfi.ErrNoFDE, err)
	}
	return rules, err
}

var errNoGenerated = fmt.Errorf("%w: no jitdump has a function there", cfi.ErrNoFDE)

// addGenerated adds an object of generated code.
func (b *builder) addGenerated(kind generated.Kind, path string, names codeNames) *stack.Object {
	o := b.add(&stack.Object{Name: stack.GeneratedName, Path: path, Generated: kind})
	b.codeOf[o] = names
	return o
}

// refused notes why a file of generated code, or a part of one, was not read. That
// it is another process's does not make the recording partial.
func (b *builder) refused(err error) {
	if err == nil {
		return
	}
	b.noteError(err)
	if !errors.Is(err, snapshot.ErrOtherProcess) {
		b.complete = false
	}
}
