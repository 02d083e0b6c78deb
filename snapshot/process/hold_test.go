// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
)

// standsStill reports whether every thread of a process is stopped by its tracer.
func standsStill(t *testing.T, pid int) bool {
	t.Helper()
	tids, err := listThreads(pid, nil)
	if err != nil {
		t.Fatal(err)
	}
	return !slices.ContainsFunc(tids, func(tid int) bool { return threadState(pid, tid) != 't' })
}

// processorTime returns the processor time of a process with one thread, in nanoseconds.
func processorTime(t *testing.T, pid int) (n int64) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err == nil {
		_, err = fmt.Sscan(string(b), &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkRuns checks that a process runs, and that nothing is attached to it.
func checkRuns(t *testing.T, pid int) {
	t.Helper()
	checkReleased(t, pid)
	before := processorTime(t, pid)
	eventually(t, "it runs again", func() bool { return processorTime(t, pid) > before })
}

// While Hold runs, the process stands still, and the snapshot says so. Afterwards it runs as
// before, whatever Hold did.
func TestHold(t *testing.T) {
	p := testprogram.Start(t, "/bin/sh", "-c", "echo ready; while :; do :; done")
	take := map[string]func(*Options) (*snapshot.Snapshot, error){
		"Snapshot": func(opts *Options) (*snapshot.Snapshot, error) { return Snapshot(p.PID, opts) },
		"Stacks": func(opts *Options) (*snapshot.Snapshot, error) {
			w, err := Stacks(p.PID, opts, stack.WalkOptions{Lines: true})
			if err != nil {
				return nil, err
			}
			return w.Snapshot, w.Objects.Close()
		},
	}
	for name, take := range take {
		called := 0
		s, err := take(&Options{Timeout: time.Minute, Hold: func(s *snapshot.Snapshot) {
			called++
			if s.Live || len(s.Threads) == 0 || s.Threads[0].Name == "" {
				t.Errorf("live: %t, threads: %+v", s.Live, s.Threads)
			}
			objects := stack.NewObjects(s)
			defer objects.Close()
			if stacks := objects.Walk(stack.WalkOptions{Lines: true}); len(stacks) != len(s.Threads) || len(stacks[0].Frames) == 0 {
				t.Errorf("%d stacks", len(stacks))
			}
			if !standsStill(t, p.PID) {
				t.Error("a thread runs")
			}
			before := processorTime(t, p.PID)
			time.Sleep(20 * time.Millisecond)
			if after := processorTime(t, p.PID); after != before {
				t.Errorf("it ran for %d ns", after-before)
			}
		}})
		if err != nil || called != 1 {
			t.Fatalf("%s: %d calls, %v", name, called, err)
		}
		if !s.Live || s.Pause < 20*time.Millisecond {
			t.Errorf("live: %t, it stood still for %v", s.Live, s.Pause)
		}
		checkRuns(t, p.PID)
	}
	func() {
		defer func() {
			if r := recover(); r != "mine" {
				t.Error(r)
			}
		}()
		Snapshot(p.PID, &Options{Hold: func(*snapshot.Snapshot) { panic("mine") }})
	}()
	checkRuns(t, p.PID)
	if _, err := Snapshot(p.PID, &Options{Threads: []int{1}, Hold: func(*snapshot.Snapshot) { t.Error("nothing is held") }}); !errors.Is(err, ErrNoThread) {
		t.Error(err)
	}
	checkRuns(t, p.PID)
}
