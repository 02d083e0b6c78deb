// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/target"
)

// shownStack is what is shown of a stack.
type shownStack struct {
	parts []stackPart
	calls [][]shownCall // of the frames of the parts; nil where variables are not shown
}

// shownAhead is how many stacks for each processor are read before they are written.
const shownAhead = 4

// shown returns what is shown of n stacks, in their order, where of tells which the
// stacks are and which others they stand for. Reading variables takes most of the time:
// all processors do it.
func (v *variables) shown(n int, all bool, of func(i int) (*target.Stack, []*target.Stack)) iter.Seq2[int, *shownStack] {
	workers := min(runtime.GOMAXPROCS(0), n)
	if v == nil || workers < 2 {
		return func(yield func(int, *shownStack) bool) {
			for i := range n {
				stack, others := of(i)
				if !yield(i, v.stack(stack, others, all)) {
					return
				}
			}
		}
	}
	return func(yield func(int, *shownStack) bool) {
		var group sync.WaitGroup
		defer group.Wait()
		// Stack i is handed over in slot i: none is taken before that is free again.
		slots := make([]chan *shownStack, shownAhead*workers)
		for i := range slots {
			slots[i] = make(chan *shownStack, 1)
		}
		room, stop := make(chan struct{}, len(slots)), make(chan struct{})
		defer close(stop)
		var next atomic.Int64
		for range workers {
			reader := *v
			reader.names = make(map[functionSymbol]string)
			group.Go(func() {
				for {
					select {
					case room <- struct{}{}:
					case <-stop:
						return
					}
					i := int(next.Add(1)) - 1
					if i >= n {
						return
					}
					stack, others := of(i)
					slots[i%len(slots)] <- reader.stack(stack, others, all)
				}
			})
		}
		for i := range n {
			shown := <-slots[i%len(slots)]
			<-room
			if !yield(i, shown) {
				return
			}
		}
	}
}

// stack returns what is shown of a stack, which stands for others too.
func (v *variables) stack(s *target.Stack, others []*target.Stack, all bool) *shownStack {
	shown := &shownStack{parts: stackParts(s.Frames, all)}
	if v == nil {
		return shown
	}
	for _, part := range shown.parts {
		for k := range part.frames {
			shown.calls = append(shown.calls, v.calls(s, part.start+k, others))
		}
	}
	return shown
}
