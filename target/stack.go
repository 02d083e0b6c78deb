// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

// Stack is the stack of one thread.
type Stack struct {
	Thread *Thread
	Frames []Frame // innermost first

	// Parked holds, of the stack of a goroutine that no thread runs, where it goes on
	// and a copy of its stack, as a thread does. It is there where registers were asked
	// for.
	Parked *Thread

	// Reason is why the walk ended, and Err what stood in its way; nil at the
	// end of the stack.
	Reason unwind.Reason
	Err    error
}

// Frame is one frame of a stack.
type Frame struct {
	PC, LookupPC uint64 // as unwind.Frame has them: run-time addresses
	SP           uint64
	Method       unwind.Method
	Interrupted  bool
	Trampoline   bool

	// TailCall says that the function has no frame any more: it called that of the
	// frame before in the place of its return. Name found it by the call sites that
	// the debugging information tells of. PC is behind the call, or where that is
	// not said the call's own, SP and Registers are zero, and Method is that of
	// the next frame.
	TailCall bool

	// Late says that the frame was found by reading writable memory after the
	// target ran on: it may not fit the frames before it.
	Late bool

	Object  *Object // that LookupPC lies in, nil where it lies in none
	Address uint64  // LookupPC without the object's load bias

	// Registers are the registers in this frame, as far as they are known;
	// nil where they were not asked for.
	Registers unwind.FrameRegisters

	// What Objects.Name found; zero before.
	Symbol    object.Symbol
	Locations []object.Location // innermost inlined call first, the function itself last
}

// WalkOptions changes what Walk does. The zero value is good.
type WalkOptions struct {
	Registers bool // keep the registers of every frame
	Lines     bool // Name is to find lines: what that needs is read meanwhile, until Objects.Close
	MaxFrames int  // of one stack; 0 means unwind.DefaultMaxFrames
}

// Walk walks the stacks of all threads of the objects' snapshot, in the order
// of its threads. A thread without registers has a stack without frames, and
// its Err.
func (o *Objects) Walk(opts WalkOptions) []Stack {
	if stacks := o.walked; stacks != nil && opts == o.walkedAs {
		o.walked = nil
		return stacks
	}
	s := o.snapshot
	stacks := make([]Stack, len(s.Threads))
	w := &unwind.Walker{Machine: s.Machine, Modules: &o.Modules, MaxFrames: opts.MaxFrames}
	// Room that is not needed costs no memory: it is never touched.
	frames := make([]Frame, 0, min(64*len(s.Threads), 1<<16))
	for i := range s.Threads {
		t := &s.Threads[i]
		stack := &stacks[i]
		stack.Thread = t
		if t.Registers.PC == 0 && t.Err != nil {
			stack.Reason, stack.Err = unwind.NoRule, t.Err
			continue
		}
		start := len(frames)
		err := object.Guard(func() error {
			o.walk(w, t, opts, &frames)
			return nil
		})
		stack.Frames = frames[start:len(frames):len(frames)]
		stack.Reason, stack.Err = w.Reason(), w.Err()
		if err != nil {
			stack.Reason, stack.Err = unwind.UnreadableMemory, err
		}
	}
	return stacks
}

// walk appends the frames of one stack, each as it is found: what a fault in a
// mapped file cuts short keeps those before it.
func (o *Objects) walk(w *unwind.Walker, t *Thread, opts WalkOptions, frames *[]Frame) {
	memory := o.snapshot.ThreadMemory(t)
	w.Memory = memory
	w.Stack = unwind.Stack{Address: t.StackAddress, Bytes: t.Stack}
	sp := uint64(o.snapshot.Machine.StackPointer)
	for f := range w.Walk(&t.Registers) {
		_, late := memory.Late()
		frame := Frame{PC: f.PC, LookupPC: f.LookupPC, Method: f.Method,
			Interrupted: f.Interrupted, Trampoline: f.Trampoline, Late: late, Object: o.Find(f.Module, f.LookupPC)}
		frame.SP, _ = f.Registers.Get(sp)
		if f.Module != nil {
			frame.Address = f.LookupPC - f.Module.Bias
		}
		if opts.Lines {
			o.locateAhead(frame.Object, frame.Address)
		}
		if opts.Registers {
			frame.Registers = f.Registers.Kept()
		}
		*frames = append(*frames, frame)
	}
}

// NameOptions changes what Name does.
type NameOptions struct {
	Lines bool // also find source lines, inlined calls and tail calls

	// Meanwhile, if not nil and with Lines, is called on another goroutine when the lines
	// of the frames are found that were there before, while Name does the rest. It may
	// still run when Name returns. Close waits for it, and has ended return true. It may
	// use Object.File and must not use what Name changes: of the frames that were there
	// before, Symbol and Locations. Of several that wait the last one is called.
	Meanwhile func(ended func() bool)
}

// Name finds the symbols of all frames of some stacks, and with Lines where in
// the source they are, for each address once; with Lines it also inserts the
// frames of tail calls, see Frame.TailCall. The error says what could not be
// read, object by object; what was found is kept.
func (o *Objects) Name(stacks []Stack, opts NameOptions) error {
	w := wanted{objects: o, of: make(map[*Object]*addresses), places: make([][]int32, len(stacks))}
	for i := range stacks {
		w.add(i, stacks[i].Frames, opts)
	}
	if opts.Lines {
		if opts.Meanwhile != nil {
			o.ahead.after(opts.Meanwhile)
		}
		w.findSymbols() // lines are read meanwhile, which tail calls are found by
		tail := o.newTailCalls()
		for i := range stacks {
			if frames := tail.insert(stacks[i].Frames); len(frames) > len(stacks[i].Frames) {
				stacks[i].Frames = frames
				w.add(i, frames, opts)
			}
		}
	}
	w.findSymbols()
	errs := slices.Clone(o.generated.skipped)
	for object, a := range w.of {
		if opts.Lines {
			a.findLocations(object)
		}
		errs = append(errs, a.errs...)
	}
	for i := range stacks {
		w.tell(i, stacks[i].Frames)
	}
	return errors.Join(errs...)
}

