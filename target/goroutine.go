// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/target/goruntime"
	"github.com/clewdev/clew/unwind"
)

// Goroutine is a goroutine of a Go program, on a thread or on none.
type Goroutine struct {
	goruntime.Goroutine

	// Stack is its stack, with the thread that runs it; nil where none does. That of
	// one on a thread begins with what the thread does for it, in C code also.
	Stack Stack

	// Created is where it was created, without registers, once Name was called named
	// as frames are; PC is 0 where that is not known.
	Created Frame

	// Waited is for how long it waits, as the garbage collector has noticed it; 0
	// where that is not known, as in a core.
	Waited time.Duration

	// System says that the runtime made it for itself.
	System bool
}

// GoroutineOptions changes what Goroutines does. The zero value is good.
type GoroutineOptions struct {
	MaxFrames int  // of one stack; 0 means unwind.DefaultMaxFrames
	System    bool // also those that the runtime made for itself

	// Share says that those whose frames are equal, apart from stack pointers, share
	// them: SP is that of the first one's.
	Share bool

	// Registers says that the registers of every frame are kept, and what was read of
	// the stacks. Frames are not shared then.
	Registers bool
}

// ErrMoved: a goroutine ran while its stack was read.
var ErrMoved = errors.New("it ran while its stack was read")

// ErrNoGo: a target has no Go runtime.
var ErrNoGo = errors.New("it is no Go program: no Go runtime is in it")

// maxGoroutineFrames bounds the frames of all goroutines together, whose stacks a core
// may claim to be equal and deep.
const maxGoroutineFrames = 1 << 22

// Where registers and stacks are kept there are fewer frames, and so many bytes of stacks
// at most.
const (
	maxRegisterFrames = 1 << 18
	maxKeptStacks     = 64 << 20
)

// Goroutines walks the stacks of all goroutines, in the order of the runtime's list:
// about that in which they were created. The error says what could not be read, and
// what could be is returned; it wraps ErrNoGo where there is no runtime at all.
//
// Of a live target those that could not be copied while it stood still are read as
// they are now, each looked at again once it was read: where it has run meanwhile, its
// Stack's Err wraps ErrMoved.
func (o *Objects) Goroutines(opts GoroutineOptions) ([]Goroutine, error) {
	runtimes, err := o.runtimes()
	errs := []error{err}
	if len(runtimes) == 0 && err == nil {
		return nil, ErrNoGo
	}
	r := &goroutineReader{objects: o, opts: opts, shared: make(map[uint64][][]Frame), left: maxGoroutineFrames,
		seed: maphash.MakeSeed(), functions: make(map[uint64]bool)}
	if opts.Registers {
		r.opts.Share, r.left = false, maxRegisterFrames
	}
	r.walker = unwind.Walker{Machine: o.snapshot.Machine, Modules: &o.Modules, MaxFrames: opts.MaxFrames}
	for _, runtime := range runtimes {
		r.runtime = runtime
		errs = append(errs, object.Guard(r.read))
	}
	return r.list, errors.Join(errs...)
}

// maxReserved is for how many goroutines there is room from the beginning: a list can
// claim to be long.
const maxReserved = 1 << 14

// goroutineReader reads the goroutines of a target.
type goroutineReader struct {
	objects *Objects
	opts    GoroutineOptions
	runtime runtime
	walker  unwind.Walker
	threads map[uint64]*Thread // by the goroutine that they run
	list    []Goroutine
	left    int // frames that may still be walked
	kept    int // bytes of stacks that are kept

	structures, structuresNow *goruntime.Batch // as they were copied, and as they are

	// What was read ahead, and room for it.
	ahead  []ahead
	stacks []byte
	batch  []goruntime.Copy
	reads  []readOf
	again  []uint64
	of     []int

	frames    []Frame // of one stack
	buffer    []byte  // the part of a stack that is read by itself
	thread    Thread  // one that stands for a goroutine
	shared    map[uint64][][]Frame
	seed      maphash.Seed
	functions map[uint64]bool // whether goroutines that begin there are the runtime's
}

// read reads the goroutines of one runtime.
func (r *goroutineReader) read() error {
	s := r.objects.snapshot
	list, err := r.runtime.List(snapshotMemory{s})
	r.findThreads(list)
	r.structures, r.structuresNow = r.runtime.Batch(snapshotMemory{s}), r.runtime.Batch(s.Memory)
	wrong := 0
	var first error
	r.list = slices.Grow(r.list, min(len(list), maxReserved))
	for chunk := range slices.Chunk(list, batchGoroutines) {
		for _, a := range r.readAhead(chunk) {
			switch {
			case a.err == nil:
				r.add(&a)
			case first == nil:
				first = a.err
				fallthrough
			default:
				wrong++
			}
		}
	}
	if wrong > 1 {
		first = fmt.Errorf("%w, and %d more", first, wrong-1)
	}
	return errors.Join(err, first)
}

