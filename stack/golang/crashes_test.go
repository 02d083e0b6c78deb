// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// signalHandler stands for a signal's frame in the lists below.
const signalHandler = "a signal"

var (
	dies     = []string{"runtime.raise", "runtime.dieFromSignal", "runtime.sigtramp", signalHandler, "runtime.raise", "runtime.dieFromSignal", "runtime.crash"}
	handles  = []string{"runtime.sighandler", "runtime.sigtrampgo", "runtime.sigtramp", signalHandler}
	fromMain = []string{"main.main", "runtime.main", "runtime.goexit"}
)

// Go programs that crash on one of the stacks that the runtime switches to, with
// GOTRACEBACK=crash: in a handler on the signal stack that interrupted Go or C, on the
// thread's own stack in systemstack, in morestack and in the scheduler. In the kernel's core,
// all threads are walked to their start, and the running and runnable goroutines equal the
// program's own dump.
func TestGoCrashes(t *testing.T) {
	plain, cgo := testprogram.Build(t, "crashes"), testprogram.BuildCgo(t, "crashes")
	for _, tt := range []struct {
		way  string
		path string
		want []string // on the stack of the thread that crashes, in this order
	}{
		{"quit", plain, slices.Concat(dies, handles, []string{"syscall.RawSyscall", "syscall.Tgkill", "main.signal", "main.quit"}, fromMain)},
		{"fault", plain, slices.Concat(dies, []string{"runtime.fatalpanic", "runtime.gopanic", "runtime.sigpanic", "main.fault"}, fromMain)},
		{"overflow", plain, slices.Concat(dies, []string{"runtime.throw", "runtime.newstack", "runtime.morestack", "main.recurse", "main.recurse", "main.recurse"}, fromMain)},
		{"unlock", plain, slices.Concat(dies, []string{"runtime.fatalthrow.func1", "runtime.systemstack", "runtime.fatalthrow", "internal/sync.fatal", "internal/sync.(*Mutex).unlockSlow"}, fromMain)},
		{"deadlock", plain, slices.Concat(dies, []string{"runtime.fatal", "runtime.checkdead"})},
		{"C", cgo, slices.Concat(dies, handles, []string{"fault_in_c", "runtime.asmcgocall", "runtime.cgocall"}, fromMain)},
	} {
		t.Run(tt.way, func(t *testing.T) {
			t.Setenv("GOTRACEBACK", "crash")
			dumped := filepath.Join(t.TempDir(), "said")
			path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, tt.path, tt.way, dumped)
			s := stacktest.OpenCore(t, path, nil).Snapshot()
			stacks := stacktest.Stacks(t, s)
			var crashed [][]string
			for i := range stacks {
				stack := &stacks[i]
				names := withSignals(stack)
				// A thread of C can be missing because it has not started yet.
				started := tt.path == plain || strings.HasPrefix(names[len(names)-1], "runtime.")
				if started && stack.Reason != unwind.EndOfStack {
					t.Errorf("thread %d: %v: %v; %q", stack.Thread.ID, stack.Reason, stack.Err, names)
				}
				if tt.way == "deadlock" && stack.Thread.ID == s.PID && !inOrder(names, []string{"runtime.schedule", "runtime.mcall"}) {
					t.Errorf("the thread of the goroutine that waits: %q", names)
				}
				if names[0] == "runtime.raise" {
					crashed = append(crashed, names)
				}
			}
			if len(crashed) != 1 || !inOrder(crashed[0], tt.want) {
				t.Errorf("%q, expected %q", crashed, tt.want)
			}
			if notes := trace.Notes(stacks); len(notes) > 0 {
				t.Errorf("notes %q", notes)
			}
			if tt.way != "quit" {
				return
			}
			text, err := os.ReadFile(dumped)
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[uint64]said)
			list := goroutinesOf(t, s, golang.Options{System: true})
			for i := range list {
				got[list[i].ID] = described(&list[i])
			}
			// The output of the other threads after this line has no goroutine.
			dump, _, _ := strings.Cut(string(text), "\n-----\n")
			compareGoroutines(t, "core", got, onQuit(t, dump), list)
		})
	}
}

// A C signal handler on Go's signal stack, during a system call of Go: the stack leads back to
// the goroutine, live.
func TestSignalHandlerOverGo(t *testing.T) {
	p := testprogram.Start(t, testprogram.BuildCgo(t, "crashes"), "handler")
	want := slices.Concat([]string{"pause", "rest_in_handler", signalHandler, "syscall.RawSyscall", "main.signal"}, fromMain)
	check := func(s *stack.Stack) {
		t.Helper()
		if names := withSignals(s); !inOrder(names, want) || s.Reason != unwind.EndOfStack {
			t.Errorf("%v: %v; %q, expected %q", s.Reason, s.Err, names, want)
		}
	}
	// It has printed that it is about to rest. The runtime's own threads never rest: one polls
	// for a goroutine that runs for long, as this one does.
	var walked *stack.Stack
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		stacks := stacktest.Stacks(t, stacktest.Take(t, p.PID))
		walked = &stacks[slices.IndexFunc(stacks, func(s stack.Stack) bool { return s.Thread.ID == p.PID })]
		if withSignals(walked)[0] == "pause" {
			break
		}
	}
	check(walked)
	list := goroutinesOf(t, takeGoroutines(t, p.PID, true), golang.Options{})
	i := slices.IndexFunc(list, func(g golang.Goroutine) bool { return g.ID == 1 })
	if i < 0 || list[i].Stack.Thread == nil || list[i].Stack.Thread.ID != p.PID {
		t.Fatalf("the first goroutine is not on the first thread: %+v", list)
	}
	check(&list[i].Stack)
}

// withSignals returns the functions of a stack, with the same name for all frames of signals.
func withSignals(s *stack.Stack) (names []string) {
	for i := range s.Frames {
		if f := &s.Frames[i]; f.Trampoline {
			names = append(names, signalHandler)
		} else {
			names = append(names, calledOn(&stack.Stack{Frames: s.Frames[i : i+1]})...)
		}
	}
	return names
}
