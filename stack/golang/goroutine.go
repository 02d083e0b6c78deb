// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/goruntime"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// Goroutine is a goroutine of a Go program, on a thread or on none.
type Goroutine struct {
	goruntime.Goroutine

	// Stack is its stack. The stack's Thread runs it, and is nil if no thread does. The
	// stack of a running goroutine begins with the thread's work for it, also in C code.
	Stack stack.Stack

	// Created is where it was created, without registers, once Name was called
	// named as frames are; nil where that is not known. Goroutines may share it.
	Created *stack.Frame

	// Waited is for how long it waits, as the garbage collector has noticed it; 0
	// where that is not known, as in a core.
	Waited time.Duration

	// System says that the runtime made it for itself.
	System bool

	// StackPointers are those of its frames but of tail calls, where it shares these
	// with other goroutines and is in no group with them (Options.Share).
	StackPointers []uint64

	// Others are the goroutines that are equal to it, by ascending ID, each larger than
	// its own: see Options.Group.
	Others []Other
}

// Other is a goroutine that is equal to another one in all but this.
type Other struct {
	ID, Parent uint64
	Waited     time.Duration
	Stack      *stack.Stack // with Options.Registers; nil else, as the frames are equal
}

// Options changes what Goroutines does. The zero value is good.
type Options struct {
	MaxFrames int  // of one stack; 0 means unwind.DefaultMaxFrames
	System    bool // also those that the runtime made for itself

	// Share makes goroutines with equal frames, apart from stack pointers, share them: SP
	// is that of the first goroutine, and Goroutine.StackPointers has those of the others.
	Share bool

	// Group says that goroutines are grouped where there are at least so many; 0 is for
	// never. Those of a group have the same state, the same place on the same thread, if
	// any, and were created by the same go statement. Of a group the one with the lowest
	// ID is returned, and has the Others. Share is implied.
	Group int

	// Registers says that the registers of every frame are kept, and what was read of
	// the stacks. Frames are not shared then.
	Registers bool
}

// ErrMoved: a goroutine ran while its stack was read.
var ErrMoved = errors.New("it ran while its stack was read")

// ErrNoGo: a target has no Go runtime.
var ErrNoGo = errors.New("not a Go program: no Go runtime found")

// Bounds of all goroutines together. A core may claim many goroutines with deep, equal
// stacks.
const (
	maxWalkedFrames   = 1 << 25
	maxKeptFrames     = 1 << 20  // that are not shared
	maxRegisterFrames = 1 << 18  // with registers
	maxKeptStacks     = 64 << 20 // bytes
	maxGroups         = 1 << 18
	maxRemembered     = 1 << 16 // addresses of which is remembered what is there
)

// Goroutines walks the stacks of all goroutines, in the order of the runtime's list:
// about the order of their creation. Groups are in the order of their first goroutines.
// The error says what could not be read; the rest is returned. It wraps ErrNoGo if there
// is no runtime.
//
// Goroutines of a live target that could not be copied while it stood still are read as
// they are now. Each is checked again afterwards: if it ran meanwhile, its Stack's Err
// wraps ErrMoved.
func Goroutines(o *stack.Objects, opts Options) ([]Goroutine, error) {
	runtimes, err := runtimesOf(o)
	errs := []error{err}
	if len(runtimes) == 0 && err == nil {
		return nil, ErrNoGo
	}
	r := &goroutineReader{objects: o, opts: opts, walks: maxWalkedFrames, keeps: maxKeptFrames, shared: newStackIndex(), groups: newStackIndex(),
		functions: make(map[uint64]bool), entries: make(map[uint64]bool), created: make(map[uint64]*stack.Frame)}
	r.opts.Share = (opts.Share || opts.Group > 0) && !opts.Registers
	if opts.Registers {
		r.keeps = maxRegisterFrames
	}
	r.walker = unwind.Walker{Machine: o.Snapshot().Machine, Modules: &o.Modules, MaxFrames: opts.MaxFrames}
	for _, runtime := range runtimes {
		r.runtime = runtime
		errs = append(errs, object.Guard(r.read))
	}
	r.distribute()
	if r.ungrouped > 0 {
		errs = append(errs, fmt.Errorf("%d goroutines are left out, which are not equal to one of the %d groups that are shown", r.ungrouped, maxGroups))
	}
	return r.list, errors.Join(errs...)
}

