// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package variable

import (
	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/value"
)

// Ahead returns what reads of the debugging information, once for each address, what
// tells of the arguments of the frames of some stacks, before or while they are named: for
// [target.NameOptions.Meanwhile]. Others may use the reader at the same time, and have what
// was read by then.
func (r *Reader) Ahead(stacks []target.Stack) func(ended func() bool) {
	known := make(map[uint64]struct{})
	var firsts []first
	for i := range stacks {
		f := first{stack: target.Stack{Thread: stacks[i].Thread, Frames: stacks[i].Frames}}
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
		for i := range firsts {
			r.readArguments(&firsts[i], &left, ended)
		}
	}
}

// Bounds of how many arguments are read ahead, of one frame and of all: the debugging
// information says how many there are.
const (
	maxFrameAhead = 32
	maxAhead      = 1 << 12
)

// first is a stack with frames at addresses that none before has.
type first struct {
	stack  target.Stack
	frames []int
}

// readArguments reads what tells of the arguments of frames as the values are read, of
// which nothing is kept.
func (r *Reader) readArguments(f *first, left *int, ended func() bool) {
	var printer value.Printer
	var text []byte
	frames := r.Frames(&f.stack, nil)
	for _, k := range f.frames {
		frame := &frames[k]
		read := 0
		for _, scope := range frame.place.scopes() {
			for _, v := range scope.Arguments[:min(len(scope.Arguments), maxFrameAhead-read)] {
				if *left == 0 || ended() {
					return
				}
				text = printer.AppendArgument(text[:0], v, frame)
				*left--
				read++
			}
		}
	}
}
