// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"slices"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

// A function that calls another one in the place of its return leaves no frame:
// what it called uses its place on the stack, and returns to its caller. But the
// debugging information says which function the caller has called (DWARF 5 §3.4).
// Where that is another one than returns to it, and tail calls lead from the one
// to the other in one way only, the functions on it were there. gdb shows them
// too; where there are several ways, what they share at both ends.

// Bounds of the search for the tail calls between two frames, in calls, and of
// what is added to one stack, in frames.
const (
	maxTailCalls = 64
	maxTailSteps = 1 << 12
	maxTailAdded = 1 << 16
)

// tailCalls finds the functions that tail calls left no frame of.
type tailCalls struct {
	objects *Objects
	known   map[[2]tailPlace][]tailCall // by what is returned to, and the address that returns
	entries map[tailPlace]tailPlace
	symbols map[tailName]tailPlace
	lists   map[tailPlace]tailList
}

// tailPlace is an address in an object; the zero value none.
type tailPlace struct {
	object  *Object
	address uint64
}

// tailName is what an object calls a function, or any of them where object is nil.
type tailName struct {
	object *Object
	name   string
}

// tailCall is a call in an object.
type tailCall struct {
	object *Object
	site   object.CallSite
}

// tailList is the tail calls of one function; ok is false where no function is
// known.
type tailList struct {
	calls []tailCall
	ok    bool
}

func (o *Objects) newTailCalls() *tailCalls {
	return &tailCalls{objects: o, known: make(map[[2]tailPlace][]tailCall), entries: make(map[tailPlace]tailPlace),
		symbols: make(map[tailName]tailPlace), lists: make(map[tailPlace]tailList)}
}

// insert returns the frames of a stack with those of functions that tail calls
// left none of.
func (t *tailCalls) insert(frames []Frame) []Frame {
	var out []Frame
	from, added := 0, 0
	for i := 1; i < len(frames) && added < maxTailAdded; i++ {
		callee, caller := &frames[i-1], &frames[i]
		// Any other method may have missed a frame between the two.
		if caller.Method != unwind.FromCFI || caller.Interrupted || caller.TailCall || callee.TailCall || callee.Trampoline {
			continue
		}
		between := t.between(callee, caller)
		if len(between) == 0 {
			continue
		}
		if out == nil {
			out = make([]Frame, 0, len(frames)+len(between))
		}
		out = append(out, frames[from:i]...)
		from = i
		for _, call := range slices.Backward(between) {
			f := Frame{Method: unwind.FromCFI, TailCall: true, Late: caller.Late, Code: Code{Object: call.object, Address: call.site.PC}}
			if !call.site.At {
				f.Address--
			}
			f.PC, f.LookupPC = call.site.PC+call.object.Bias, f.Address+call.object.Bias
			out = append(out, f)
			added++
		}
	}
	if out == nil {
		return frames
	}
	return append(out, frames[from:]...)
}

// between returns the tail calls that lead from the call of one frame to the
// function of another, the first one first.
func (t *tailCalls) between(callee, caller *Frame) []tailCall {
	to := tailPlace{callee.Object, callee.Address}
	back := tailPlace{caller.Object, caller.Address + caller.PC - caller.LookupPC}
	path, ok := t.known[[2]tailPlace{back, to}]
	if ok {
		return path
	}
	if f := t.file(caller.Object); f != nil {
		if site, ok, _ := f.CallSite(back.address); ok {
			if entry := t.entry(to); entry.object != nil {
				path = t.search(&tailCall{caller.Object, site}, entry)
			}
		}
	}
	t.known[[2]tailPlace{back, to}] = path
	return path
}

// file returns the file of an object with its separate debug file, nil for none
// and for generated code. Name says what is wrong with them.
func (t *tailCalls) file(o *Object) *object.File {
	if o == nil || o.code != nil {
		return nil
	}
	f, _ := o.File()
	if f != nil {
		_ = o.searchDebugFile(f)
	}
	return f
}

// entry returns the first instruction of the function at a place.
func (t *tailCalls) entry(p tailPlace) tailPlace {
	e, ok := t.entries[p]
	if !ok {
		if f := t.file(p.object); f != nil {
			if list, _ := f.FunctionsAt(p.address); len(list) > 0 {
				e = tailPlace{p.object, list[len(list)-1].Entry}
			}
		}
		t.entries[p] = e
	}
	return e
}