// goroutineReader reads the goroutines of a target.
type goroutineReader struct {
	objects *stack.Objects
	opts    Options
	runtime runtime
	walker  unwind.Walker
	threads map[uint64]*snapshot.Thread // by the goroutine that they run
	list    []Goroutine
	walks   int // frames that may still be walked
	keeps   int // frames that may still be kept
	kept    int // bytes of stacks that are kept

	current   Goroutine // that is being added to the list
	grouping  bool
	groups    stackIndex // of list, where grouping
	members   []member   // that are not in list, in the order of the runtime's
	ungrouped int        // that are in none of too many groups

	structures, structuresNow *goruntime.Batch // as they were copied, and as they are

	// The goroutines that were read ahead, and the buffer for them.
	ahead []ahead
	room  []byte
	batch []snapshot.Copy
	reads []readOf
	again []uint64
	of    []int

	frames    []stack.Frame   // of one stack
	buffer    []byte          // the part of a stack that is read by itself
	thread    snapshot.Thread // one that stands for a goroutine
	memory    snapshot.ThreadMemory
	shared    stackIndex
	stacks    [][]stack.Frame         // that are shared
	functions map[uint64]bool         // whether goroutines that begin there are the runtime's
	entries   map[uint64]bool         // whether a function of Go begins there
	created   map[uint64]*stack.Frame // by PC
}

