// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"golang.org/x/sys/unix"
)

// holdings are the resources that a process can leak.
type holdings struct{ children, tasks, descriptors, mappings int }

func held(t testing.TB) (h holdings) {
	t.Helper()
	count := func(dir string) int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return holdings{len(childProcesses(t)), count("/proc/self/task"), count("/proc/self/fd"), bytes.Count(maps, []byte("\n"))}
}

// holdsNoMore waits until this process has no more resources than before, except some threads
// and heap memory of the runtime.
func holdsNoMore(t testing.TB, before holdings) {
	t.Helper()
	const slack = 12
	var now holdings
	defer func() {
		if t.Failed() {
			t.Logf("%+v, before %+v", now, before)
		}
	}()
	eventually(t, "nothing is left", func() bool {
		now = held(t)
		return now.children <= before.children && now.tasks <= before.tasks+slack && now.descriptors <= before.descriptors && now.mappings <= before.mappings+2*slack
	})
}

// beside runs other programs, and gets SIGCHLD, until the test ends.
func beside(t testing.TB) {
	t.Helper()
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGCHLD)
	over := make(chan bool)
	var wait sync.WaitGroup
	wait.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-over:
				return
			case <-c:
			default:
			}
			if out, err := exec.Command("echo", fmt.Sprint(n)).Output(); err != nil || string(out) != fmt.Sprintln(n) {
				t.Errorf("echo %d: %q, %v", n, out, err)
				return
			}
		}
	})
	t.Cleanup(func() {
		close(over)
		wait.Wait()
		signal.Stop(c)
	})
}

// Successive sessions leave no resources, while other programs run and the garbage collector is
// busy.
func TestSessionsInARow(t *testing.T) {
	sessions := 100
	if sample.Full() {
		sessions = 1000
	}
	i, add := newFunction(t, "exit"), newFunction(t, "add")
	use := func(t testing.TB, n int) {
		t.Helper()
		s, err := New(&Options{Images: []*Image{i, add}, Locked: n%2 == 1, StackSize: (n % 3) * 64 << 10})
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Break(start(add), nil)
		if err != nil {
			t.Fatal(err)
		}
		stop, err := s.Call(start(add), uint64(n), 1)
		check(t, stop, err, AtBreakpoint)
		if n%3 > 0 {
			stop, err = s.Continue()
			if check(t, stop, err, Returned).Result != uint64(n)+1 {
				t.Fatal(stop)
			}
		}
		if n%3 == 2 {
			if err := s.Remove(b.ID); err != nil {
				t.Fatal(err)
			}
			stop, err = s.Call(start(i), 3)
			check(t, stop, err, ExitedProcess)
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for n := range 20 {
		use(t, n)
	}
	before := held(t)
	t.Run("beside other programs", func(t *testing.T) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer debug.SetGCPercent(debug.SetGCPercent(5))
		beside(t)
		for n := range sessions {
			use(t, n)
		}
	})
	holdsNoMore(t, before)
}

// Several sessions are closed at the same time, in every state, some by two goroutines.
func TestSessionsAtOnce(t *testing.T) {
	sessions := 20
	if sample.Full() {
		sessions = 100
	}
	system, exit := load(t, "system.c"), newFunction(t, "exit")
	entered, leave := make(chan bool, sessions), make(chan bool)
	host := newHost(t, HostFunction{Name: "wait", Call: func(*HostCall) error {
		entered <- true
		<-leave
		return nil
	}})
	round := func(sessions int) {
		var wait, calls sync.WaitGroup
		inHost := 0
		var list []*Session
		for n := range sessions {
			s, err := New(&Options{Images: []*Image{system, exit, host}})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
			run := func(function uint64, want error) {
				calls.Go(func() {
					if stop, err := s.Call(function, 1); !errors.Is(err, want) {
						t.Errorf("%v, %v", stop, err)
					}
				})
			}
			switch n % 5 {
			case 0:
				run(symbolOf(t, system, "spin"), ErrClosed)
				waitState(t, s, Running)
			case 1:
				stop, err := s.CallWith(symbolOf(t, system, "recurse"), Arguments{StopAtEntry: true})
				check(t, stop, err, AtEntry)
			case 2:
				stop, err := s.Call(start(exit), 0)
				check(t, stop, err, ExitedProcess)
			case 3:
				if n%2 == 0 {
					run(symbolOf(t, host, "wait"), ErrClosed)
					inHost++
				}
			}
		}
		for range inHost {
			<-entered
		}
		for n, s := range list {
			for range 1 + n%2 {
				wait.Go(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
					if s.State() != Closed || s.PID() != 0 || len(s.Images()) != 0 {
						t.Error("not closed")
					}
				})
			}
		}
		for _, s := range list {
			waitState(t, s, Closed)
		}
		for range inHost {
			leave <- true
		}
		wait.Wait()
		calls.Wait()
	}
	round(20)
	before := held(t)
	beside(t)
	round(sessions)
	before.children++ // what is run beside
	before.descriptors += 4
	holdsNoMore(t, before)
}

