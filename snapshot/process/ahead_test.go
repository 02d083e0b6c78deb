// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/stack"
)

// named names the stacks of a snapshot, closes its objects, and returns the stacks as text.
func named(t *testing.T, w *stack.Walked, lines bool) (list []string) {
	t.Helper()
	defer w.Objects.Close()
	s, stacks := w.Snapshot, w.Stacks
	if err := w.Objects.Name(stacks, stack.NameOptions{Lines: lines}); err != nil {
		t.Error(err)
	}
	for i := range stacks {
		thread := stacks[i].Thread
		if thread != &s.Threads[i] {
			t.Errorf("stack %d is of thread %d, and that thread is %d", i, thread.ID, s.Threads[i].ID)
		}
		text := fmt.Sprintf("%d %s: %v %v", thread.ID, thread.Name, stacks[i].Reason, stacks[i].Err)
		for k, f := range stacks[i].Frames {
			text += fmt.Sprintf("\n%#x %#x %v %v %v %s %v", f.PC, f.SP, f.Method, f.TailCall, f.Late, f.Symbol.Name, f.Locations)
			if k > 0 { // a system call that was interrupted may go on with other arguments
				text += fmt.Sprint(f.Registers)
			}
		}
		list = append(list, text)
	}
	return list
}

// The stacks that are walked while threads are released equal those of a later walk.
func TestStacks(t *testing.T) {
	opts := stack.WalkOptions{Registers: true, Lines: true}
	programs := map[string]func(t *testing.T) *testprogram.Process{
		"C": func(t *testing.T) *testprogram.Process {
			return testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
		},
		"Go": func(t *testing.T) *testprogram.Process {
			return testprogram.Start(t, testprogram.Build(t, "threads"), "8")
		},
	}
	for name, start := range programs {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			p.Settle(t)
			s, err := Snapshot(p.PID, &Options{Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			objects := stack.NewObjects(s)
			want := named(t, &stack.Walked{Snapshot: s, Objects: objects, Stacks: objects.Walk(opts)}, true)
			for _, processors := range []int{1, 2} {
				asked := make(chan string, 1)
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				w, err := Stacks(p.PID, &Options{Timeout: time.Minute, Search: func(root string) debugfile.Search {
					asked <- root
					return debugfile.Search{Root: root}
				}}, opts)
				if err != nil {
					t.Fatal(err)
				}
				if root := <-asked; root != w.Snapshot.Search.Root {
					t.Errorf("files are looked for below %q, and the search is below %q", root, w.Snapshot.Search.Root)
				}
				got := named(t, w, true)
				if len(got) != len(want) {
					t.Fatalf("%d stacks, %d without", len(got), len(want))
				}
				for i := range want {
					if got[i] != want[i] {
						t.Errorf("%d processors: got\n%s\nexpected\n%s", processors, got[i], want[i])
					}
				}
			}
		})
	}
}

// The stacks are walked before threads are released if there is a processor for it.
func TestWalkWhileReleased(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	p.Settle(t)
	for _, processors := range []int{1, 2} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		e := new(early)
		if _, _, err := takeSnapshot(p.PID, &Options{Timeout: time.Minute}, e); err != nil {
			t.Fatal(err)
		}
		if walked := e.stacks != nil; walked != (processors > 1) {
			t.Errorf("%d processors: walked: %v", processors, walked)
		}
		e.drop()
	}
}

// Name runs Meanwhile once, signals it to end, and waits for it.
func TestMeanwhile(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	p.Settle(t)
	for _, lines := range []bool{false, true} {
		walk := stack.WalkOptions{Lines: lines}
		w, err := Stacks(p.PID, &Options{Timeout: time.Minute}, walk)
		if err != nil {
			t.Fatal(err)
		}
		objects, stacks := w.Objects, w.Stacks
		calls, begun := 0, make(chan bool, 2)
		err = objects.Name(stacks, stack.NameOptions{Lines: lines, Meanwhile: func(ended func() bool) {
			begun <- true
			for !ended() {
				time.Sleep(time.Millisecond)
			}
			calls++
		}})
		if lines { // Close ends also what has not begun yet
			select {
			case <-begun:
			case <-time.After(2 * time.Minute):
				t.Error("it is not done")
			}
		}
		if err := errors.Join(err, objects.Close()); err != nil {
			t.Error(err)
		}
		want := 0
		if lines {
			want = 1
		}
		if calls != want {
			t.Errorf("lines %v: done %d times, expected %d", lines, calls, want)
		}
	}
}

// Threads that do not belong to the process: there is nothing to walk, and the error is the
// same as without a walk.
func TestStacksOfNothing(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	opts := &Options{Threads: []int{1}}
	if s, err := Snapshot(p.PID, opts); !errors.Is(err, ErrNoThread) {
		t.Errorf("%v, %v; expected %v", s, err, ErrNoThread)
	}
	if w, err := Stacks(p.PID, opts, stack.WalkOptions{Lines: true}); !errors.Is(err, ErrNoThread) {
		t.Errorf("%v, %v; expected %v", w, err, ErrNoThread)
	}
}

// Calls of the caller before threads are stopped can take long, and can panic. Nothing is attached
// before they return, because an attached thread stops for any signal.
func TestNothingAttachedToWhileDescribed(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	tracer := func() int {
		s, err := readStatus(p.PID)
		if err != nil {
			t.Fatal(err)
		}
		return s.TracerPID
	}
	described := func(string) debugfile.Search {
		time.Sleep(20 * time.Millisecond)
		if pid := tracer(); pid != 0 {
			t.Errorf("thread %d traces it", pid)
		}
		panic("described")
	}
	func() {
		defer func() {
			if r := recover(); r != "described" {
				t.Errorf("panicked with %v", r)
			}
		}()
		_, _ = Stacks(p.PID, &Options{Timeout: time.Minute, Search: described}, stack.WalkOptions{})
	}()
	if pid := tracer(); pid != 0 {
		t.Errorf("thread %d traces it after the panic", pid)
	}
	if _, err := Snapshot(p.PID, &Options{Timeout: time.Minute}); err != nil {
		t.Error(err)
	}
}
