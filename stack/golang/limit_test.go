// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"errors"
	"testing"

	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// The numbers of kept frames and groups are bounded for any number of goroutines and any
// depth. Goroutines without frames are grouped too, with an error.
func TestGoroutineLimits(t *testing.T) {
	const goroutines, depth, frameLimit = 1000, 10, 95
	for _, opts := range []Options{{}, {Group: 1, Share: true}, {Group: 1, Registers: true}} {
		r := &goroutineReader{opts: opts, keeps: frameLimit, shared: stack.NewIndex(), groups: stack.NewIndex()}
		for i := range uint64(goroutines) {
			r.frames = r.frames[:0]
			for k := range uint64(depth) {
				r.frames = append(r.frames, stack.Frame{PC: i<<8 | k})
			}
			g := Goroutine{Stack: stack.Stack{Reason: unwind.EndOfStack}}
			g.ID = goroutines - i
			r.join(&g)
		}
		r.distribute()
		frames, cut, all := 0, 0, 0
		for i := range r.list {
			g := &r.list[i]
			frames += len(g.Stack.Frames)
			all += 1 + len(g.Others)
			if len(g.Stack.Frames) == 0 {
				cut += 1 + len(g.Others)
				if g.Stack.Reason != unwind.TooManyFrames || !errors.Is(g.Stack.Err, errTooManyFrames) {
					t.Errorf("%+v: goroutine %d without frames: %v, %v", opts, g.ID, g.Stack.Reason, g.Stack.Err)
				}
			}
			for k := range g.Others {
				if below := g.ID; k > 0 && g.Others[k-1].ID >= g.Others[k].ID || below >= g.Others[k].ID {
					t.Fatalf("%+v: goroutine %d is out of order in the group of %d", opts, g.Others[k].ID, g.ID)
				}
			}
		}
		if frames != frameLimit/depth*depth || all != goroutines || cut != goroutines-frameLimit/depth {
			t.Errorf("%+v: %d goroutines, of which %d are cut, and %d frames", opts, all, cut, frames)
		}
		if want := frameLimit/depth + 1; opts.Group > 0 && len(r.list) != want {
			t.Errorf("%+v: %d groups, want %d", opts, len(r.list), want)
		}
	}

	// The maximum number of groups: other goroutines are counted, and members of a group still
	// join it.
	r := &goroutineReader{opts: Options{Group: 1}, keeps: 1 << 20, shared: stack.NewIndex(), groups: stack.NewIndex()}
	const more = 5
	for i := range uint64(maxGroups + more) {
		r.join(&Goroutine{Created: &stack.Frame{PC: i}})
	}
	r.join(&Goroutine{Created: &stack.Frame{PC: 7}})
	if r.distribute(); len(r.list) != maxGroups || r.ungrouped != more || len(r.list[7].Others) != 1 {
		t.Errorf("%d groups, %d goroutines in none, %d others in the group 7", len(r.list), r.ungrouped, len(r.list[7].Others))
	}
}
