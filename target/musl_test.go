// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package target_test

import (
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report"
	"github.com/clewdev/clew/unwind"
)

// musl has no call frame information, and no frame pointers. Its threads wait in a
// function that leaves the stack alone: the caller of that is known, as for gdb, and
// no frame says that it is another's.
func TestMusl(t *testing.T) {
	program := testprogram.BuildWith(t, "musl-gcc", "blocked.c", "-O2", "-g", "-static")
	p := testprogram.Start(t, program)
	p.Settle(t)
	want := []string{"__clock_nanosleep", "__timedwait_cp", "pause", "read"}
	snapshot := take(t, p.PID)
	stacks := stacksOf(t, snapshot)
	theirs := gdbStacks(t, p.PID)
	var callers []string
	for i := range stacks {
		s := &stacks[i]
		if len(s.Frames) < 2 || s.Frames[1].Method != unwind.FromReturnAddress || s.Frames[1].Gap {
			t.Errorf("thread %d: %+v", s.Thread.ID, s.Frames)
			continue
		}
		if g := theirs[s.Thread.ID].Frames; len(g) < 2 || g[0].PC != s.Frames[0].PC || g[1].PC != s.Frames[1].PC {
			t.Errorf("thread %d: gdb has %+v", s.Thread.ID, g)
		}
		if s.Thread.ID != p.PID {
			callers = append(callers, report.FunctionName(&s.Frames[1]))
		}
		if s.Reason == unwind.EndOfStack {
			t.Errorf("thread %d: whole with %d frames", s.Thread.ID, len(s.Frames))
		}
	}
	if slices.Sort(callers); !slices.Equal(callers, want) {
		t.Errorf("callers %q, expected %q", callers, want)
	}
}

// The shared library has no symbols but those of its interface, and each thread more
// than one frame all the same.
func TestMuslShared(t *testing.T) {
	program := testprogram.BuildWith(t, "musl-gcc", "blocked.c", "-O2")
	p := testprogram.Start(t, program)
	p.Settle(t)
	stacks := stacksOf(t, take(t, p.PID))
	theirs := gdbStacks(t, p.PID)
	if len(stacks) != 5 {
		t.Errorf("%d threads", len(stacks))
	}
	for i := range stacks {
		s := &stacks[i]
		g := theirs[s.Thread.ID].Frames
		if len(s.Frames) < 2 || len(g) < 2 || g[1].PC != s.Frames[1].PC {
			t.Errorf("thread %d: %+v, gdb %+v", s.Thread.ID, s.Frames, g)
		}
	}
}
