// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package tailcall finds the functions that left no frame because of tail calls.
//
// A function that makes a tail call leaves no frame: the called function uses its place on
// the stack and returns to its caller. But debugging information says which function the
// caller called (DWARF 5 §3.4). If another function returns to it, and only one path of tail
// calls leads from the former to the latter, the functions on the path ran. Like gdb, if
// there are several paths, the package finds the calls that they share at both ends.
package tailcall

import (
	"slices"

	"github.com/clewdev/clew/object"
)

const (
	// MaxFrames is the largest number of frames to add to a stack.
	MaxFrames = 1 << 16

	maxCalls   = 64      // on a path between two frames
	maxSteps   = 1 << 12 // calls that a search between two frames follows
	maxReached = 256     // functions that CallsItself follows
)

// Finder finds tail calls in modules: object files at run-time addresses. A module is its key
// M. A Finder remembers results until Forget. It is not safe for concurrent use.
type Finder[M comparable] struct {
	// File returns the file of a module, or nil.
	File func(M) *object.File
	// Definition returns the function that a module calls by a name, or the zero Place. It is
	// called once for each name.
	Definition func(M, string) Place[M]
	// NeedReturn says that a call whose return address is unknown leads anywhere. gdb 13 does
	// not read such calls (CallSite.At), which clang describes.
	NeedReturn bool

	paths   map[[2]Place[M]][]Call[M] // by the return address, and the place in the function that returns
	entries map[Place[M]]Place[M]
	names   map[name[M]]Place[M]
	lists   map[Place[M]]list[M]
	cycles  map[Place[M]]bool // by entry point: the results of CallsItself
}

// Place is an address in a module's file. The zero value is no place.
type Place[M comparable] struct {
	Module  M
	Address uint64
}

func (p Place[M]) known() bool {
	var none M
	return p.Module != none
}

// Call is a call in a module.
type Call[M comparable] struct {
	Module M
	object.CallSite
}

// Lookup returns an address in the call instruction.
func (c *Call[M]) Lookup() uint64 {
	if c.At {
		return c.PC
	}
	return c.PC - 1
}

// name is the name of a function that a module calls.
type name[M comparable] struct {
	module M
	name   string
}

// list is the tail calls of one function. ok is false if the function is unknown.
type list[M comparable] struct {
	calls []Call[M]
	ok    bool
}

// Between returns the tail calls between the call that returns to the place back and the
// function that contains the place to, in the order in which they happened. The caller must
// not modify the result.
func (t *Finder[M]) Between(back, to Place[M]) []Call[M] {
	path, ok := t.paths[[2]Place[M]{back, to}]
	if ok {
		return path
	}
	t.remember()
	if f := t.File(back.Module); f != nil {
		if site, ok, _ := f.CallSite(back.Address); ok {
			if entry := t.entry(to); entry.known() {
				path = t.search(&Call[M]{back.Module, site}, entry)
			}
		}
	}
	t.paths[[2]Place[M]{back, to}] = path
	return path
}

// CallsItself reports whether the function that contains a place reaches itself through tail calls.
// It does not follow indirect calls. It returns true for a function that reaches too many others.
func (t *Finder[M]) CallsItself(at Place[M]) bool {
	t.remember()
	start := t.entry(at)
	found, ok := t.cycles[start]
	if ok || !start.known() {
		return found
	}
	seen := make(map[Place[M]]bool)
	for queue := []Place[M]{start}; len(queue) > 0 && !found; queue = queue[1:] {
		for _, call := range t.list(queue[0]).calls {
			target := t.target(&call)
			if target.known() && !seen[target] {
				seen[target] = true
				queue = append(queue, target)
			}
		}
		found = seen[start] || len(seen) > maxReached
	}
	t.cycles[start] = found
	return found
}

// Forget drops all results.
func (t *Finder[M]) Forget() { t.paths = nil }

// remember makes the maps of results, unless there are some.
func (t *Finder[M]) remember() {
	if t.paths == nil {
		t.paths, t.entries = make(map[[2]Place[M]][]Call[M]), make(map[Place[M]]Place[M])
		t.names, t.lists = make(map[name[M]]Place[M]), make(map[Place[M]]list[M])
		t.cycles = make(map[Place[M]]bool)
	}
}

// entry returns the entry point of the function at a place.
func (t *Finder[M]) entry(p Place[M]) Place[M] {
	e, ok := t.entries[p]
	if !ok {
		if f := t.File(p.Module); f != nil {
			if list, _ := f.FunctionsAt(p.Address); len(list) > 0 {
				e = Place[M]{p.Module, list[len(list)-1].Entry}
			}
		}
		t.entries[p] = e
	}
	return e
}

// target returns the entry point of the called function.
func (t *Finder[M]) target(call *Call[M]) Place[M] {
	switch {
	case call.Entry != 0:
		return Place[M]{call.Module, call.Entry}
	case call.Name == "":
		return Place[M]{}
	}
	key := name[M]{call.Module, call.Name}
	p, ok := t.names[key]
	if !ok {
		p = t.Definition(call.Module, call.Name)
		t.names[key] = p
	}
	return p
}

// list returns the tail calls of the function that starts at a place.
func (t *Finder[M]) list(p Place[M]) list[M] {
	l, ok := t.lists[p]
	if !ok {
		if f := t.File(p.Module); f != nil {
			var sites []object.CallSite
			sites, l.ok, _ = f.TailCalls(p.Address)
			for _, site := range sites {
				l.calls = append(l.calls, Call[M]{p.Module, site})
			}
		}
		t.lists[p] = l
	}
	return l
}

// search returns the tail calls that all paths from a call to a function share at their
// ends. It returns nil if a path is unknown, because an indirect call can lead anywhere.
func (t *Finder[M]) search(first *Call[M], to Place[M]) []Call[M] {
	s := search[M]{Finder: t, to: to, steps: maxSteps, within: make(map[Place[M]]bool)}
	if !s.follow(first) || !s.found {
		return nil
	}
	after := s.first[s.head:]
	return append(s.first[:s.head:s.head], after[len(after)-min(s.tail, len(after)):]...)
}

// search searches for the paths from a call to a function.
type search[M comparable] struct {
	*Finder[M]
	to     Place[M]
	steps  int
	path   []Call[M]
	within map[Place[M]]bool // the calls of path

	found      bool
	first      []Call[M] // the first path that was found
	head, tail int       // how many calls at its ends all paths share
}

// follow searches for paths that continue with a call. It returns false if a path is unknown.
func (s *search[M]) follow(call *Call[M]) bool {
	target := s.target(call)
	if s.steps--; s.steps < 0 || !target.known() {
		return false
	}
	if target == s.to {
		return s.arrive()
	}
	list := s.list(target)
	if !list.ok || len(s.path) == maxCalls {
		return false
	}
	for i := range list.calls {
		next := &list.calls[i]
		if next.At && s.NeedReturn {
			return false
		}
		place := Place[M]{next.Module, next.PC}
		if s.within[place] {
			s.steps-- // a list can have the same call many times
			continue  // a cycle adds nothing to the shared ends
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
func (s *search[M]) arrive() bool {
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
