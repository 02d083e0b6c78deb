// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package variable

import (
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/value/print"
)

// Ahead returns what reads of the debugging information, once for each address, what
// tells of the arguments of the frames of some stacks, before or while they are named: for
// [stack.NameOptions.Meanwhile]. Others may use the reader at the same time, and have what
// was read by then.
func (r *Reader) Ahead(stacks []stack.Stack) func(ended func() bool) {
	known := make(map[uint64]struct{})
	var firsts []first
	for i := range stacks {
		f := first{stack: stack.Stack{Thread: stacks[i].Thread, Frames: stacks[i].Frames}}
		for k := range f.stack.Frames {
			address := f.stack.Frames[k].LookupPC
			if _, ok := known[address]; !ok {
				known[address] = struct{}{}
				f.frames = append(f.frames, k)
			}
		}
		if f.frames != nil {
			firsts = append(firsts, f)
		}
	}
	return func(ended func() bool) {
		left := maxAhead
		for i := 0; i < len(firsts) && !ended(); i++ {
			r.readArguments(&firsts[i], &left, ended)
		}
	}
}

// Bounds of how many arguments are read ahead of one frame, and of how many frames and
// arguments in all: the debugging information says how many there are.
const (
	maxFrameAhead = 32
	maxAhead      = 1 << 12
)

// first is a stack with frames at addresses that none before has.
type first struct {
	stack  stack.Stack
	frames []int
}

// readArguments reads what tells of the arguments of frames as the values are read, of
// which nothing is kept.
func (r *Reader) readArguments(f *first, left *int, ended func() bool) {
	var printer print.Printer
	var text []byte
	frames := r.Frames(&f.stack, nil)
	for _, k := range f.frames {
		if *left <= 0 || ended() {
			return
		}
		frame, room := &frames[k], maxFrameAhead
		for _, scope := range frame.place.scopes() {
			arguments := scope.Arguments[:min(len(scope.Arguments), room)]
			for _, v := range arguments {
				text = printer.AppendArgument(text[:0], v, frame)
			}
			room -= len(arguments)
		}
		*left -= 1 + maxFrameAhead - room
	}
}
