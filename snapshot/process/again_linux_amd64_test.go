// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package process

import (
	"slices"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/stack"
)

// A Watch takes a second snapshot of a thread whose walk leads to another stack, and copies that
// stack at once from then on.
func TestWatchAgain(t *testing.T) {
	t.Setenv("GODEBUG", "asyncpreemptoff=1") // a signal would be handled on a third stack
	p := testprogram.Start(t, testprogram.BuildModule(t, "../../../jit/gdb/testdata/engine"), "wait")
	w := newWatch(t, p.PID, &Options{Timeout: time.Minute})
	var stops [3]int
	for i := range stops {
		if err := w.Sample(w.sampler); err != nil {
			t.Fatal(err)
		}
		stops[i] = w.Pauses().Threads
	}
	if stops[0] != stops[1]+1 || stops[1] != stops[2] {
		t.Errorf("%d threads were stopped, expected one more at first only", stops)
	}
	if _, _, err := w.Snapshot(); err != nil {
		t.Fatal(err)
	}
	w.objects.Walk(stack.WalkOptions{LatePages: func(pages []uint64) { t.Errorf("the pages %#x were read late", pages) }})
	counts := w.functions(t)
	for i, s := range w.sampler.Stacks {
		if s.Thread.ID != p.PID {
			continue
		}
		var names []string
		for k := range s.Frames {
			names = append(names, s.Frames[k].Symbol.Name)
		}
		for _, name := range []string{"callHost", "middle", "outer", "enter", "main.main"} {
			if !slices.Contains(names, name) {
				t.Errorf("%d samples have no %s: %q", w.sampler.Counts[i], name, names)
			}
		}
	}
	if n := counts["main.host.abi0"] + counts["main.host"]; n != len(stops) {
		t.Errorf("%d samples in the host, expected %d: %v", n, len(stops), counts)
	}
}
