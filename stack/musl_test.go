// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package stack_test

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/unwind"
)

// musl has no call frame information and no frame pointers, so its functions are unwound by
// their code. gdb, which uses the word at the stack pointer, shows two frames of each.
func TestMusl(t *testing.T) {
	program := testprogram.BuildWith(t, "musl-gcc", "blocked.c", "-O2", "-g", "-static")
	p := testprogram.Start(t, program)
	p.Settle(t)
	// The last functions of each stack, innermost first.
	want := map[string]bool{
		"pthread_timedjoin_np main libc_start_main_stage2 _start": false,
		"read reads start __clone":                                false,
		"sem_timedwait waits start __clone":                       false,
		"sleep sleeps start __clone":                              false,
		"pause pauses start __clone":                              false,
	}
	stacks := stacktest.Stacks(t, stacktest.Take(t, p.PID))
	gdbs := gdbStacks(t, p.PID)
	for i := range stacks {
		s := &stacks[i]
		var names []string
		for k := range s.Frames {
			f := &s.Frames[k]
			names = append(names, trace.FunctionName(f))
			if f.Gap || k == 1 && f.Method != unwind.FromReturnAddress {
				t.Errorf("thread %d: frame %d: %+v", s.Thread.ID, k, f)
			}
		}
		if g := gdbs[s.Thread.ID].Frames; len(g) < 2 || g[0].PC != s.Frames[0].PC || g[1].PC != s.Frames[1].PC {
			t.Errorf("thread %d: gdb has %+v", s.Thread.ID, g)
		}
		last := strings.Join(names[max(len(names)-4, 0):], " ")
		if met, ok := want[last]; met || !ok || s.Reason != unwind.EndOfStack {
			t.Errorf("thread %d: %q (%v: %v)", s.Thread.ID, names, s.Reason, s.Err)
		}
		want[last] = true
	}
	if len(stacks) != len(want) {
		t.Errorf("%d threads", len(stacks))
	}
}

// The shared library has only the symbols of its interface, and each thread still has more
// than one frame.
func TestMuslShared(t *testing.T) {
	program := testprogram.BuildWith(t, "musl-gcc", "blocked.c", "-O2")
	p := testprogram.Start(t, program)
	p.Settle(t)
	stacks := stacktest.Stacks(t, stacktest.Take(t, p.PID))
	gdbs := gdbStacks(t, p.PID)
	if len(stacks) != 5 {
		t.Errorf("%d threads", len(stacks))
	}
	for i := range stacks {
		s := &stacks[i]
		g := gdbs[s.Thread.ID].Frames
		if len(s.Frames) < 2 || len(g) < 2 || g[1].PC != s.Frames[1].PC {
			t.Errorf("thread %d: %+v, gdb %+v", s.Thread.ID, s.Frames, g)
		}
	}
}