// target returns where the function of a call starts.
func (t *tailCalls) target(call *tailCall) tailPlace {
	name := call.site.Name
	switch {
	case call.site.Entry != 0:
		return tailPlace{call.object, call.site.Entry}
	case name == "":
		return tailPlace{}
	}
	// What the object itself defines goes before others of the same name.
	if p := t.define(call.object, name); p.object != nil {
		return p
	}
	anywhere := tailName{nil, name}
	p, ok := t.symbols[anywhere]
	if !ok {
		for _, o := range t.objects.CodeObjects() {
			if p = t.define(o, name); p.object != nil {
				break
			}
		}
		t.symbols[anywhere] = p
	}
	return p
}

// define returns where an object defines a function, and remembers it.
func (t *tailCalls) define(o *Object, name string) tailPlace {
	key := tailName{o, name}
	p, ok := t.symbols[key]
	if !ok {
		p = t.definition(o, name)
		t.symbols[key] = p
	}
	return p
}

func (t *tailCalls) definition(o *Object, name string) tailPlace {
	if f := t.file(o); f != nil {
		if s, ok := f.Symbol(name); ok && !s.Hidden { // which no call by this name leads to
			return tailPlace{o, s.Address}
		}
	}
	return tailPlace{}
}

// list returns the tail calls of the function that starts at a place.
func (t *tailCalls) list(p tailPlace) tailList {
	l, ok := t.lists[p]
	if !ok {
		if f := t.file(p.object); f != nil {
			var sites []object.CallSite
			sites, l.ok, _ = f.TailCalls(p.address)
			for _, site := range sites {
				l.calls = append(l.calls, tailCall{p.object, site})
			}
		}
		t.lists[p] = l
	}
	return l
}

// search returns what all ways of tail calls share at their ends that lead from
// the function of a call to another one; nothing where that cannot be told, as an
// indirect call may lead anywhere.
func (t *tailCalls) search(first *tailCall, to tailPlace) []tailCall {
	s := tailSearch{tailCalls: t, to: to, steps: maxTailSteps, within: make(map[tailPlace]bool)}
	if !s.follow(first) || !s.found {
		return nil
	}
	rest := s.way[s.head:]
	return append(s.way[:s.head:s.head], rest[len(rest)-min(s.tail, len(rest)):]...)
}

// tailSearch looks for the ways from a call to a function.
type tailSearch struct {
	*tailCalls
	to     tailPlace
	steps  int
	path   []tailCall
	within map[tailPlace]bool // the calls of path

	// The first way that was found, and how many calls at its head and at its
	// tail are those of all others.
	found      bool
	way        []tailCall
	head, tail int
}

// follow looks for ways from a call on. It returns false where nothing can be
// told.
func (s *tailSearch) follow(call *tailCall) bool {
	target := s.target(call)
	if s.steps--; s.steps < 0 || target.object == nil {
		return false
	}
	if target == s.to {
		return s.arrive()
	}
	list := s.list(target)
	if !list.ok || len(s.path) == maxTailCalls {
		return false
	}
	for i := range list.calls {
		next := &list.calls[i]
		place := tailPlace{next.object, next.site.PC}
		if s.within[place] {
			continue // functions that call each other may do so any number of times
		}
		s.within[place] = true
		s.path = append(s.path, *next)
		ok := s.follow(next)
		s.path = s.path[:len(s.path)-1]
		delete(s.within, place)
		if !ok {
			return false
		}
	}
	return true
}

// arrive adds a way. It returns false where it shares nothing with those before.
func (s *tailSearch) arrive() bool {
	if !s.found {
		s.found, s.way = true, slices.Clone(s.path)
		s.head, s.tail = len(s.way), len(s.way)
		return true
	}
	n := len(s.way)
	head, tail := 0, 0
	for head < min(s.head, len(s.path)) && s.way[head] == s.path[head] {
		head++
	}
	for tail < min(s.tail, len(s.path)) && s.way[n-1-tail] == s.path[len(s.path)-1-tail] {
		tail++
	}
	s.head, s.tail = head, tail
	return head+tail > 0
}
