// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// running are programs that never rest, so that snapshots find them at any instruction: in
// prologues, epilogues, stubs and the vDSO.
var running = []struct {
	name   string
	source string
	flags  []string
	// seen reports whether a frame is one that the program is meant to show.
	seen func(*stack.Frame) bool
}{
	{"nested functions", "nested64.c", []string{"-O2", "-fomit-frame-pointer", "-DHOT"}, func(f *stack.Frame) bool {
		// At the first instruction of a function, the stack has no frame of it yet.
		offset, ok := f.Offset()
		return ok && f.Interrupted && offset < 8
	}},
	{"stubs of the PLT", "plt.c", []string{"-O2", "-g", "-fno-builtin", "-fplt", "-Wl,-z,lazy"}, func(f *stack.Frame) bool {
		return strings.HasSuffix(f.Symbol.Name, "@plt")
	}},
	{"stubs of .plt.sec", "plt.c", []string{"-O2", "-g", "-fno-builtin", "-fcf-protection=full", "-Wl,-z,now"}, func(f *stack.Frame) bool {
		return strings.HasSuffix(f.Symbol.Name, "@plt")
	}},
	{"the vDSO", "vdso.c", []string{"-O2", "-g"}, func(f *stack.Frame) bool {
		return f.Object != nil && f.Object.Name == "[vdso]"
	}},
}

const most = 5000 // snapshots, until what the program is there for was seen

// Wherever a program is interrupted, the walk reaches the outermost function by call frame
// information alone.
func TestWalksOfRunningPrograms(t *testing.T) {
	enough := 100
	if sample.Full() {
		enough = 250
	}
	for _, p := range running {
		t.Run(p.name, func(t *testing.T) {
			program := testprogram.Start(t, testprogram.Build(t, p.source, p.flags...))
			seen, n, inner := 0, 0, make(map[uint64]bool)
			for ; n < enough || seen == 0 && n < most; n++ {
				s := stacktest.Take(t, program.PID)
				objects := stack.NewObjects(s)
				stacks := objects.Walk(stack.WalkOptions{})
				if err := objects.Name(stacks, stack.NameOptions{}); err != nil {
					t.Fatal(err)
				}
				for i := range stacks {
					checkWalk(t, s, &stacks[i])
					inner[stacks[i].Frames[0].PC] = true
					for k := range stacks[i].Frames {
						if p.seen(&stacks[i].Frames[k]) {
							seen++
						}
					}
				}
				objects.Close()
				if t.Failed() {
					return
				}
			}
			if seen == 0 {
				t.Errorf("none of %d snapshots caught the program where it should be", n)
			}
			t.Logf("%d snapshots, %d as wanted, %d addresses", n, seen, len(inner))
		})
	}
}

// checkWalk fails unless a stack leads to its thread's first function.
func checkWalk(t *testing.T, s *snapshot.Snapshot, walked *stack.Stack) {
	t.Helper()
	if len(walked.Frames) == 0 {
		t.Errorf("thread %d has no frames: %v", walked.Thread.ID, walked.Err)
		return
	}
	first := "_start"
	if walked.Thread.ID != s.PID {
		first = "clone3"
	}
	last := &walked.Frames[len(walked.Frames)-1]
	differs := walked.Reason != unwind.EndOfStack || strings.TrimLeft(last.Symbol.Name, "_") != strings.TrimLeft(first, "_")
	for i := range walked.Frames {
		f := &walked.Frames[i]
		differs = differs || i > 0 && f.Method != unwind.FromCFI || f.Late
	}
	if !differs {
		return
	}
	t.Errorf("thread %d at %#x: %v: %v, outermost %s, expected %s", walked.Thread.ID,
		walked.Frames[0].PC, walked.Reason, walked.Err, last.Symbol.Name, first)
	t.Logf("copied: %d bytes at %#x", len(walked.Thread.Stack), walked.Thread.StackAddress)
	for i := range walked.Frames {
		f := &walked.Frames[i]
		t.Logf("%3d %#x sp %#x %s [%v] late %t", i, f.PC, f.SP, f.Symbol.Name, f.Method, f.Late)
	}
}

// The stacks of such a program equal gdb's.
func TestRunningProgramsEqualGDB(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	for _, p := range running {
		t.Run(p.name, func(t *testing.T) {
			program := testprogram.Start(t, testprogram.Build(t, p.source, p.flags...))
			times := 1
			if sample.Full() {
				times = 3
			}
			for range times {
				proceed := testprogram.Halt(t, program.PID)
				sameAsGDB(t, program.PID)
				proceed()
			}
		})
	}
}

// A stack of any depth is walked to its end. Memory beyond the copied part is read from the
// running process, and the frames are marked.
func TestDeepRecursion(t *testing.T) {
	program := testprogram.Start(t, testprogram.Build(t, "deep.c", "-O2", "-g"), "100000")
	program.Settle(t)
	s := stacktest.Take(t, program.PID)
	objects := stack.NewObjects(s)
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{})
	if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
		t.Error(err)
	}
	deep := &stacks[1]
	if deep.Reason != unwind.EndOfStack || len(deep.Frames) < 100_004 {
		t.Fatalf("%d frames, %v: %v", len(deep.Frames), deep.Reason, deep.Err)
	}
	copied := deep.Thread.StackAddress + uint64(len(deep.Thread.Stack))
	for i := range deep.Frames {
		f := &deep.Frames[i]
		// The return address of the previous frame is just below SP.
		if i > 0 && f.Late != (f.SP > copied) {
			t.Fatalf("frame %d at stack pointer %#x: late %t, the copy ends at %#x", i, f.SP, f.Late, copied)
		}
		if i > 1 && i < 99_000 && f.Symbol.Name != "recurse" {
			t.Fatalf("frame %d is %s", i, f.Symbol.Name)
		}
	}

	// A walk can be cut.
	short := objects.Walk(stack.WalkOptions{MaxFrames: 50})
	if n := len(short[1].Frames); n != 50 || short[1].Reason != unwind.TooManyFrames {
		t.Errorf("cut at 50: %d frames, %v", n, short[1].Reason)
	}

	// A core can claim any number of threads with the same deep stack.
	s.Threads = slices.Repeat(s.Threads[1:2], 100)
	frames, threads := 0, objects.Walk(stack.WalkOptions{})
	for i := range threads {
		frames += len(threads[i].Frames)
	}
	last := &threads[99]
	if len(threads[0].Frames) != len(deep.Frames) || frames < 1<<20 || frames > 1<<20+100*64 || len(last.Frames) != 64 || last.Reason != unwind.TooManyFrames {
		t.Errorf("threads that share a stack: %d frames in all, %d and %d of the first and last, %v", frames, len(threads[0].Frames), len(last.Frames), last.Reason)
	}
}
