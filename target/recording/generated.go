// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"sort"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/rootfs"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/target/perfdata"
	"github.com/clewdev/clew/unwind"
)

// generated is what is known of the generated code of an address space: the
// jitdumps that were mapped in it, the newest last. It is the unwind.Source of
// memory without a file.
type generated struct {
	module unwind.Module
	dumps  []*jitdump
	come   []int  // how many functions of each have come by time
	time   uint64 // of the sample that is walked
}

// inherit makes what another space knows part of this one, which a fork made.
func (g *generated) inherit(from *generated) { g.dumps = slices.Clone(from.dumps) }

// at sets the time, and reports whether code has come since the time before.
func (g *generated) at(time uint64) (changed bool) {
	g.time = time
	for i, d := range g.dumps {
		if len(g.come) <= i {
			g.come = append(g.come, 0)
		}
		if d.functions == nil || !d.timed {
			continue
		}
		functions := d.functions.Functions()
		n := g.come[i]
		if n < len(functions) && functions[n].Time <= time || n > 0 && functions[n-1].Time > time {
			g.come[i] = sort.Search(len(functions), func(i int) bool { return functions[i].Time > time })
			changed = true
		}
	}
	return changed
}

// jitdump is a jitdump that the recording leads to.
type jitdump struct {
	path    string
	inode   inode
	index   int32 // in Recording.Objects
	builder *builder
	mount   perfdata.Namespace
	pid     int32

	opened    bool
	timed     bool // its clock is that of the recording
	functions *perf.Index
	numbers   map[*perf.Function]int32 // of those that were met
	met       []*generatedFunction     // by number
	recent    [1 << 8]recentFunction
}

// generatedFunction is a function of a jitdump that a frame lay in.
type generatedFunction struct {
	*perf.Function
	number int32
	tables *unwind.Sections
	err    error
}

// recentFunction is the function that an address has had from a time on, for good.
type recentFunction struct {
	pc uint64
	f  *generatedFunction
}

// maxJitdumps bounds the jitdumps of an address space, all of which are asked for
// each address: a process that was forked has its own and those of its parents.
const maxJitdumps = 64

// find returns the function that lies at an address at the time of the sample.
func (g *generated) find(pc uint64) (*jitdump, *generatedFunction) {
	for _, d := range slices.Backward(g.dumps) {
		if f := d.find(pc, g.time); f != nil {
			return d, f
		}
	}
	return nil, nil
}

func (d *jitdump) find(pc, time uint64) *generatedFunction {
	if !d.opened {
		d.opened = true
		d.open()
	}
	if d.functions == nil {
		return nil
	}
	if !d.timed {
		time = math.MaxUint64
	}
	r := &d.recent[pc%uint64(len(d.recent))]
	if r.f != nil && r.pc == pc && time >= r.f.Time {
		return r.f
	}
	found, ok := d.functions.Find(pc, time)
	if !ok {
		return nil
	}
	n, ok := d.numbers[found]
	if !ok {
		n = int32(len(d.met))
		d.numbers[found] = n
		d.met = append(d.met, &generatedFunction{Function: found, number: n})
	}
	f := d.met[n]
	if last, ok := d.functions.Find(pc, math.MaxUint64); ok && last == found {
		*r = recentFunction{pc, f}
	}
	return f
}

// object returns the index of the dump's object.
func (d *jitdump) object() int32 {
	if d.index < 0 {
		d.index = d.builder.object(Object{Name: target.GeneratedName, File: d.path, Generated: target.Jitdump})
		d.builder.dumpOf[d.index] = d
	}
	return d.index
}

// open reads the jitdump, unless it was read by another name.
func (d *jitdump) open() {
	if err := d.read(); err != nil {
		d.builder.complete = false
		d.builder.note("jitdump: %v", err)
	}
}

func (d *jitdump) read() error {
	b := d.builder
	f, info, err := b.openFile(d.path, d.pid, d.mount, d.inode)
	if err != nil {
		return err
	}
	defer f.Close()
	is := identityOf(info)
	if known := b.loaded[is]; known != nil && is != (identity{}) {
		d.timed, d.functions = known.timed, known.functions
		d.numbers = make(map[*perf.Function]int32)
		return nil
	}
	b.loaded[is] = d
	data, _, err := b.budget.Read(f)
	if len(data) == 0 && err != nil {
		return err
	}
	if err != nil {
		b.complete = false
		b.noteError(err)
	}
	dump, err := perf.ParseJitdump(d.path, data)
	if err != nil {
		return err
	}
	b.noteError(dump.Damage())
	d.functions = dump.Index()
	d.numbers = make(map[*perf.Function]int32)
	if all, err := d.functions.Damage(); all > 0 {
		b.note("%s: %d bad records: %v", d.path, all, err)
	}
	d.timed = b.monotonic && dump.Flags&perf.FlagArchTimestamp == 0
	switch {
	case dump.Flags&perf.FlagArchTimestamp != 0:
		b.note("%s: its times are of the processor's counter, not of the recording's clock; the functions that came last at their addresses are shown for all of the time", d.path)
	case !b.monotonic:
		b.note("%s: the recording has another clock (perf record -k mono has the jitdump's); the functions that came last at their addresses are shown for all of the time", d.path)
	}
	return nil
}

// Rules implements unwind.Source.
func (g *generated) Rules(pc uint64) (*unwind.Rules, error) {
	d, f := g.find(pc)
	if f == nil {
		return nil, errNoGenerated
	}
	if f.tables == nil && f.err == nil {
		section, err := d.functions.EHFrame(f.Function)
		switch {
		case err != nil:
			f.err = fmt.Errorf("%w: %w", cfi.ErrNoFDE, err)
		case section == nil:
			f.err = errNoTable
		default:
			f.tables = &unwind.Sections{EHFrame: section}
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	return f.tables.Rules(pc)
}

var (
	errNoGenerated = fmt.Errorf("%w: no jitdump has a function there", cfi.ErrNoFDE)
	errNoTable     = fmt.Errorf("%w: the jitdump has no unwind table of the function", cfi.ErrNoFDE)
)

// maxFiles bounds what is read of all jitdumps and perf maps, in bytes.
const maxFiles = math.MaxInt32

// openFile opens a file that a process has written, as it sees the path.
func (b *builder) openFile(path string, pid int32, mount perfdata.Namespace, want inode) (*os.File, fs.FileInfo, error) {
	root := b.opts.Search.Root
	if root == "" {
		var err error
		if root, err = b.root(pid, mount); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if root == "" {
		root = "/"
	}
	f, err := rootfs.Open(root, path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case want.number != 0 && identityOf(info) != (identity{}) && identityOf(info).number != want.number:
		err = fmt.Errorf("%s: it is not the file that was recorded (inode %d, %d expected)", path, identityOf(info).number, want.number)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
