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
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// word returns the value of the n-th argument of the function that a frame enters.
func word(f *Frame, n int) uint64 {
	v, _ := f.session.registers.Word(n)
	return v
}

// ticks calls count and returns the arguments of tick at the stops there.
func ticks(t testing.TB, s *Session, n uint64) (list []uint64, last *Stop) {
	t.Helper()
	stop := call(t, s, "count", n)
	for stop.Reason == AtBreakpoint {
		f, err := s.Frame()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, word(f, 0))
		if stop, err = s.Continue(); err != nil {
			t.Fatal(err)
		}
	}
	if stop.Reason != Returned || stop.Result != n*(n+1)/2 {
		t.Errorf("%v", stop)
	}
	return list, stop
}

func TestBreakpointOptions(t *testing.T) {
	s := newSession(t, load(t, "loops.c"))
	even := func(f *Frame) (bool, error) { return word(f, 0)%2 == 0, nil }
	never := errors.New("never")
	for _, tt := range []struct {
		name string
		o    *BreakpointOptions
		want []uint64
		hits int
		left bool
	}{
		{"always", nil, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 9, true},
		{"skip", &BreakpointOptions{Skip: 6}, []uint64{7, 8, 9}, 9, true},
		{"max", &BreakpointOptions{Max: 2}, []uint64{1, 2}, 2, false},
		{"skip and max", &BreakpointOptions{Skip: 3, Max: 2}, []uint64{4, 5}, 5, false},
		{"temporary", &BreakpointOptions{Temporary: true}, []uint64{1}, 1, false},
		{"temporary, skip", &BreakpointOptions{Temporary: true, Skip: 8}, []uint64{9}, 9, false},
		{"condition", &BreakpointOptions{Condition: even}, []uint64{2, 4, 6, 8}, 4, true},
		{"condition and skip", &BreakpointOptions{Condition: even, Skip: 2}, []uint64{6, 8}, 4, true},
		{"condition, skip and max", &BreakpointOptions{Condition: even, Skip: 1, Max: 2}, []uint64{4, 6}, 3, false},
		{"skip all", &BreakpointOptions{Skip: 1000}, nil, 9, true},
		{"log", &BreakpointOptions{Log: func(*Frame) error { return nil }}, nil, 9, true},
		{"log, max", &BreakpointOptions{Log: func(*Frame) error { return nil }, Max: 3}, nil, 3, false},
		{"hardware", &BreakpointOptions{Hardware: true, Skip: 2, Condition: even, Max: 1}, []uint64{6}, 3, false},
		{"failing condition", &BreakpointOptions{Condition: func(f *Frame) (bool, error) { return false, never }}, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := s.Break(symbol(t, s, "tick"), tt.o)
			if err != nil {
				t.Fatal(err)
			}
			list, _ := ticks(t, s, 9)
			if !slices.Equal(list, tt.want) || b.Hits() != tt.hits {
				t.Errorf("stops at %v, %d hits; want %v, %d", list, b.Hits(), tt.want, tt.hits)
			}
			if left := slices.Contains(s.Breakpoints(), b); left != tt.left || b.Enabled() != tt.left {
				t.Errorf("still there: %v, %v", left, b.Enabled())
			}
			err = s.Remove(b.ID)
			if (err == nil) != tt.left || !tt.left && !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
			if list, _ := ticks(t, s, 3); list != nil {
				t.Errorf("removed, it stops at %v", list)
			}
		})
	}
}