// add walks the stack of a goroutine and appends it to the list, if it is wanted.
func (r *goroutineReader) add(a *ahead) {
	if !exists(&a.Goroutine) {
		return
	}
	system := r.isSystem(&a.Goroutine)
	if system && !r.opts.System {
		return
	}
	r.list = append(r.list, Goroutine{Goroutine: a.Goroutine, System: system})
	g := &r.list[len(r.list)-1]
	if now := r.objects.snapshot.Clock; g.Since > 0 && now > 0 && (g.State == goruntime.Waiting || g.State == goruntime.InSyscall) {
		g.Waited = max(0, now-time.Duration(g.Since))
	}
	r.walk(g, a)
	g.Created = r.creation(&g.Goroutine)
}

// findThreads finds out which threads run which goroutines.
func (r *goroutineReader) findThreads(list []uint64) {
	s, memory := r.objects.snapshot, snapshotMemory{r.objects.snapshot}
	r.threads = make(map[uint64]*Thread)
	for _, m := range r.runtime.Threads(memory, list) {
		if m.Current == 0 {
			continue
		}
		for i := range s.Threads {
			if t := &s.Threads[i]; uint64(t.ID) == m.ID && s.sameNamespace() || !s.sameNamespace() && r.onStack(t, &m) {
				r.threads[m.Current] = t
				break
			}
		}
	}
}

// sameNamespace reports whether the target's threads know themselves by the IDs that
// the snapshot has.
func (s *Snapshot) sameNamespace() bool { return s.Process == nil || s.Process.IDs[0] == s.PID }

// onStack reports whether a thread is on one of the stacks that belong to a thread of
// the runtime's.
func (r *goroutineReader) onStack(t *Thread, m *goruntime.Thread) bool {
	s := r.objects.snapshot
	sp, _ := t.Registers.Get(uint64(s.Machine.StackPointer))
	for _, at := range []uint64{m.Current, m.System, m.Signal} {
		if at == 0 {
			continue
		}
		if g, err := r.runtime.Read(snapshotMemory{s}, at); err == nil && g.StackLow <= sp && sp < g.StackHigh {
			return true
		}
	}
	return false
}

// isSystem reports whether the runtime made a goroutine for itself
// (runtime/traceback.go, isSystemGoroutine).
func (r *goroutineReader) isSystem(g *goruntime.Goroutine) bool {
	is, known := r.functions[g.Function]
	if !known {
		if f, bias := r.file(g.Function); f != nil {
			fn, _ := f.GoFunctionAt(g.Function - bias)
			is = strings.HasPrefix(fn.Name, "runtime.") && fn.Name != "runtime.main" && fn.Name != "runtime.corostart" && fn.Name != "runtime.handleAsyncEvent"
		}
		r.functions[g.Function] = is
	}
	// Finalizers and cleanups are the program's: what runs them waits for some by a
	// reason of its own.
	return is && (!r.runsOthers(g.Function) || g.Reason == "finalizer wait" || g.Reason == "cleanup wait")
}

// runsOthers reports whether a function of the runtime calls what the program gave it.
func (r *goroutineReader) runsOthers(function uint64) bool {
	f, bias := r.file(function)
	fn, _ := f.GoFunctionAt(function - bias)
	switch fn.Name {
	case "runtime.runfinq", "runtime.runFinalizers", "runtime.runCleanups":
		return true
	}
	return false
}

// file returns the file of the object that holds an address, with its bias; nil where
// none does.
func (r *goroutineReader) file(address uint64) (f *object.File, bias uint64) {
	m, _ := r.objects.Modules.Find(address)
	o := r.objects.Object(m)
	if o == nil {
		return nil, 0
	}
	f, err := o.File()
	if err != nil {
		return nil, 0
	}
	return f, o.Bias
}

// creation returns the frame that created a goroutine.
func (r *goroutineReader) creation(g *goruntime.Goroutine) (f Frame) {
	if g.Creation == 0 || g.ID == 1 { // what created the first one is no function
		return f
	}
	m, _ := r.objects.Modules.Find(g.Creation - 1)
	f = Frame{PC: g.Creation, LookupPC: g.Creation - 1, Method: unwind.FromCFI, Object: r.objects.Find(m, g.Creation-1)}
	if f.Object != nil {
		f.Object.File() // finds its bias
		f.Address = f.LookupPC - f.Object.Bias
	}
	return f
}

// NameGoroutines finds the symbols of all frames of some goroutines, and of where they
// were created, as Name does.
func (o *Objects) NameGoroutines(list []Goroutine, opts NameOptions) error {
	var stacks []Stack
	to := make(map[*Frame]int) // by a stack's first frame, as stacks are shared
	created := make(map[uint64]int)
	for i := range list {
		g := &list[i]
		if frames := g.Stack.Frames; len(frames) > 0 {
			if _, ok := to[&frames[0]]; !ok {
				to[&frames[0]] = len(stacks)
				stacks = append(stacks, g.Stack)
			}
		}
		if _, ok := created[g.Created.PC]; !ok && g.Created.PC != 0 {
			created[g.Created.PC] = len(stacks)
			stacks = append(stacks, Stack{Frames: []Frame{g.Created}})
		}
	}
	err := o.Name(stacks, opts)
	for i := range list {
		g := &list[i]
		if frames := g.Stack.Frames; len(frames) > 0 {
			g.Stack.Frames = stacks[to[&frames[0]]].Frames
		}
		if g.Created.PC != 0 {
			g.Created = stacks[created[g.Created.PC]].Frames[0]
		}
	}
	return err
}
