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
	"github.com/clewdev/clew/target"
)

// stacksOf walks and names the stacks of a snapshot as text.
func stacksOf(t *testing.T, s *target.Snapshot, opts target.WalkOptions) (list []string) {
	t.Helper()
	objects := s.Objects()
	defer objects.Close()
	stacks := objects.Walk(opts)
	if err := objects.Name(stacks, target.NameOptions{Lines: opts.Lines}); err != nil {
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

// What was walked while the threads were being released is what is walked later.
func TestWalkAhead(t *testing.T) {
	opts := target.WalkOptions{Registers: true, Lines: true}
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
			s, err := Snapshot(p.PID, &Options{Timeout: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			want := stacksOf(t, s, opts)
			for _, processors := range []int{1, 2} {
				asked := make(chan string, 1)
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				s, err := Snapshot(p.PID, &Options{Timeout: 5 * time.Second, Walk: &opts, Search: func(root string) debugfile.Search {
					asked <- root
					return debugfile.Search{Root: root}
				}})
				if err != nil {
					t.Fatal(err)
				}
				if root := <-asked; root != s.Search.Root {
					t.Errorf("files are looked for below %q, and the search is below %q", root, s.Search.Root)
				}
				if name == "Go" {
					if ahead := knowsGo(s.ObjectsAhead()); ahead != (processors > 1) {
						t.Errorf("%d processors: walked ahead: %v", processors, ahead)
					}
				}
				got := stacksOf(t, s, opts)
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

// knowsGo reports whether a frame lay in a Go program already.
func knowsGo(objects *target.Objects) bool {
	for o := range objects.All() {
		if o.Go {
			return true
		}
	}
	return false
}

// A walk for other options than the one that was done ahead is done anew.
func TestWalkOtherwise(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	p.Settle(t)
	s, err := Snapshot(p.PID, &Options{Timeout: 5 * time.Second, Walk: new(target.WalkOptions)})
	if err != nil {
		t.Fatal(err)
	}
	objects := s.Objects()
	defer objects.Close()
	for _, stack := range objects.Walk(target.WalkOptions{MaxFrames: 2, Registers: true}) {
		if len(stack.Frames) != 2 || stack.Frames[1].Registers == nil {
			t.Errorf("thread %d: %d frames, registers %v", stack.Thread.ID, len(stack.Frames), stack.Frames[len(stack.Frames)-1].Registers)
		}
	}
}

// What Name has done meanwhile is done once, is told when it is to end, and waited for.
func TestMeanwhile(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	p.Settle(t)
	for _, lines := range []bool{false, true} {
		walk := target.WalkOptions{Lines: lines}
		s, err := Snapshot(p.PID, &Options{Timeout: 5 * time.Second, Walk: &walk})
		if err != nil {
			t.Fatal(err)
		}
		objects := s.Objects()
		stacks := objects.Walk(walk)
		calls, begun := 0, make(chan bool, 2)
		err = objects.Name(stacks, target.NameOptions{Lines: lines, Meanwhile: func(ended func() bool) {
			begun <- true
			for !ended() {
				time.Sleep(time.Millisecond)
			}
			calls++
		}})
		if lines { // Close ends also what has not begun yet
			select {
			case <-begun:
			case <-time.After(20 * time.Second):
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

// Threads that are none of the process's: there is nothing to walk, and the error is as
// it is without.
func TestWalkAheadOfNothing(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	for _, walk := range []*target.WalkOptions{nil, {Lines: true}} {
		if s, err := Snapshot(p.PID, &Options{Threads: []int{1}, Walk: walk}); !errors.Is(err, ErrNoThread) {
			t.Errorf("walk %v: %v, %v; expected %v", walk, s, err, ErrNoThread)
		}
	}
}

// What is asked of the caller before threads are stopped can take long, and can panic:
// nothing is attached to until then, as a thread that is stops for any signal.
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
		_, _ = Snapshot(p.PID, &Options{Timeout: 5 * time.Second, Search: described, Walk: new(target.WalkOptions)})
	}()
	if pid := tracer(); pid != 0 {
		t.Errorf("thread %d traces it after the panic", pid)
	}
	if _, err := Snapshot(p.PID, &Options{Timeout: 5 * time.Second}); err != nil {
		t.Error(err)
	}
}
