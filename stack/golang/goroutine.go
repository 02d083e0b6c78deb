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

// Goroutine is a goroutine of a Go program, running on a thread or not.
type Goroutine struct {
	goruntime.Goroutine

	// Stack is its stack. The stack's Thread is the thread that runs it, or nil. The stack
	// of a running goroutine starts with the thread's frames, also those in C code.
	Stack stack.Stack

	// Created is the frame that created it, without registers, or nil if it is unknown.
	// Name sets its names. Goroutines may share it.
	Created *stack.Frame

	// Waited is how long it has been waiting, since the garbage collector noticed it. It is
	// 0 if that is unknown, as in a core.
	Waited time.Duration

	// System says that the runtime made it for itself.
	System bool

	// StackPointers contains the stack pointers of its frames, except tail calls, if the
	// frames are shared (Options.Share) and were walked first for another goroutine.
	StackPointers []uint64

	// Others are the other goroutines of its group, by ascending ID. Their IDs are higher than
	// its own: see Options.Group.
	Others []Other
}

// Other is a goroutine of a group. Its other fields equal those of the group's Goroutine.
type Other struct {
	ID, Parent uint64
	Waited     time.Duration
	Stack      *stack.Stack // nil without Options.Registers, because the frames are equal
}

// Options changes what Goroutines does. The zero value is valid.
type Options struct {
	MaxFrames int  // of one stack; 0 means unwind.DefaultMaxFrames
	System    bool // also goroutines that the runtime made for itself

	// Share makes goroutines share their frames if these are equal apart from stack pointers.
	// SP in a frame is then the stack pointer of the first goroutine, and
	// Goroutine.StackPointers contains those of another.
	Share bool

	// Group is the number of goroutines from which they are grouped; 0 means never. The
	// goroutines of a group have the same state, the same frames, the same thread if any, and
	// the same go statement as creator. Goroutines returns the one with the lowest ID, with
	// the Others. Group implies Share.
	Group int

	// Registers keeps the registers of every frame, and copies of the stacks. Frames are
	// not shared then.
	Registers bool

	// LatePages, if not nil, is called for a goroutine that a thread runs, if the walk of its
	// stack read writable memory after the target continued to run, with the addresses of the
	// pages (ThreadMemory.LatePages). A snapshot.Retaker can copy them.
	LatePages func(pages []uint64)
}

// ErrMoved says that a goroutine ran while its stack was read.
var ErrMoved = errors.New("it ran while its stack was read")

// ErrNoGo says that a target has no Go runtime.
var ErrNoGo = errors.New("not a Go program: no Go runtime found")

// Bounds for all goroutines of a target. A core can claim many goroutines with deep, equal
// stacks.
const (
	maxWalkedFrames   = 1 << 25
	maxKeptFrames     = 1 << 20  // without shared ones
	maxRegisterFrames = 1 << 18  // with registers
	maxKeptStacks     = 64 << 20 // bytes
	maxGroups         = 1 << 18
	maxRemembered     = 1 << 16 // addresses in each of the maps of goroutineReader
)

// Goroutines walks the stacks of all goroutines, in the order of the runtime's list, which is
// roughly the order of their creation. Groups are in the order of their first goroutines. The
// error says what could not be read; it wraps ErrNoGo if there is no runtime. All other
// goroutines are returned with it.
//
// If a goroutine of a live target was not copied while the target stood still, its current
// state is read. If it ran while its stack was read, its Stack's Err wraps ErrMoved.
func Goroutines(o *stack.Objects, opts Options) ([]Goroutine, error) {
	runtimes, err := runtimesOf(o)
	errs := []error{err}
	if len(runtimes) == 0 && err == nil {
		return nil, ErrNoGo
	}
	r := &goroutineReader{objects: o, opts: opts, walks: maxWalkedFrames, keeps: maxKeptFrames, shared: stack.NewIndex(), groups: stack.NewIndex(),
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
		errs = append(errs, fmt.Errorf("%d goroutines are left out, because there are more than %d groups", r.ungrouped, maxGroups))
	}
	return r.list, errors.Join(errs...)
}

// goroutineReader reads the goroutines of a target.
type goroutineReader struct {
	objects *stack.Objects
	opts    Options
	runtime runtime
	walker  unwind.Walker
	threads map[uint64]*snapshot.Thread // by the address of the goroutine that they run
	list    []Goroutine
	walks   int // frames that may still be walked
	keeps   int // frames that may still be kept
	kept    int // bytes of kept stacks

	current   Goroutine // the one to add to list
	grouping  bool
	groups    stack.Index // of list, if grouping
	members   []member    // the Others, in the order of the runtime's list
	ungrouped int         // goroutines dropped because of maxGroups

	structures, structuresNow *goruntime.Batch // the copied state, and the current one

	// The current batch, and buffers for it.
	ahead       []ahead
	stackBuffer []byte
	batch       []snapshot.Copy
	reads       []readOf
	rechecked   []uint64 // addresses of goroutines
	recheckedOf []int    // their indexes into ahead

	frames    []stack.Frame   // of the current stack
	buffer    []byte          // a stack that is read outside a batch
	thread    snapshot.Thread // stands for a parked goroutine
	memory    snapshot.ThreadMemory
	shared    stack.Index
	stacks    [][]stack.Frame         // those that can be shared
	functions map[uint64]bool         // by address: whether its goroutines are the runtime's
	entries   map[uint64]bool         // by address: whether a Go function begins there
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

// add walks the stack of a goroutine and adds it to the list or a group, unless it is left
// out.
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

// findThreads finds the threads that run goroutines.
func (r *goroutineReader) findThreads(list []uint64) {
	s, memory := r.objects.Snapshot(), snapshotMemory{r.objects.Snapshot()}
	r.threads = make(map[uint64]*snapshot.Thread)
	threads := r.runtime.Threads(memory, list)
	byID, on := make(map[uint64]*snapshot.Thread), threadsOnStacks(nil)
	if s.Process == nil || s.Process.IDs[0] == s.PID { // the runtime knows threads by the same IDs
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
	// Finalizers and cleanups are the program's code. Their goroutine is the runtime's only
	// while it waits for some.
	return is && (!r.runsOthers(g.Function) || g.Reason == "finalizer wait" || g.Reason == "cleanup wait")
}

// runsOthers reports whether a function of the runtime calls functions of the program.
func (r *goroutineReader) runsOthers(function uint64) bool {
	f, bias := r.file(function)
	fn, _ := f.GoFunctionAt(function - bias)
	switch fn.Name {
	case "runtime.runfinq", "runtime.runFinalizers", "runtime.runCleanups":
		return true
	}
	return false
}

// file returns the file of the object that contains an address, and its bias. The file is nil
// if there is none.
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
	if g.Creation == 0 || g.ID == 1 { // no function created the first one
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

// Name finds the symbols of all frames of some goroutines and of their Created, as
// stack.Objects.Name does.
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
