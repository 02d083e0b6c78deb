// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
)

func TestCallWords(t *testing.T) {
	s := newSession(t, load(t, "calls.c"))
	returns(t, s, 87654321, "words", 1, 2, 3, 4, 5, 6, 7, 8)
	returns(t, s, 321, "words", 1, 2, 3) // nothing is left of the call before
	returns(t, s, 0, "words")
	words := symbol(t, s, "words")
	for _, a := range []Arguments{{Words: make([]uint64, 9)}, {Floats: make([]float64, 9)}} {
		if _, err := s.CallWith(words, a); !errors.Is(err, ErrArguments) {
			t.Errorf("%d words, %d floats: %v", len(a.Words), len(a.Floats), err)
		}
	}
	if _, err := s.Call(0x1234); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
	if _, err := s.Call(symbol(t, s, "global")); !errors.Is(err, ErrAddress) {
		t.Errorf("data called: %v", err)
	}
	stop := call(t, s, "pair", 1)
	if stop.Result != ^uint64(1) || stop.Result2 != 1<<60 {
		t.Errorf("%#x, %#x", stop.Result, stop.Result2)
	}
}

func TestCallFloats(t *testing.T) {
	s := newSession(t, load(t, "calls.c"))
	for _, tt := range []struct {
		name string
		a    Arguments
		want float64
	}{
		{"floats", Arguments{Floats: []float64{1, 2, 3, 4, 5, 6, 7, 8.5}}, 92654321},
		{"floats", Arguments{Floats: []float64{math.Inf(-1)}}, math.Inf(-1)},
		{"floats", Arguments{}, 0},
		{"singles", Arguments{Floats: []float64{Float32(1), Float32(4)}}, Float32(0.25)},
		{"mixed", Arguments{Words: []uint64{1, 3, ^uint64(0)}, Floats: []float64{2.5, Float32(4.25)}}, 1 + 25 + 300 + 4250 - 10000},
	} {
		stop, err := s.CallWith(symbol(t, s, tt.name), tt.a)
		check(t, stop, err, Returned)
		// The bits above a float32 are undefined.
		if got := stop.FloatResult; got != tt.want && (tt.name != "singles" || uint32(math.Float64bits(got)) != uint32(math.Float64bits(tt.want))) {
			t.Errorf("%s%v: %v, want %v", tt.name, tt.a, got, tt.want)
		}
	}
}

// A variadic function reads the number of vector registers.
func TestCallVariadic(t *testing.T) {
	s := newSession(t, load(t, "calls.c", "-O0"))
	stop, err := s.CallWith(symbol(t, s, "variadic"), Arguments{Words: []uint64{7, 1, 3, 5, 7}, Floats: []float64{2, 4, 6}})
	if check(t, stop, err, Returned).Result != 1234567 {
		t.Error(stop)
	}
}

func TestCallMain(t *testing.T) {
	s := newSession(t, load(t, "calls.c"))
	for _, arguments := range [][]string{nil, {""}, {"a", "bc", strings.Repeat("d", 1001)}, make([]string, 1000)} {
		want := len(arguments)
		for _, a := range arguments {
			for _, c := range []byte(a) {
				want += 100 * int(c)
			}
		}
		stop, err := s.CallMain(symbol(t, s, "main"), arguments, Arguments{})
		if check(t, stop, err, Returned); int(stop.Result) != want {
			t.Errorf("%d arguments: %v, want %#x", len(arguments), stop, want)
		}
	}
	if _, err := s.CallMain(symbol(t, s, "main"), []string{strings.Repeat("x", 1<<20)}, Arguments{}); !errors.Is(err, ErrArguments) {
		t.Error(err)
	}
	stop, err := s.CallMain(symbol(t, s, "main"), []string{"a"}, Arguments{StopAtEntry: true})
	if check(t, stop, err, AtEntry).PC != symbol(t, s, "main") {
		t.Error(stop)
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)
}

func TestStackIsAligned(t *testing.T) {
	s := newSession(t, load(t, "calls.c", "-O0"))
	for n := range uint64(9) {
		returns(t, s, 4, "aligned", make([]uint64, min(n, 8))...)
		stop, err := s.CallMain(symbol(t, s, "aligned"), make([]string, n), Arguments{})
		if check(t, stop, err, Returned).Result != 4+n {
			t.Errorf("%d arguments: %v", n, stop)
		}
	}
}

