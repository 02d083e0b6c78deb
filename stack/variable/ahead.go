// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package variable

import (
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/value/print"
)

// Ahead returns a function for [stack.NameOptions.Meanwhile]. It reads the debugging
// information about the arguments of the frames of some stacks, once for each address,
// while the frames are named. Other goroutines may use the reader at the same time.
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

// Bounds for hostile debugging information.
const (
	maxFrameAhead = 32      // arguments of one frame
	maxAhead      = 1 << 12 // frames and arguments in total
)

// first is a stack with the indexes of frames whose addresses no earlier stack has.
type first struct {
	stack  stack.Stack
	frames []int
}

// readArguments reads the debugging information about arguments by printing their values,
// which it drops.
func (r *Reader) readArguments(f *first, left *int, ended func() bool) {
	var printer print.Printer
	var text []byte
	frames := r.Frames(&f.stack, nil)
	for _, k := range f.frames {
		if *left <= 0 || ended() {
			return
		}
		frame, quota := &frames[k], maxFrameAhead
		for _, scope := range frame.place.scopes() {
			arguments := scope.Arguments[:min(len(scope.Arguments), quota)]
			for _, v := range arguments {
				text = printer.AppendArgument(text[:0], v, frame)
			}
			quota -= len(arguments)
		}
		*left -= 1 + maxFrameAhead - quota
	}
}
