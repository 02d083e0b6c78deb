// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"slices"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

// A function that makes a tail call leaves no frame: the called function uses its place on
// the stack and returns to its caller. But debugging information says which function the
// caller called (DWARF 5 §3.4). If another function returns to it, and only one path of tail
// calls leads from the former to the latter, the functions on the path ran. Like gdb, if
// there are several paths, tailCalls inserts the calls that they share at both ends.

const (
	maxTailCalls = 64      // on a path between two frames
	maxTailSteps = 1 << 12 // calls that a search between two frames follows
	maxTailAdded = 1 << 16 // frames added to one stack
)

// tailCalls finds the functions that left no frame because of tail calls.
type tailCalls struct {
	objects *Objects
	known   map[[2]tailPlace][]tailCall // by the return address, and the place in the function that returns
	entries map[tailPlace]tailPlace
	symbols map[tailName]tailPlace
	lists   map[tailPlace]tailList
}

// tailPlace is an address in an object. The zero value is no place.
type tailPlace struct {
	object  *Object
	address uint64
}

// tailName is the name of a function in an object, or in any object if that is nil.
type tailName struct {
	object *Object
	name   string
}

// tailCall is a call in an object.
type tailCall struct {
	object *Object
	site   object.CallSite
}

// tailList is the tail calls of one function. Ok is false if the function is unknown.
type tailList struct {
	calls []tailCall
	ok    bool
}

func (o *Objects) newTailCalls() *tailCalls {
	return &tailCalls{objects: o, known: make(map[[2]tailPlace][]tailCall), entries: make(map[tailPlace]tailPlace),
		symbols: make(map[tailName]tailPlace), lists: make(map[tailPlace]tailList)}
}

// insert returns the frames of a stack with those of tail calls inserted.
func (t *tailCalls) insert(frames []Frame) []Frame {
	var out []Frame
	from, added := 0, 0
	for i := 1; i < len(frames) && added < maxTailAdded; i++ {
		callee, caller := &frames[i-1], &frames[i]
		// Any other method can have missed a frame between the two.
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

// between returns the tail calls between the call of one frame and the function of another,
// in the order in which they happened.
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

// file returns the file of an object with its separate debug file opened, nil if there is no
// file. Name reports the errors.
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

// entry returns the entry point of the function at a place.
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

// target returns the entry point of the called function.
func (t *tailCalls) target(call *tailCall) tailPlace {
	name := call.site.Name
	switch {
	case call.site.Entry != 0:
		return tailPlace{call.object, call.site.Entry}
	case name == "":
		return tailPlace{}
	}
	// A definition in the same object has priority.
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

// define returns where an object defines a function. It remembers the results.
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
		// A call by name cannot reach a hidden symbol.
		if s, ok := f.Symbol(name); ok && !s.Hidden {
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

// search returns the tail calls that all paths from a call to a function share at their
// ends. It returns nil if a path is unknown, because an indirect call can lead anywhere.
func (t *tailCalls) search(first *tailCall, to tailPlace) []tailCall {
	s := tailSearch{tailCalls: t, to: to, steps: maxTailSteps, within: make(map[tailPlace]bool)}
	if !s.follow(first) || !s.found {
		return nil
	}
	after := s.first[s.head:]
	return append(s.first[:s.head:s.head], after[len(after)-min(s.tail, len(after)):]...)
}

// tailSearch searches for the paths from a call to a function.
type tailSearch struct {
	*tailCalls
	to     tailPlace
	steps  int
	path   []tailCall
	within map[tailPlace]bool // the calls of path

	found      bool
	first      []tailCall // the first path that was found
	head, tail int        // how many calls at its ends all paths share
}

// follow searches for paths that continue with a call. It returns false if a path is unknown.
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
			continue // a cycle adds nothing to the shared ends
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

// arrive adds the current path. It returns false if all paths share nothing any more.
func (s *tailSearch) arrive() bool {
	if !s.found {
		s.found, s.first = true, slices.Clone(s.path)
		s.head, s.tail = len(s.first), len(s.first)
		return true
	}
	n := len(s.first)
	head, tail := 0, 0
	for head < min(s.head, len(s.path)) && s.first[head] == s.path[head] {
		head++
	}
	for tail < min(s.tail, len(s.path)) && s.first[n-1-tail] == s.path[len(s.path)-1-tail] {
		tail++
	}
	s.head, s.tail = head, tail
	return head+tail > 0
}