// read reads the goroutines of one runtime.
func (r *goroutineReader) read() error {
	s := r.objects.Snapshot()
	list, err := r.runtime.List(snapshotMemory{s})
	r.findThreads(list)
	r.structures, r.structuresNow = r.runtime.Batch(snapshotMemory{s}), r.runtime.Batch(s.Memory)
	wrong := 0
	var first error
	if r.opts.Group == 0 {
		r.list = slices.Grow(r.list, len(list))
	} else {
		r.members = slices.Grow(r.members, len(list))
	}
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

// add walks the stack of a goroutine and appends it to the list, or adds it to a group,
// if it is wanted.
func (r *goroutineReader) add(a *ahead) {
	if !exists(&a.Goroutine) {
		return
	}
	system := r.isSystem(&a.Goroutine)
	if system && !r.opts.System {
		return
	}
	g := &r.current
	*g = Goroutine{Goroutine: a.Goroutine, System: system}
	if now := r.objects.Snapshot().Clock; g.Since > 0 && now > 0 && (g.State == goruntime.Waiting || g.State == goruntime.InSyscall) {
		g.Waited = max(0, now-time.Duration(g.Since))
	}
	r.walk(g, a)
	g.Created = r.creation(&g.Goroutine)
	r.join(g)
}

// findThreads finds out which threads run which goroutines.
func (r *goroutineReader) findThreads(list []uint64) {
	s, memory := r.objects.Snapshot(), snapshotMemory{r.objects.Snapshot()}
	r.threads = make(map[uint64]*snapshot.Thread)
	threads := r.runtime.Threads(memory, list)
	byID, on := make(map[uint64]*snapshot.Thread), threadsOnStacks(nil)
	if sameNamespace(s) {
		for i := range s.Threads {
			byID[uint64(s.Threads[i].ID)] = &s.Threads[i]
		}
	} else {
		on = stacksOf(s)
	}
	for i := range threads {
		m := &threads[i]
		if m.Current == 0 {
			continue
		}
		t := byID[m.ID]
		for _, at := range []uint64{m.Current, m.System, m.Signal} {
			if t != nil || len(on) == 0 || at == 0 {
				break
			}
			if g, err := r.runtime.Read(memory, at); err == nil {
				t = on.within(g.StackLow, g.StackHigh)
			}
		}
		if t != nil {
			r.threads[m.Current] = t
		}
	}
}

// sameNamespace reports whether the target's threads know themselves by the IDs that
// the snapshot has.
func sameNamespace(s *snapshot.Snapshot) bool { return s.Process == nil || s.Process.IDs[0] == s.PID }

// threadsOnStacks are threads by ascending stack pointer.
type threadsOnStacks []threadOnStack

type threadOnStack struct {
	sp     uint64
	thread *snapshot.Thread
}

func stacksOf(s *snapshot.Snapshot) (list threadsOnStacks) {
	for i := range s.Threads {
		if sp, ok := s.Threads[i].Registers.Get(uint64(s.Machine.StackPointer)); ok {
			list = append(list, threadOnStack{sp, &s.Threads[i]})
		}
	}
	slices.SortStableFunc(list, func(a, b threadOnStack) int { return cmp.Compare(a.sp, b.sp) })
	return list
}

// within returns the first thread that is on a stack, nil for none.
func (l threadsOnStacks) within(low, high uint64) *snapshot.Thread {
	i, _ := slices.BinarySearchFunc(l, low, func(t threadOnStack, low uint64) int { return cmp.Compare(t.sp, low) })
	if i == len(l) || l[i].sp >= high {
		return nil
	}
	return l[i].thread
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
		if len(r.functions) < maxRemembered {
			r.functions[g.Function] = is
		}
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
func (r *goroutineReader) creation(g *goruntime.Goroutine) *stack.Frame {
	if g.Creation == 0 || g.ID == 1 { // the first one was not created by a function
		return nil
	}
	f := r.created[g.Creation]
	if f == nil {
		m, _ := r.objects.Modules.Find(g.Creation - 1)
		f = &stack.Frame{PC: g.Creation, LookupPC: g.Creation - 1, Method: unwind.FromCFI, Code: stack.Code{Object: r.objects.Find(m, g.Creation-1)}}
		if f.Object != nil {
			f.Object.File() // finds its bias
			f.Address = f.LookupPC - f.Object.Bias
		}
		if len(r.created) < maxRemembered {
			r.created[g.Creation] = f
		}
	}
	return f
}

// Name finds the symbols of all frames of some goroutines, and of where they
// were created, as Name does.
func Name(o *stack.Objects, list []Goroutine, opts stack.NameOptions) error {
	var stacks []stack.Stack
	of := make(map[*stack.Frame]int) // by a stack's first frame, as stacks are shared
	eachStack(list, func(s *stack.Stack) {
		if len(s.Frames) > 0 {
			if _, ok := of[&s.Frames[0]]; !ok {
				of[&s.Frames[0]] = len(stacks)
				stacks = append(stacks, stack.Stack{Frames: s.Frames})
			}
		}
	})
	created := make(map[*stack.Frame]int)
	for i := range list {
		if f := list[i].Created; f != nil {
			if _, ok := created[f]; !ok {
				created[f] = len(stacks)
				stacks = append(stacks, stack.Stack{Frames: []stack.Frame{*f}})
			}
		}
	}
	err := o.Name(stacks, opts)
	for f, k := range created {
		*f = stacks[k].Frames[0]
	}
	eachStack(list, func(s *stack.Stack) {
		if len(s.Frames) > 0 {
			s.Frames = stacks[of[&s.Frames[0]]].Frames
		}
	})
	return err
}

// eachStack visits the stacks of goroutines.
func eachStack(list []Goroutine, visit func(*stack.Stack)) {
	for i := range list {
		visit(&list[i].Stack)
		for k := range list[i].Others {
			if other := list[i].Others[k].Stack; other != nil {
				visit(other)
			}
		}
	}
}