// wanted is what is to be found, object by object.
type wanted struct {
	objects *Objects
	of      map[*Object]*addresses
	places  [][]int32 // of the frames of each stack, in the list of their object's addresses

	// Most frames are of the same object as the one before.
	last     *Object
	lastWant *addresses
}

func (w *wanted) addresses(o *Object) *addresses {
	if o == w.last {
		return w.lastWant
	}
	a := w.of[o]
	if a == nil {
		a = &addresses{index: make(map[uint64]int32)}
		w.of[o] = a
	}
	w.last, w.lastWant = o, a
	return a
}

// add adds the addresses of the frames of a stack.
func (w *wanted) add(stack int, frames []Frame, opts NameOptions) {
	places := slices.Grow(w.places[stack][:0], len(frames))[:len(frames)]
	w.places[stack] = places
	for i := range frames {
		f := &frames[i]
		if f.Object == nil {
			continue
		}
		a := w.addresses(f.Object)
		known := len(a.list)
		places[i] = a.add(f.Address)
		if opts.Lines && len(a.list) > known {
			w.objects.locateAhead(f.Object, f.Address)
		}
	}
}

// findSymbols finds the symbols of the addresses that were added since it was called last.
func (w *wanted) findSymbols() {
	for object, a := range w.of {
		a.findSymbols(object)
	}
}

// tell tells the frames of a stack what was found.
func (w *wanted) tell(stack int, frames []Frame) {
	for i := range frames {
		f := &frames[i]
		if f.Object == nil {
			continue
		}
		a, n := w.addresses(f.Object), w.places[stack][i]
		if int(n) < len(a.symbols) {
			f.Symbol = a.symbols[n]
		}
		if a.locations != nil {
			f.Locations = a.locations[n]
		}
	}
}

// addresses are the distinct addresses of one object's frames, and what is
// found about them.
type addresses struct {
	index     map[uint64]int32
	list      []uint64
	symbols   []object.Symbol // of the first in the list
	locations [][]object.Location
	errs      []error         // name the object, or the file that they are of
	told      map[string]bool // the texts of these, and their lines
}

// add returns the index of an address in the list.
func (a *addresses) add(address uint64) int32 {
	n, ok := a.index[address]
	if !ok {
		n = int32(len(a.list))
		a.index[address] = n
		a.list = append(a.list, address)
	}
	return n
}

// findSymbols finds the symbols of the addresses that were added since it was called last.
func (a *addresses) findSymbols(o *Object) {
	added := a.list[len(a.symbols):]
	if len(added) == 0 {
		return
	}
	if o.code != nil {
		for _, address := range added {
			symbol, _ := o.code.function(address)
			a.symbols = append(a.symbols, symbol)
		}
		return
	}
	f, err := o.File()
	if err != nil {
		a.fail(err)
		return
	}
	a.fail(o.searchDebugFile(f))
	symbols, err := f.FindSymbols(added)
	a.fail(err)
	a.symbols = append(a.symbols, symbols...)
}

// findLocations finds where in the source the addresses are.
func (a *addresses) findLocations(o *Object) {
	a.locations = make([][]object.Location, len(a.list))
	for i, address := range a.list {
		var err error
		a.locations[i], err = o.locate(address)
		a.fail(err)
	}
}

// locate finds where in the source an address is. The error names the object, or the file
// that it is of.
func (o *Object) locate(address uint64) ([]object.Location, error) {
	if o.code != nil {
		list, err := o.code.locate(address)
		if err != nil {
			err = fmt.Errorf("%s: %w", o.Name, err)
		}
		return list, err
	}
	f, err := o.File()
	if err != nil {
		return nil, err
	}
	return f.Locate(address)
}

// maxTold bounds how many things are told to be wrong with one object.
const maxTold = 8

// fail notes what is wrong, line by line and each once: a unit is wrong at each of its
// addresses, a table at each pass over it.
func (a *addresses) fail(err error) {
	if err == nil || len(a.errs) == maxTold {
		return
	}
	text := err.Error()
	if a.told[text] {
		return
	}
	lines := strings.Split(text, "\n")
	fresh := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return a.told[line] })
	if a.told == nil {
		a.told = make(map[string]bool)
	}
	for _, line := range append(lines, text) {
		a.told[line] = true
	}
	switch {
	case len(fresh) == len(lines):
		a.errs = append(a.errs, err)
	case len(fresh) > 0:
		a.errs = append(a.errs, errors.New(strings.Join(fresh, "\n")))
	}
}

// Offset returns how far PC is into the frame's symbol, in bytes, and false
// where there is no symbol.
func (f *Frame) Offset() (uint64, bool) {
	if f.Symbol.Name == "" {
		return 0, false
	}
	return f.Address + f.PC - f.LookupPC - f.Symbol.Address, true
}

// Location returns where in the source the function of the frame is, apart
// from what was inlined into it, and nil where that is not known.
func (f *Frame) Location() *object.Location {
	if n := len(f.Locations); n > 0 {
		return &f.Locations[n-1]
	}
	return nil
}
