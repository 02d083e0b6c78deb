// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"slices"

	"github.com/clewdev/clew/internal/tailcall"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

type tailPlace = tailcall.Place[*Object]

// newTailCalls returns a finder of tail calls in the objects.
func (o *Objects) newTailCalls() *tailcall.Finder[*Object] {
	symbols := make(map[string]tailPlace) // of any object
	define := func(object *Object, name string) tailPlace {
		if f := fileForLines(object); f != nil {
			// A call by name cannot reach a hidden symbol.
			if s, ok := f.Symbol(name); ok && !s.Hidden {
				return tailPlace{Module: object, Address: s.Address}
			}
		}
		return tailPlace{}
	}
	return &tailcall.Finder[*Object]{File: fileForLines, Definition: func(object *Object, name string) tailPlace {
		// A definition in the same object has priority.
		if p := define(object, name); p.Module != nil {
			return p
		}
		p, ok := symbols[name]
		if !ok {
			for _, other := range o.CodeObjects() {
				if p = define(other, name); p.Module != nil {
					break
				}
			}
			symbols[name] = p
		}
		return p
	}}
}

// fileForLines returns the file of an object with its separate debug file opened, nil if
// there is no file. Name reports the errors.
func fileForLines(o *Object) *object.File {
	if o == nil || o.code != nil {
		return nil
	}
	f, _ := o.File()
	if f != nil {
		_ = o.searchDebugFile(f)
	}
	return f
}

// insertTailCalls returns the frames of a stack with those of tail calls inserted.
func insertTailCalls(t *tailcall.Finder[*Object], frames []Frame) []Frame {
	var out []Frame
	from, added := 0, 0
	for i := 1; i < len(frames) && added < tailcall.MaxFrames; i++ {
		callee, caller := &frames[i-1], &frames[i]
		// Any other method can have missed a frame between the two.
		if caller.Method != unwind.FromCFI || caller.Interrupted || caller.TailCall || callee.TailCall || callee.Trampoline {
			continue
		}
		between := t.Between(
			tailPlace{Module: caller.Object, Address: caller.Address + caller.PC - caller.LookupPC},
			tailPlace{Module: callee.Object, Address: callee.Address})
		if len(between) == 0 {
			continue
		}
		if out == nil {
			out = make([]Frame, 0, len(frames)+len(between))
		}
		out = append(out, frames[from:i]...)
		from = i
		for _, call := range slices.Backward(between) {
			f := Frame{Method: unwind.FromCFI, TailCall: true, Late: caller.Late, Code: Code{Object: call.Module, Address: call.Lookup()}}
			f.PC, f.LookupPC = call.PC+call.Module.Bias, f.Address+call.Module.Bias
			out = append(out, f)
			added++
		}
	}
	if out == nil {
		return frames
	}
	return append(out, frames[from:]...)
}
