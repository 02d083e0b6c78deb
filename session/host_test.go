// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// newHost is NewHost for a test.
func newHost(t testing.TB, functions ...HostFunction) *Image {
	t.Helper()
	i, err := NewHost("host", functions...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	})
	return i
}

// hosted loads hosts.c with functions that it imports.
func hosted(t testing.TB, functions ...HostFunction) (*Session, *Image) {
	t.Helper()
	given := map[string]bool{}
	for _, f := range functions {
		given[f.Name] = true
	}
	for _, name := range []string{"many", "mixed", "text", "again", "fail"} {
		if !given[name] {
			functions = append(functions, HostFunction{Name: name, Call: func(*HostCall) error { return nil }})
		}
	}
	host := newHost(t, functions...)
	i := loadWith(t, &ImageOptions{Imports: []*Image{host}}, "hosts.c")
	return newSession(t, host, i), host
}

func TestHostArguments(t *testing.T) {
	var words []uint64
	var floats []float64
	var text string
	s, _ := hosted(t,
		HostFunction{Name: "many", Call: func(c *HostCall) error {
			words = nil
			for n := range 10 {
				words = append(words, c.Word(n))
			}
			c.Return(c.Word(9) << 32)
			return nil
		}},
		HostFunction{Name: "mixed", Call: func(c *HostCall) error {
			words = []uint64{c.Word(0), c.Word(1)}
			floats = []float64{c.Float(0), float64(math.Float32frombits(uint32(math.Float64bits(c.Float(1)))))}
			c.ReturnFloat(floats[0] / 2)
			return nil
		}},
		HostFunction{Name: "text", Call: func(c *HostCall) (err error) {
			text, err = c.ReadString(c.Word(0), 100)
			if err == nil {
				err = c.WriteMemory([]byte{'!'}, c.Word(0))
			}
			var first [1]byte
			if err == nil {
				err = c.ReadMemory(first[:], c.Word(0))
			}
			c.Return(uint64(first[0]))
			return err
		}},
	)
	returns(t, s, 10<<32, "callMany")
	if got := fmt.Sprint(words); got != "[1 2 3 4 5 6 7 8 9 10]" {
		t.Error(got)
	}
	stop := call(t, s, "callMixed")
	if stop.FloatResult != 2.75 || words[0] != ^uint64(0) || words[1] != 7 || floats[0] != 3.5 || floats[1] != 0.25 {
		t.Errorf("%v, %v, %v", stop.FloatResult, words, floats)
	}
	returns(t, s, '!'+'!', "callText")
	if text != "text of C" {
		t.Errorf("%q", text)
	}
}

// An error, a panic, and an argument that cannot be read are stops. A resume returns to the
// code.
func TestHostFails(t *testing.T) {
	failure := errors.New("failure")
	how := 0
	s, _ := hosted(t, HostFunction{Name: "fail", Call: func(c *HostCall) error {
		c.Return(5)
		switch how {
		case 0:
			return failure
		case 1:
			panic(failure)
		case 2:
			_ = []int{}[how]
		case 3:
			_, err := c.ReadString(0x10, 5)
			return err
		case 4:
			runtime.Goexit()
		case 5:
			c.Float(99)
		case 6:
			panic(nil)
		}
		return nil
	}})
	for how = range 8 {
		stop, err := s.Call(symbol(t, s, "callFail"))
		if how == 4 {
			if !errors.Is(err, errGoexit) || s.State() != Exited || s.PID() != 0 {
				t.Errorf("%v, %v", stop, err)
			}
			continue
		}
		if how == 7 {
			check(t, stop, err, Returned)
			continue
		}
		check(t, stop, err, HostFailed)
		if stop.Err == nil || how == 0 && !errors.Is(stop.Err, failure) || how == 1 && !strings.Contains(stop.Err.Error(), "fail: panic: failure") || stop.Reason.Kind() != KindSignal {
			t.Errorf("%d: %v", how, stop.Err)
		}
		if stack, err := s.Stack(0); err != nil || len(stack.Frames) != 2 || stack.Frames[1].Function.Name != "callFail" {
			t.Errorf("%+v, %v", stack, err)
		}
		stop, err = s.Continue()
		if check(t, stop, err, Returned).Result != 6 {
			t.Error(stop)
		}
	}
}