// A session on the caller's own thread belongs to that thread; everything else works the same.
func TestLocked(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	i, system := load(t, "loops.c"), load(t, "system.c")
	s, err := New(&Options{Images: []*Image{i, system, newFunction(t, "exit"), newFunction(t, "load")}, Locked: true})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := func(want error, f func() error) {
		t.Helper()
		done := make(chan error)
		go func() { done <- f() }()
		if err := <-done; !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	tick := symbol(t, s, "tick")
	elsewhere(ErrThread, func() error { _, err := s.Call(tick); return err })
	elsewhere(ErrThread, func() error { _, err := s.Watch(symbolOf(t, i, "cell"), 8, Write, nil); return err })
	elsewhere(nil, func() error { _, err := s.Break(tick, &BreakpointOptions{Skip: 1}); return err })
	stop := call(t, s, "count", 5)
	check(t, stop, nil, AtBreakpoint)
	elsewhere(ErrThread, func() error { _, err := s.Continue(); return err })
	elsewhere(nil, func() error { _, err := s.Registers(); return err })
	elsewhere(ErrThread, func() error { _, err := s.Register("v0"); return errors.Join(err, vectorElsewhere(s)) })
	elsewhere(nil, func() error { _, err := s.Stack(0); return err })
	stop, err = s.StepInstruction()
	check(t, stop, err, SteppedInstruction)
	elsewhere(nil, func() error { stop, err = s.Abort(); return err })
	check(t, stop, err, Aborted)
	w, err := s.Watch(symbol(t, s, "cell"), 8, Change, nil)
	if err != nil {
		t.Fatal(err)
	}
	stop = call(t, s, "store", 4)
	check(t, stop, nil, AtWatchpoint)
	if err := s.Remove(w.ID); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)
	go func() {
		waitState(t, s, Running)
		if err := s.Interrupt(); err != nil {
			t.Error(err)
		}
	}()
	stop = call(t, s, "spin")
	check(t, stop, nil, Interrupted)
	if _, err := s.Abort(); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Call(s.images()[3].Ranges()[0].Start, 8)
	check(t, stop, err, Signalled)
	if _, err := s.Abort(); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Call(s.images()[2].Ranges()[0].Start, 8)
	check(t, stop, err, ExitedProcess)
	// A panic in a callback is a stop. The end of its goroutine ends the worker.
	b, err := s.Break(symbol(t, s, "fib"), &BreakpointOptions{Log: func(*Frame) error { runtime.Goexit(); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	endGoroutine(t, i, &b.Options)
	// Another goroutine closes it while it runs.
	s.Remove(b.ID)
	go func() {
		waitState(t, s, Running)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if stop, err := s.Call(symbolOf(t, system, "spin")); !errors.Is(err, ErrClosed) {
		t.Error(stop, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// endGoroutine ends the goroutine of a session in a callback, which ends the worker.
func endGoroutine(t *testing.T, i *Image, options *BreakpointOptions) {
	t.Helper()
	done := make(chan error)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and dies with its thread
		s, err := New(&Options{Images: []*Image{i}, Locked: true})
		if err != nil {
			done <- err
			return
		}
		defer func() {
			if s.State() != Exited {
				t.Errorf("%v", s.State())
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		s.Break(symbolOf(t, i, "fib"), options)
		s.Call(symbolOf(t, i, "fib"), 3)
		t.Error("the goroutine has not ended")
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func vectorElsewhere(s *Session) error {
	_, err := s.Register("xmm0")
	return err
}
