// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// A goroutine that is blocked in a system call, with call frame information and without, is
// walked by Go's own table.
func TestGoroutineInSystemCall(t *testing.T) {
	for _, flag := range []string{"", "-ldflags=-w", "-ldflags=-s -w"} {
		t.Run(flag, func(t *testing.T) {
			var flags []string
			if flag != "" {
				flags = append(flags, flag)
			}
			program := testprogram.Start(t, testprogram.Build(t, "goroutines", flags...))
			locked := regexp.MustCompile(`locked thread (\d+)`).FindStringSubmatch(program.Output())
			if locked == nil {
				t.Fatalf("the program said %q", program.Output())
			}
			tid, _ := strconv.Atoi(locked[1])
			// The goroutine prints its thread before the system call.
			var stacks []stack.Stack
			var s *stack.Stack
			var names []string
			for end := time.Now().Add(time.Minute); !slices.Contains(names, "main.inner") && time.Now().Before(end); {
				stacks = stacktest.Stacks(t, stacktest.Take(t, program.PID))
				i := slices.IndexFunc(stacks, func(s stack.Stack) bool { return s.Thread.ID == tid })
				if i < 0 {
					t.Fatalf("no thread %d", tid)
				}
				s, names = &stacks[i], nil
				for k := range s.Frames {
					names = append(names, trace.FunctionName(&s.Frames[k]))
				}
			}
			for k := range s.Frames {
				if f := &s.Frames[k]; k > 0 && f.Method != unwind.FromCFI {
					t.Errorf("frame %d was found by %v", k, f.Method)
				}
			}
			want := []string{"main.inner", "main.middle", "main.outer", "main.main.func2", "runtime.goexit"}
			if !slices.Equal(names[max(0, len(names)-len(want)):], want) || s.Reason != unwind.EndOfStack {
				t.Errorf("functions %v, expected %v at the end; %v: %v", names, want, s.Reason, s.Err)
			}
			if notes := trace.Notes(stacks); len(notes) > 0 {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// The copies of threads' stacks that lie in Go's heap are no larger than the stacks.
func TestStacksInGoHeap(t *testing.T) {
	program := testprogram.Start(t, testprogram.Build(t, "states"))
	program.Settle(t)
	s, inHeap := stacktest.Take(t, program.PID), 0
	for i := range s.Threads {
		th := &s.Threads[i]
		if m := s.Mapping(th.StackAddress); m == nil || m.Path == "[stack]" {
			continue
		}
		inHeap++
		// The largest one is for signal handlers, plus the red zone.
		if n := len(th.Stack); n == 0 || n > 32<<10+128 {
			t.Errorf("thread %d: %d bytes of stack", th.ID, n)
		}
	}
	if inHeap < 3 {
		t.Errorf("the stacks of %d threads are in the heap", inHeap)
	}
	for _, walked := range stacktest.Stacks(t, s) {
		if walked.Reason != unwind.EndOfStack || slices.ContainsFunc(walked.Frames, func(f stack.Frame) bool { return f.Late }) {
			t.Errorf("thread %d: %v, %v, %+v", walked.Thread.ID, walked.Reason, walked.Err, walked.Frames)
		}
	}
}

// A goroutine in C code that Go called from a callback of C code: qsort, called by Go, calls a
// Go function, which does the same again. The Go functions equal those in the runtime's own
// dump, and between them are the C functions, which the runtime does not know; live and in a
// core, with symbols and without.
func TestGoroutineThroughC(t *testing.T) {
	builds := [][]string{nil, {"-ldflags=-s -w"}}
	dumped := sample.Of(t, []int{0, 1}, 1) // gcore writes 1.5 GB of a Go process
	for n, flags := range builds {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			program := testprogram.Start(t, testprogram.BuildCgo(t, "callbacks", flags...))
			program.Settle(t)
			var said []string
			for _, line := range strings.Split(program.Output(), "\n") {
				// The runtime omits functions that it made itself.
				if name, ok := strings.CutPrefix(line, "function "); ok && name != "runtime.systemstack_switch" {
					said = append(said, name)
				}
			}
			check := func(from string, s *snapshot.Snapshot) {
				stacks := stacktest.Stacks(t, s)
				i := slices.IndexFunc(stacks, func(s stack.Stack) bool { return s.Thread.ID == program.PID })
				stack := &stacks[i]
				var all, known []string
				next := 0
				for k := range stack.Frames {
					f := &stack.Frames[k]
					for _, l := range f.Locations[:max(0, len(f.Locations)-1)] {
						all = append(all, l.Function)
					}
					all = append(all, trace.FunctionName(f))
				}
				for _, name := range all {
					if next < len(said) && name == said[next] {
						known = append(known, name)
						next++
					}
				}
				if !slices.Equal(known, said) || len(said) < 15 || stack.Reason != unwind.EndOfStack {
					t.Errorf("%s: %v: %v\n%q, expected all of\n%q", from, stack.Reason, stack.Err, all, said)
				}
				// For C: if the program has no symbols, the library's functions still have
				// names.
				count := func(name string) (n int) {
					for _, f := range all {
						if strings.HasPrefix(f, name) {
							n++
						}
					}
					return n
				}
				for name, n := range map[string]int{"runtime.asmcgocall": 3, "crosscall2": 2, "pause": 1, "qsort": 2} {
					if got := count(name); got < n {
						t.Errorf("%s: %s is on the stack %d times, expected %d: %q", from, name, got, n, all)
					}
				}
				// The data for the crossings was copied while the process stood still.
				for k := range stack.Frames {
					if f := &stack.Frames[k]; f.Late {
						t.Errorf("%s: frame %d, at %#x, was read after the process ran on", from, k, f.PC)
					}
				}
				if notes := trace.Notes(stacks); len(notes) > 0 {
					t.Errorf("%s: notes %q", from, notes)
				}
				if flags == nil && (count("goCompare") != 2 || count("sort") != 2 || count("wait") != 1) {
					t.Errorf("%s: C functions are missing in %q", from, all)
				}
			}
			check("live", stacktest.Take(t, program.PID))
			checkParkedThroughC(t, program.PID, flags == nil)
			if slices.Contains(dumped, n) {
				check("core", stacktest.OpenCore(t, testprogram.GCore(t, program.PID), nil).Snapshot())
			}
		})
	}
}

// checkParkedThroughC fails unless the stack of a goroutine that waits, without a thread, in a
// function that C code called is complete.
func checkParkedThroughC(t *testing.T, pid int, symbols bool) {
	t.Helper()
	list := goroutinesOf(t, takeGoroutines(t, pid, true), golang.Options{})
	for i := range list {
		g := &list[i]
		var names []string
		for k := range g.Stack.Frames {
			names = append(names, trace.FunctionName(&g.Stack.Frames[k]))
		}
		if !slices.Contains(names, "main.goWait") {
			continue
		}
		want := []string{"runtime.gopark", "main.goWait", "runtime.cgocallback", "through", "runtime.asmcgocall", "main.through", "runtime.goexit"}
		if !symbols {
			want = slices.DeleteFunc(want, func(name string) bool { return name == "through" })
		}
		next := 0
		for _, name := range names {
			if next < len(want) && name == want[next] {
				next++
			}
		}
		late := slices.ContainsFunc(g.Stack.Frames, func(f stack.Frame) bool { return f.Late })
		if next < len(want) || g.Stack.Reason != unwind.EndOfStack || g.Stack.Thread != nil || !g.Locked || late {
			t.Errorf("goroutine %d: %v: %v, read late: %v; %q, expected %q", g.ID, g.Stack.Reason, g.Stack.Err, late, names, want)
		}
		return
	}
	t.Errorf("no goroutine of %d waits in main.goWait", len(list))
}