// Each session has its own variables, as threads do.
func TestThreadLocal(t *testing.T) {
	i, j, late := load(t, "calls.c"), load(t, "calls.c", "-fpic"), load(t, "calls.c", "-O2")
	s, other := newSession(t, i), newSession(t, j, i)
	for n := range uint64(3) {
		returns(t, s, 41+2*n, "count")
	}
	returns(t, other, 41, "count")
	if err := s.AddImage(late); err != nil {
		t.Fatal(err)
	}
	address, _ := late.Symbol("count")
	stop, err := s.Call(address)
	if check(t, stop, err, Returned).Result != 41 {
		t.Error(stop)
	}
	returns(t, s, 47, "count")
	count, _ := i.Symbol("count")
	stop, err = other.Call(count)
	if check(t, stop, err, Returned).Result != 41 {
		t.Errorf("of the second image: %v", stop)
	}
}

func TestConstructors(t *testing.T) {
	i := load(t, "calls.c")
	s := newSession(t, i)
	returns(t, s, 0, "constructed")
	for _, address := range i.Constructors() {
		stop, err := s.Call(address)
		check(t, stop, err, Returned)
	}
	returns(t, s, 12, "constructed")
}

// Each method returns the expected error in each state.
func TestStates(t *testing.T) {
	i := load(t, "calls.c")
	loop := newFunction(t, "loop")
	extra := newFunction(t, "ret")
	type method struct {
		name string
		call func(*Session) error
		want [5]error // idle, running, stopped, exited, closed
	}
	at := symbol(t, newSession(t, i), "words")
	second := func(_ any, err error) error { return err }
	free := [5]error{nil, nil, nil, nil, ErrClosed}
	stopped := [5]error{ErrNotStopped, ErrRunning, nil, ErrNotStopped, ErrClosed}
	var word [8]byte
	methods := []method{
		{"Call", func(s *Session) error { return second(s.Call(at)) }, [5]error{nil, ErrRunning, ErrStopped, nil, ErrClosed}},
		{"CallMain", func(s *Session) error { return second(s.CallMain(at, nil, Arguments{})) }, [5]error{nil, ErrRunning, ErrStopped, nil, ErrClosed}},
		{"CallNested", func(s *Session) error { return second(s.CallNested(at, Arguments{})) }, stopped},
		{"Continue", func(s *Session) error { return second(s.Continue()) }, stopped},
		{"StepInstruction", func(s *Session) error { return second(s.StepInstruction()) }, stopped},
		{"StepLine", func(s *Session) error { return second(s.StepLine()) }, stopped},
		{"NextLine", func(s *Session) error { return second(s.NextLine()) }, stopped},
		{"NextInstruction", func(s *Session) error { return second(s.NextInstruction()) }, stopped},
		{"StepOut", func(s *Session) error { return second(s.StepOut(0)) }, stopped},
		{"StepRange", func(s *Session) error { return second(s.StepRange(at, at+1)) }, stopped},
		{"RunTo", func(s *Session) error { return second(s.RunTo(at)) }, stopped},
		{"Abort", func(s *Session) error { return second(s.Abort()) }, [5]error{ErrNotStopped, nil, nil, ErrNotStopped, ErrClosed}},
		{"Interrupt", func(s *Session) error { return s.Interrupt() }, [5]error{ErrNotRunning, nil, ErrNotRunning, ErrNotRunning, ErrClosed}},
		{"Stack", func(s *Session) error { return second(s.Stack(0)) }, stopped},
		{"Frame", func(s *Session) error { return second(s.Frame()) }, stopped},
		{"Registers", func(s *Session) error { return second(s.Registers()) }, [5]error{nil, ErrRunning, nil, nil, ErrClosed}},
		{"SetRegisters", func(s *Session) error { r, _ := s.Registers(); return s.SetRegisters(r) }, stopped},
		{"Register", func(s *Session) error { return second(s.Register("pc")) }, [5]error{nil, ErrRunning, nil, nil, ErrClosed}},
		{"ReadMemory", func(s *Session) error { return s.ReadMemory(word[:], at) }, free},
		{"WriteMemory", func(s *Session) error { return s.WriteMemory(word[:0], at) }, free},
		{"Break", func(s *Session) error { return second(s.Break(at, nil)) }, free},
		{"hardware Break", func(s *Session) error { return second(s.Break(at, &BreakpointOptions{Hardware: true})) }, [5]error{nil, ErrRunning, nil, nil, ErrClosed}},
		{"BreakAt", func(s *Session) error { return second(s.BreakAt("pair", nil)) }, free},
		{"Watch", func(s *Session) error { return second(s.Watch(at&^7, 8, Write, nil)) }, [5]error{nil, ErrRunning, nil, nil, ErrClosed}},
		{"Remove", func(s *Session) error { return s.Remove(99) }, [5]error{ErrNotFound, ErrNotFound, ErrNotFound, ErrNotFound, ErrClosed}},
		{"Enable", func(s *Session) error { return s.Enable(99, true) }, [5]error{ErrNotFound, ErrNotFound, ErrNotFound, ErrNotFound, ErrClosed}},
		{"Disassemble", func(s *Session) error { return second(s.Disassemble(at, 2)) }, free},
		{"AddImage", func(s *Session) error { return s.AddImage(extra) }, free},
		{"AddImage of nil", func(s *Session) error { return s.AddImage(nil) }, [5]error{ErrArguments, ErrArguments, ErrArguments, ErrArguments, ErrArguments}},
		{"AddImage again", func(s *Session) error { return s.AddImage(i) }, [5]error{ErrInUse, ErrInUse, ErrInUse, ErrInUse, ErrClosed}},
		{"RemoveImage", func(s *Session) error { return s.RemoveImage(i) }, [5]error{nil, ErrRunning, ErrStopped, nil, ErrClosed}},
		{"RemoveImage of another", func(s *Session) error { return s.RemoveImage(extra) }, [5]error{ErrNotFound, ErrRunning, ErrStopped, ErrNotFound, ErrClosed}},
		{"Close", func(s *Session) error { return s.Close() }, [5]error{}},
	}
	for _, m := range methods {
		t.Run(m.name, func(t *testing.T) {
			for state := Idle; state <= Closed; state++ {
				s := newSession(t, i, loop)
				done := make(chan error, 1)
				switch state {
				case Running:
					go func() { done <- second(s.Call(start(loop))) }()
					waitState(t, s, Running)
				case Stopped:
					stop, err := s.CallWith(at, Arguments{StopAtEntry: true})
					check(t, stop, err, AtEntry)
				case Exited:
					check(t, call(t, s, "words"), nil, Returned)
				case Closed:
					s.Close()
				}
				if s.State() != state {
					t.Fatalf("%v, want %v", s.State(), state)
				}
				if err := m.call(s); !errors.Is(err, m.want[state]) || (err != nil) != (m.want[state] != nil) {
					t.Errorf("%v: %v, want %v", state, err, m.want[state])
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if state == Running {
					<-done
				}
			}
		})
	}
}

// After exit_group the next call has another worker, and the results of previous calls are
// gone.
func TestCallAfterExit(t *testing.T) {
	i := newFunction(t, "exit")
	s := newSession(t, i, load(t, "calls.c"))
	if s.PID() == 0 {
		t.Error("no worker")
	}
	for _, code := range []uint64{0, 1, 255, 256 + 3} {
		stop, err := s.Call(start(i), code)
		if check(t, stop, err, ExitedProcess).ExitCode != int(code&0xff) || stop.Reason.Kind() != KindExit || stop.Err != nil {
			t.Error(stop)
		}
		if s.State() != Exited || s.PID() != 0 {
			t.Errorf("%v, worker %d", s.State(), s.PID())
		}
		if _, err := s.Continue(); !errors.Is(err, ErrNotStopped) {
			t.Error(err)
		}
		if _, err := s.Registers(); err != nil {
			t.Error(err)
		}
	}
	returns(t, s, 87654321, "words", 1, 2, 3, 4, 5, 6, 7, 8)
	returns(t, s, 41, "count") // of the new worker
	if s.PID() == 0 {
		t.Error("no worker")
	}
}

// Abort ends the current run and returns its result, also if the next run has begun before
// Abort checks.
func TestAbortBesideCalls(t *testing.T) {
	loop, ret := newFunction(t, "loop"), newFunction(t, "ret")
	s := newSession(t, loop, ret)
	for range 200 {
		aborted := make(chan struct{})
		go func() {
			defer close(aborted)
			stop, err := s.Abort()
			if err == nil && stop.Reason.Kind() != KindExit || err != nil && !errors.Is(err, ErrNotStopped) {
				t.Error(stop, err)
			}
		}()
		if _, err := s.Call(start(ret)); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Call(start(loop))
		}()
		<-aborted
		for done := false; !done; {
			select {
			case <-ended:
				done = true
			default:
				s.Abort()
			}
		}
	}
}

// If a call fails while it is aborted, both return the same error.
func TestAbortOfACallThatFails(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	host, err := NewHost("host", HostFunction{Name: "end", Call: func(*HostCall) error {
		close(entered)
		<-leave
		runtime.Goexit()
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	s := newSession(t, host)
	go s.Call(start(host))
	<-entered
	go func() { // leaves once Abort waits
		for aborted := false; !aborted; runtime.Gosched() {
			s.mu.Lock()
			aborted = s.aborted
			s.mu.Unlock()
		}
		close(leave)
	}()
	if stop, err := s.Abort(); stop != nil || !errors.Is(err, errGoexit) {
		t.Error(stop, err)
	}
}
