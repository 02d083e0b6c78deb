// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package stack_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// jitProgram builds package gdb's test program, which publishes generated code.
func jitProgram(t *testing.T, cgo bool, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jit")
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", path}, flags...), "../jit/gdb/testdata/jit")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if cgo {
		testprogram.RequireTool(t, "gcc")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return path
}

// awaitInner waits until the innermost generated function waits. The process never comes to
// rest: Go's runtime polls while code runs that it cannot preempt.
func awaitInner(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		stacks := stacktest.Stacks(t, stacktest.Take(t, pid))
		if slices.ContainsFunc(stacks, func(s stack.Stack) bool {
			if len(s.Frames) == 0 || trace.FunctionName(&s.Frames[0]) != "jit_inner" {
				return false
			}
			l := s.Frames[0].Location()
			return l != nil && l.Line == 23
		}) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no thread of %d waits in jit_inner", pid)
		}
	}
}

// Stacks through generated code that a Go program published equal gdb's in all builds in which
// gdb finds the code, and are complete in the others.
func TestGeneratedCode(t *testing.T) {
	// Signals that preempt goroutines would change the stack.
	t.Setenv("GODEBUG", "asyncpreemptoff=1")
	type build struct {
		name  string
		cgo   bool
		flags []string
		want  generated.Kind
	}
	builds := []build{
		{"plain", false, nil, generated.GDBList},
		{"pie", false, []string{"-buildmode=pie"}, generated.GDBList},
		{"cgo", true, nil, generated.GDBList},
		{"stripped", false, []string{"-ldflags=-s -w"}, generated.GDBListSearched},
		{"stripped pie", false, []string{"-buildmode=pie", "-ldflags=-s -w"}, generated.GDBListSearched},
	}
	if runtime.GOARCH == "amd64" { // on an emulated machine, -run chooses
		builds = sample.Covering(t, builds, 2, func(b build) []string { return []string{fmt.Sprint(b.want)} })
	}
	// gcore writes 1.5 GB of a Go process, most of them reserved addresses.
	dumped := sample.Of(t, builds, 1)
	for _, test := range builds {
		t.Run(test.name, func(t *testing.T) {
			p := testprogram.Start(t, jitProgram(t, test.cgo, test.flags...), "many=50", "publish", "many=200", "wait")
			awaitInner(t, p.PID)
			proceed := testprogram.Halt(t, p.PID)
			s := stacktest.Take(t, p.PID)
			walked, _ := stacktest.Through(t, stacktest.Stacks(t, s), "jit_inner")
			want := []struct {
				name string
				line int
			}{{"jit_inner", 23}, {"jit_middle", 13}, {"jit_outer", 2}, {"main.call", 0}, {"main.(*state).call", 0}, {"main.(*state).step", 0}, {"main.main", 0}}
			for i, w := range want {
				f := &walked.Frames[i]
				if name := trace.FunctionName(f); name != w.name {
					t.Fatalf("frame %d is %s, expected %s", i, name, w.name)
				}
				if w.line == 0 {
					continue
				}
				l := f.Location()
				if l == nil || l.File != "/src/labyrinth.jit" || l.Line != w.line || f.Object.Name != stack.GeneratedName || f.Object.Generated != test.want {
					t.Errorf("frame %d: %+v in %+v", i, l, f.Object)
				}
				if i > 0 && f.Method != unwind.FromCFI {
					t.Errorf("frame %d was found by %v", i, f.Method)
				}
			}
			if walked.Reason != unwind.EndOfStack {
				t.Errorf("%v: %v", walked.Reason, walked.Err)
			}
			if test.want == generated.GDBList {
				compare(t, walked, column(s.Machine), gdbStacks(t, p.PID)[walked.Thread.ID])
			}
			objects := stack.NewObjects(s)
			defer objects.Close()
			sources, err := objects.GeneratedCode()
			if err != nil || len(sources) != 1 || sources[0].Kind != test.want {
				t.Fatalf("%d sources: %v", len(sources), err)
			}
			if slices.ContainsFunc(dumped, func(b build) bool { return b.name == test.name }) {
				sameInCore(t, testprogram.GCore(t, p.PID), walked, sources)
			}
			proceed()
		})
	}
}