// Errors and panics of callbacks are stops with the error.
func TestBreakpointErrors(t *testing.T) {
	s := newSession(t, load(t, "loops.c"))
	failure := errors.New("failure")
	for name, o := range map[string]*BreakpointOptions{
		"condition": {Condition: func(*Frame) (bool, error) { return false, failure }},
		"log":       {Log: func(*Frame) error { return failure }},
		"panic":     {Condition: func(*Frame) (bool, error) { panic(failure) }},
		"log panic": {Log: func(f *Frame) error { return []error{}[f.Level] }},
	} {
		b, err := s.Break(symbol(t, s, "tick"), o)
		if err != nil {
			t.Fatal(err)
		}
		stop := call(t, s, "count", 2)
		if stop.Reason != AtBreakpoint || stop.Breakpoint != b || stop.Err == nil || name[0] != 'p' && name != "log panic" && !errors.Is(stop.Err, failure) {
			t.Errorf("%s: %v, %v", name, stop, stop.Err)
		}
		s.Remove(b.ID)
		stop, err = s.Continue()
		check(t, stop, err, Returned)
	}
	// A logpoint that ends its goroutine ends the call. The session remains usable.
	b, err := s.Break(symbol(t, s, "tick"), &BreakpointOptions{Log: func(*Frame) error { runtime.Goexit(); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if stop, err := s.Call(symbol(t, s, "count"), 2); !errors.Is(err, errGoexit) || s.State() != Exited {
		t.Errorf("%v, %v, %v", stop, err, s.State())
	}
	s.Remove(b.ID)
	ticks(t, s, 2)
}

// All breakpoints at an address count a hit. Stop.Breakpoint is the first one that stops.
func TestBreakpointsAtOneAddress(t *testing.T) {
	s := newSession(t, load(t, "loops.c"))
	tick := symbol(t, s, "tick")
	logged := 0
	var list []*Breakpoint
	for _, o := range []*BreakpointOptions{
		{Log: func(*Frame) error { logged++; return nil }},
		{Condition: func(f *Frame) (bool, error) { return word(f, 0) == 3, nil }},
		{Skip: 3, Max: 1},
		{Hardware: true, Skip: 1 << 30},
	} {
		b, err := s.Break(tick, o)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	var stops []int
	stop := call(t, s, "count", 6)
	for stop.Reason == AtBreakpoint {
		stops = append(stops, slices.Index(list, stop.Breakpoint))
		var err error
		if stop, err = s.Continue(); err != nil {
			t.Fatal(err)
		}
	}
	check(t, stop, nil, Returned)
	if want := []int{1, 2}; !slices.Equal(stops, want) || logged != 6 {
		t.Errorf("stops of %v, want %v; %d logged", stops, want, logged)
	}
	for n, want := range []int{6, 1, 4, 6} {
		if list[n].Hits() != want {
			t.Errorf("breakpoint %d: %d hits, want %d", n, list[n].Hits(), want)
		}
	}
	// The trap remains until the last breakpoint is removed.
	for n, b := range []*Breakpoint{list[3], list[1], list[0]} {
		if stop := call(t, s, "count", 1); stop.Reason != Returned || logged != 7+n {
			t.Fatalf("%v, %d logged", stop, logged)
		}
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
	}
	if code := memoryAt(tick, 1)[0]; runtime.GOARCH == "amd64" && code == 0xcc {
		t.Error("a trap is left")
	}
}

// Breakpoints can be set, switched and removed in all states, also while they are hit.
func TestBreakpointWhileRunning(t *testing.T) {
	i := load(t, "system.c")
	s := newSession(t, i, load(t, "loops.c"))
	stopped := make(chan *Stop)
	go func() {
		stop, err := s.Call(symbolOf(t, i, "spin"))
		if err != nil {
			t.Error(err)
		}
		stopped <- stop
	}()
	waitState(t, s, Running)
	spin := symbolOf(t, i, "spin")
	f, _ := i.Function(spin)
	code, err := s.Disassemble(spin, 20)
	if err != nil {
		t.Fatal(err)
	}
	var logged atomic.Int64
	for range 50 {
		var list []*Breakpoint
		for _, c := range code {
			if c.Address >= f.Start+f.Size {
				break
			}
			b, err := s.Break(c.Address, &BreakpointOptions{Log: func(*Frame) error { logged.Add(1); return nil }})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, b)
		}
		before := logged.Load()
		eventually(t, "one is met", func() bool { return logged.Load() > before })
		for _, b := range list {
			if err := errors.Join(s.Enable(b.ID, false), s.Enable(b.ID, true), s.Enable(b.ID, false), s.Enable(b.ID, false)); err != nil {
				t.Fatal(err)
			}
			if err := s.Remove(b.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Interrupt(); err != nil {
		t.Fatal(err)
	}
	if stop := <-stopped; stop.Reason != Interrupted {
		t.Fatal(stop)
	}
	if code, err := s.Disassemble(spin, 3); err != nil || len(code) != 3 {
		t.Error(code, err)
	}
}

// Reads do not return traps, and writes change the code below them.
func TestCodeUnderBreakpoints(t *testing.T) {
	i := load(t, "loops.c")
	s, other := newSession(t, i), newSession(t, i)
	r := i.Ranges()[0]
	before := make([]byte, r.End-r.Start)
	if err := s.ReadMemory(before, r.Start); err != nil {
		t.Fatal(err)
	}
	code, err := s.Disassemble(r.Start, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range code {
		if c.Address >= r.End {
			break
		}
		if _, err := s.Break(c.Address, nil); err != nil {
			t.Fatal(err)
		}
	}
	after := make([]byte, len(before)+4)
	for _, session := range []*Session{s, other} {
		for n := range 4 { // also from the middle of an instruction
			if err := session.ReadMemory(after[:len(before)-n], r.Start+uint64(n)); err != nil || !bytes.Equal(after[:len(before)-n], before[n:]) {
				t.Fatal("traps are read")
			}
		}
		again, err := session.Disassemble(r.Start, 3)
		if err != nil || again[2].Text != code[2].Text {
			t.Error(again, err)
		}
	}
	// The first function gets the code of another one.
	tick, count := symbol(t, s, "tick"), symbol(t, s, "count")
	ret := functionOf("ret").text
	if err := other.WriteMemory(ret, tick); err != nil {
		t.Fatal(err)
	}
	if err := s.ReadMemory(after[:len(ret)], tick); err != nil || !bytes.Equal(after[:len(ret)], ret) {
		t.Errorf("%x", after[:len(ret)])
	}
	stop := call(t, s, "tick", 7)
	if check(t, stop, nil, AtBreakpoint).PC != tick {
		t.Error(stop)
	}
	if stop, err = s.Continue(); err != nil || stop.Reason != Returned {
		t.Error(stop, err)
	}
	if err := s.WriteMemory(before, r.Start); err != nil {
		t.Fatal(err)
	}
	for _, b := range s.Breakpoints() {
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
	}
	if now := memoryAt(r.Start, r.End-r.Start); !bytes.Equal(now, before) {
		t.Error("the code has changed")
	}
	stop, err = s.Call(count, 10)
	if check(t, stop, err, Returned).Result != 55 {
		t.Error(stop)
	}
}

// Sessions with the same image and breakpoints in the same loop do not affect each other: each
// has its own hits and results while others set and remove breakpoints.
func TestSessionsOverOneImage(t *testing.T) {
	onEmulatedProcessor(t)
	i := load(t, "loops.c")
	tick, count := symbolOf(t, i, "tick"), symbolOf(t, i, "count")
	loop, _ := i.Function(count)
	code, err := newSession(t, i).Disassemble(loop.Start, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, sessions := range []int{2, 10} {
		t.Run(fmt.Sprint(sessions), func(t *testing.T) {
			var wait sync.WaitGroup
			for k := range sessions {
				s := newSession(t, i)
				wait.Go(func() {
					for range 4 {
						n := uint64(200 + 10*k)
						var err error
						var b *Breakpoint
						logged := 0
						switch k % 3 {
						case 0: // stops
							b, err = s.Break(tick, &BreakpointOptions{Condition: func(f *Frame) (bool, error) { return word(f, 0)%10 == 0, nil }})
						case 1: // logs, at an instruction of the loop
							at := code[1+k%4].Address
							b, err = s.Break(at, &BreakpointOptions{Log: func(*Frame) error { logged++; return nil }})
						}
						if err != nil {
							t.Error(err)
							return
						}
						stop, err := s.Call(count, n)
						stops := 0
						for err == nil && stop.Reason == AtBreakpoint {
							stops++
							if stops%3 == 0 {
								stop, err = s.StepInstruction()
								for err == nil && stop.Reason == SteppedInstruction && stops%2 == 0 && s.registers.PC() != count {
									if stop, err = s.StepInstruction(); stop != nil && stop.PC-loop.Start < loop.Size {
										break
									}
								}
							}
							if err == nil && (stop.Reason == SteppedInstruction || stop.Reason == AtBreakpoint) {
								stop, err = s.Continue()
							}
						}
						if err != nil || stop.Reason != Returned || stop.Result != n*(n+1)/2 {
							t.Errorf("session %d: %v, %v", k, stop, err)
							return
						}
						if k%3 == 0 && (stops != int(n/10) || b.Hits() != stops) || k%3 == 1 && b.Hits() != logged {
							t.Errorf("session %d: %d stops, %d logged, %d hits", k, stops, logged, b.Hits())
						}
						if b != nil {
							if err := s.Remove(b.ID); err != nil {
								t.Error(err)
							}
						}
					}
				})
			}
			wait.Wait()
		})
	}
	if err := i.Close(); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
}

// onEmulatedProcessor binds this program to one of the processors of an emulated
// machine until the test ends. QEMU 7.2 can miss that one processor writes to code that
// another one is about to run for the first time, and then runs the old code. Of 40,000
// breakpoints next to running code, 58 were not hit; with one thread for all processors
// (-accel tcg,thread=single), and on amd64, all were.
func onEmulatedProcessor(t *testing.T) {
	if os.Getenv("CLEW_MACHINE") == "" { // see scripts/machine
		return
	}
	var allowed, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	one.Set(0)
	bind := func(set *unix.CPUSet) {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			id, _ := strconv.Atoi(task.Name())
			if err := unix.SchedSetaffinity(id, set); err != nil && err != unix.ESRCH {
				t.Fatal(err)
			}
		}
	}
	bind(&one)
	bind(&one) // also threads that other threads have started since
	t.Cleanup(func() { bind(&allowed) })
}

// In a recursion each entry is a hit.
func TestBreakpointInRecursion(t *testing.T) {
	s := newSession(t, load(t, "loops.c"))
	b, err := s.Break(symbol(t, s, "fib"), &BreakpointOptions{Log: func(*Frame) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	returns(t, s, 144, "fib", 12)
	if b.Hits() != 465 {
		t.Errorf("%d hits", b.Hits())
	}
	// A breakpoint at the current address is hit when the code comes back.
	s.Remove(b.ID)
	stop, err := s.CallWith(symbol(t, s, "fib"), Arguments{Words: []uint64{3}, StopAtEntry: true})
	check(t, stop, err, AtEntry)
	if b, err = s.Break(stop.PC, nil); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Continue()
	f, _ := s.Frame()
	if check(t, stop, err, AtBreakpoint); word(f, 0) != 2 || b.Hits() != 1 {
		t.Errorf("fib(%d), %d hits", word(f, 0), b.Hits())
	}
	stop, err = s.RunTo(stop.PC)
	f, _ = s.Frame()
	if check(t, stop, err, RanTo); word(f, 0) != 1 || b.Hits() != 2 {
		t.Errorf("fib(%d), %d hits", word(f, 0), b.Hits())
	}
}