// While a host function runs, others interrupt, abort and close.
func TestHostTakesLong(t *testing.T) {
	entered, leave := make(chan bool), make(chan bool)
	s, _ := hosted(t, HostFunction{Name: "again", Call: func(c *HostCall) error {
		entered <- true
		<-leave
		return nil
	}})
	type result struct {
		stop *Stop
		err  error
	}
	results := make(chan result)
	run := func(f func() (*Stop, error)) {
		stop, err := f()
		results <- result{stop, err}
	}
	start := func() (*Stop, error) { return s.Call(symbol(t, s, "callAgain"), 3) }
	go run(start)
	<-entered
	if s.State() != Running {
		t.Error(s.State())
	}
	if err := s.Interrupt(); err != nil {
		t.Fatal(err)
	}
	leave <- true
	if r := <-results; r.err != nil || r.stop.Reason != Interrupted {
		t.Fatal(r)
	}
	go run(s.Continue)
	<-entered
	aborted := make(chan result)
	go func() {
		stop, err := s.Abort()
		aborted <- result{stop, err}
	}()
	eventually(t, "the abort is seen", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.aborted })
	leave <- true
	if r, a := <-results, <-aborted; r.err != nil || r.stop.Reason != Aborted || a.stop != r.stop {
		t.Fatal(r, a)
	}
	go run(start)
	<-entered
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	waitState(t, s, Closed)
	select {
	case err := <-closed:
		t.Errorf("closed while a host function runs: %v", err)
	default:
	}
	leave <- true
	if r := <-results; !errors.Is(r.err, ErrClosed) {
		t.Error(r)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// Breakpoints, steps and runs to host functions, also deep in a recursion.
func TestHostBreakpoint(t *testing.T) {
	calls := 0
	s, host := hosted(t, HostFunction{Name: "again", Call: func(c *HostCall) error {
		calls++
		c.Return(c.Word(0))
		return nil
	}})
	again := symbol(t, s, "again")
	b, err := s.BreakAt("again", &BreakpointOptions{Condition: func(f *Frame) (bool, error) { return word(f, 0)%100 == 0, nil }})
	if err != nil || b.Addresses[0] != again {
		t.Fatal(b, err)
	}
	stop := call(t, s, "callDeep", 500)
	for n := 100; n <= 500; n += 100 {
		if check(t, stop, nil, AtBreakpoint).PC != again || calls != n-1 {
			t.Fatalf("%v after %d calls", stop, calls)
		}
		stack, err := s.Stack(0)
		if err != nil || len(stack.Frames) != 502-n || stack.Frames[1].Function.Name != "callDeep" {
			t.Fatalf("%d frames, %v", len(stack.Frames), err)
		}
		// A step executes the function.
		stop, err = s.StepInstruction()
		if check(t, stop, err, SteppedInstruction); calls != n {
			t.Fatalf("%v after %d calls", stop, calls)
		}
		if stop, err = s.Continue(); err != nil {
			t.Fatal(err)
		}
	}
	if check(t, stop, nil, Returned); calls != 500 || b.Hits() != 5 {
		t.Errorf("%d calls, %d hits", calls, b.Hits())
	}
	if err := s.Remove(b.ID); err != nil {
		t.Fatal(err)
	}
	stop, err = s.CallWith(symbol(t, s, "callDeep"), Arguments{Words: []uint64{2}, StopAtEntry: true})
	check(t, stop, err, AtEntry)
	for range 2 {
		stop, err = s.RunTo(again)
		if check(t, stop, err, RanTo).PC != again {
			t.Fatal(stop)
		}
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)
	if !host.IsHost() {
		t.Error("not a host's image")
	}
}

// Many sessions call one function at once.
func TestHostOfManySessions(t *testing.T) {
	var mu sync.Mutex
	sum := uint64(0)
	host := newHost(t, HostFunction{Name: "add", Call: func(c *HostCall) error {
		mu.Lock()
		defer mu.Unlock()
		sum += c.Word(0)
		c.Return(c.Word(0) * 2)
		return nil
	}})
	caller := newFunction(t, "caller")
	add := symbolOf(t, host, "add")
	var wait sync.WaitGroup
	for n := range uint64(20) {
		s := newSession(t, host, caller)
		wait.Go(func() {
			for range 20 {
				stop, err := s.Call(start(caller), n, add)
				if err != nil || stop.Reason != Returned || stop.Result != 2*n+1 {
					t.Error(stop, err)
				}
			}
		})
	}
	wait.Wait()
	if sum != 190*20 {
		t.Error(sum)
	}
	if _, err := NewHost("none", HostFunction{Name: "nothing"}); err == nil {
		t.Error("a function without Call")
	}
}

// Code may use memory of Go's heap while the program keeps it alive.
func TestHeapMemory(t *testing.T) {
	s := newSession(t, newFunction(t, "store"))
	var garbage [][]byte
	for n := range uint64(200) {
		p := make([]uint64, 1+n)
		var pin runtime.Pinner
		pin.Pin(&p[n])
		stop, err := s.Call(start(s.Images()[0]), uint64(uintptr(unsafe.Pointer(&p[n]))), n)
		check(t, stop, err, Returned)
		garbage = append(garbage, make([]byte, 10000))
		if n%20 == 0 {
			garbage = nil
			runtime.GC()
		}
		if p[n] != n {
			t.Fatalf("%d, want %d", p[n], n)
		}
		pin.Unpin()
	}
	runtime.KeepAlive(garbage)
}