// sameInCore fails unless a core of a halted process has the same stack and the same generated
// code as the process.
func sameInCore(t *testing.T, path string, live *stack.Stack, sources []*generated.Source) {
	t.Helper()
	c := stacktest.OpenCore(t, path, nil)
	s := c.Snapshot()
	stacks := stacktest.Stacks(t, s)
	if missing := c.Missing(); missing != nil {
		t.Errorf("missing: %v", missing)
	}
	at := slices.IndexFunc(stacks, func(s stack.Stack) bool { return s.Thread.ID == live.Thread.ID })
	if at < 0 {
		t.Fatalf("the core has no thread %d", live.Thread.ID)
	}
	walked := &stacks[at]
	if walked.Reason != live.Reason || len(walked.Frames) != len(live.Frames) {
		t.Fatalf("the core has %d frames (%v: %v), the process %d", len(walked.Frames), walked.Reason, walked.Err, len(live.Frames))
	}
	for i := range walked.Frames {
		f, l := &walked.Frames[i], &live.Frames[i]
		if f.PC != l.PC || f.SP != l.SP || f.Method != l.Method || trace.FunctionName(f) != trace.FunctionName(l) {
			t.Errorf("frame %d: %#x %s by %v, live %#x %s by %v", i, f.PC, trace.FunctionName(f), f.Method, l.PC, trace.FunctionName(l), l.Method)
		}
		if (f.Object == nil) != (l.Object == nil) || f.Object != nil && f.Object.Generated != l.Object.Generated {
			t.Errorf("frame %d is in %+v, live in %+v", i, f.Object, l.Object)
		}
		if place, want := f.Location(), l.Location(); (place == nil) != (want == nil) || place != nil && *place != *want {
			t.Errorf("frame %d is at %+v, live at %+v", i, place, want)
		}
	}
	objects := stack.NewObjects(s)
	defer objects.Close()
	dumped, err := objects.GeneratedCode()
	if err != nil || len(dumped) != len(sources) {
		t.Fatalf("the core has %d sources, the process %d: %v", len(dumped), len(sources), err)
	}
	for i, d := range dumped {
		l := sources[i]
		if d.Kind != l.Kind || d.Place != l.Place || d.Entries != l.Entries || d.Err != nil {
			t.Errorf("source %d is the %v, %s, of %d entries (%v), live the %v, %s, of %d", i, d.Kind, d.Place, d.Entries, d.Err, l.Kind, l.Place, l.Entries)
		}
		if got, want := functionsOf(d), functionsOf(l); len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("source %d has %d functions, live %d, or others", i, len(got), len(want))
		}
	}
}

// functionsOf returns the names and places of a source's functions.
func functionsOf(s *generated.Source) (all []string) {
	for f := range s.Functions() {
		all = append(all, fmt.Sprintf("%s %#x+%#x unwinds %t", f.Name, f.Start, f.Size, f.Unwinds()))
	}
	return all
}

// Withdrawn code has no name.
func TestGeneratedCodeWithdrawn(t *testing.T) {
	t.Setenv("GODEBUG", "asyncpreemptoff=1")
	p := testprogram.Start(t, jitProgram(t, false), "publish", "many=50", "withdraw=1", "wait")
	awaitInner(t, p.PID)
	stack, at := stacktest.Through(t, stacktest.Stacks(t, stacktest.Take(t, p.PID)), "jit_inner")
	if at != 0 || len(stack.Frames) < 2 || stack.Frames[1].Object != nil || trace.FunctionName(&stack.Frames[1]) != "??" {
		t.Errorf("frames %+v", stack.Frames)
	}
}

// Stacks through code that LLVM generated, with a description of its own, equal gdb's.
func TestGeneratedByLLVM(t *testing.T) {
	lli, clang := testprogram.RequireTool(t, "lli"), testprogram.RequireTool(t, "clang")
	code := filepath.Join(t.TempDir(), "chain.bc")
	cmd := exec.Command(clang, "-O1", "-g", "-emit-llvm", "-c", "-o", code, testprogram.Path("programs/generated.c"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	for _, kind := range []string{"mcjit", "orc"} {
		t.Run(kind, func(t *testing.T) {
			p := testprogram.Start(t, lli, "--jit-kind="+kind, code)
			p.Settle(t)
			proceed := testprogram.Halt(t, p.PID)
			s := stacktest.Take(t, p.PID)
			walked, at := stacktest.Through(t, stacktest.Stacks(t, s), "deep")
			for _, f := range walked.Frames[at : at+5] {
				if l := f.Location(); trace.FunctionName(&f) != "deep" || l == nil || filepath.Base(l.File) != "generated.c" || f.Object.Generated != generated.GDBList {
					t.Errorf("%s at %+v in %+v", trace.FunctionName(&f), l, f.Object)
				}
			}
			compare(t, walked, column(s.Machine), gdbStacks(t, p.PID)[walked.Thread.ID])
			proceed()
		})
	}
}
