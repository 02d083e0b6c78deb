// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package stack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/check/coderules"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// musl has no call frame information and no frame pointers, so its functions are unwound by
// their code: with an analyzer, or by package unwind alone. gdb, which uses the word at the
// stack pointer, shows two frames of each.
func TestMusl(t *testing.T) {
	program := testprogram.BuildWith(t, "musl-gcc", "blocked.c", "-O2", "-g", "-static")
	p := testprogram.Start(t, program)
	p.Settle(t)
	gdbs := gdbStacks(t, p.PID)
	t.Run("unwind", func(t *testing.T) {
		checkMusl(t, stacktest.Stacks(t, stacktest.Take(t, p.PID)), gdbs, unwind.FromReturnAddress)
	})
	t.Run("analyzer", func(t *testing.T) {
		stacks := stacktest.Analysed(t, stacktest.Take(t, p.PID), new(coderules.Analyzer))
		checkMusl(t, stacks, gdbs, unwind.FromCode)
		for i := range stacks {
			for k, f := range stacks[i].Frames[1:] {
				callee := trace.FunctionName(&stacks[i].Frames[k])
				// The program's own functions have call frame information.
				own := slices.Contains([]string{"main", "reads", "waits", "sleeps", "pauses"}, callee)
				if own != (f.Method == unwind.FromCFI) || !own != (f.Method == unwind.FromCode) {
					t.Errorf("the caller of %s was found by %v", callee, f.Method)
				}
			}
		}
	})
}

// checkMusl checks the stacks of blocked.c. The callers of the innermost functions were found by a
// method.
func checkMusl(t *testing.T, stacks []stack.Stack, gdbs map[int]gdbStack, method unwind.Method) {
	t.Helper()
	// The last functions of each stack, innermost first.
	want := map[string]bool{
		"pthread_timedjoin_np main libc_start_main_stage2 _start": false,
		"read reads start __clone":                                false,
		"sem_timedwait waits start __clone":                       false,
		"sleep sleeps start __clone":                              false,
		"pause pauses start __clone":                              false,
	}
	for i := range stacks {
		s := &stacks[i]
		var names []string
		for k := range s.Frames {
			f := &s.Frames[k]
			names = append(names, trace.FunctionName(f))
			if f.Gap || k == 1 && f.Method != method {
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
