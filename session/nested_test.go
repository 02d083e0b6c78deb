// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/clewdev/clew/jit"
	"golang.org/x/sys/unix"
)

// inLeaf returns a session that is stopped in leaf, which outer has called, and the result that
// outer will have.
func inLeaf(t *testing.T, o *Options) (s *Session, result uint64) {
	t.Helper()
	o.Images = append(o.Images, load(t, "nested.c", "-O1"))
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Break(symbol(t, s, "inside"), nil); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(symbol(t, s, "outer"), 1000)
	check(t, stop, err, AtBreakpoint)
	return s, 7001
}

// allRegisters returns the bytes of every register.
func allRegisters(t *testing.T, s *Session) map[string][]byte {
	t.Helper()
	values := map[string][]byte{}
	for _, r := range s.RegisterInfos() {
		v, err := s.Register(r.Name)
		if err != nil {
			t.Fatal(err)
		}
		values[r.Name] = v
	}
	return values
}

// same fails the test unless the registers are the same.
func same(t *testing.T, s *Session, want map[string][]byte) {
	t.Helper()
	for name, v := range allRegisters(t, s) {
		if !bytes.Equal(v, want[name]) {
			t.Errorf("%s was %x and is %x", name, want[name], v)
		}
	}
}

func names(t *testing.T, s *Session) (list []string) {
	t.Helper()
	stack, err := s.Stack(0)
	if err != nil || stack.Err != nil {
		t.Fatal(err, stack)
	}
	for n, f := range stack.Frames {
		if f.Level != n || f.Marker != (f.Function.Name == NestedName) {
			t.Errorf("%+v", f)
		}
		list = append(list, f.Function.Name)
	}
	return list
}

func nested(t *testing.T, s *Session, name string, words ...uint64) (*Stop, error) {
	t.Helper()
	return s.CallNested(symbol(t, s, name), Arguments{Words: words})
}

// returnsNested fails the test unless a nested call has returned a result to the outer stop.
func returnsNested(t *testing.T, s *Session, stop *Stop, err error, outer *Stop, result uint64) {
	t.Helper()
	if check(t, stop, err, Returned); stop.Outer == nil || stop.Outer != outer || stop.Result != result || s.State() != Stopped {
		t.Fatalf("%v, outer %v, state %v; want the result %d and outer %v", stop, stop.Outer, s.State(), result, outer)
	}
}

// A nested call does not change the stopped call: neither its registers nor the memory below its
// stack pointer.
func TestCallNested(t *testing.T) {
	s, result := inLeaf(t, &Options{})
	outer := s.at
	before := allRegisters(t, s)
	for n := range uint64(3) {
		stop, err := nested(t, s, "clobber", n)
		returnsNested(t, s, stop, err, outer, n)
		same(t, s, before)
		stop, err = nested(t, s, "sum", 1, 2, 3, 4, 5, 6, 7, 8)
		returnsNested(t, s, stop, err, outer, 204)
	}
	same(t, s, before)
	if got := names(t, s); !slices.Equal(got, []string{"inside", "outer"}) && !slices.Equal(got, []string{"leaf", "outer"}) {
		t.Errorf("%q", got)
	}
	stop, err := s.Continue()
	if check(t, stop, err, Returned); stop.Result != result || stop.Outer != nil || s.State() != Exited {
		t.Errorf("%v, want %d", stop, result)
	}
	returns(t, s, 5, "clobber", 5)
}

// The results in floating-point registers remain readable after the return.
func TestCallNestedFloats(t *testing.T) {
	s, _ := inLeaf(t, &Options{})
	stop, err := s.CallNested(symbol(t, s, "divided"), Arguments{Floats: []float64{1, 4}})
	returnsNested(t, s, stop, err, s.at, stop.Result)
	names := map[string][2]string{"amd64": {"xmm0", "xmm1"}, "arm64": {"v0", "v1"}}[runtime.GOARCH]
	for n, want := range []float64{0.25, 4} {
		v, ok := stop.ResultRegister(names[n])
		if !ok || math.Float64frombits(jit.Host().Order.Uint64(v)) != want {
			t.Errorf("%s is %x, want %v", names[n], v, want)
		}
	}
	if stop.FloatResult != 0.25 {
		t.Error(stop.FloatResult)
	}
	if _, ok := stop.ResultRegister("rbx"); ok {
		t.Error("rbx holds no result of a call")
	}
	if runtime.GOARCH == "amd64" {
		stop, err := s.CallNested(symbol(t, s, "longer"), Arguments{Floats: []float64{1}})
		returnsNested(t, s, stop, err, s.at, stop.Result)
		if v, _ := stop.ResultRegister("st0"); !bytes.Equal(v, []byte{0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f}) {
			t.Errorf("st0 is %x", v)
		}
	}
}

// A nested call stops at a breakpoint, is stepped and finished. A call inside it is nested in both.
func TestCallNestedStops(t *testing.T) {
	s, result := inLeaf(t, &Options{})
	outer, before := s.at, allRegisters(t, s)
	b, err := s.BreakAt("step", nil)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := nested(t, s, "middle", 10)
	if check(t, stop, err, AtBreakpoint); stop.Breakpoint != b || stop.Outer != nil || s.Nested() != 1 {
		t.Fatalf("%+v, %d nested", stop, s.Nested())
	}
	leaf := names(t, s)[3]
	if got, want := names(t, s), []string{"step", "middle", NestedName, leaf, "outer"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	inner, first := s.at, allRegisters(t, s)

	// Twice nested, and aborted.
	stop, err = nested(t, s, "step", 20)
	check(t, stop, err, AtBreakpoint)
	if got, want := names(t, s), []string{"step", NestedName, "step", "middle", NestedName, leaf, "outer"}; !slices.Equal(got, want) || s.Nested() != 2 {
		t.Errorf("%q, want %q; %d nested", got, want, s.Nested())
	}
	for limit := 1; limit < 8; limit++ {
		stack, err := s.Stack(limit)
		if err != nil || len(stack.Frames) != min(limit, 7) || stack.limited != (limit < 7) {
			t.Errorf("limit %d: %d frames, %v, %v", limit, len(stack.Frames), stack.limited, err)
		}
		last := &stack.Frames[len(stack.Frames)-1]
		if caller := last.Caller(); (caller != nil) != (limit < 7) {
			t.Errorf("frame %d has the caller %v", last.Level, caller)
		}
	}
	stop, err = s.Abort()
	if check(t, stop, err, Aborted); stop.Outer != inner || s.State() != Stopped {
		t.Fatalf("%+v, %v", stop, s.State())
	}
	same(t, s, first)

	// Steps leave the function at the end, and the nested call with it.
	stop, err = s.StepOut(0)
	check(t, stop, err, SteppedOut)
	if got := names(t, s)[0]; got != "middle" {
		t.Errorf("in %s", got)
	}
	for _, level := range []int{1, 2, 3} {
		if _, err := s.StepOut(level); !errors.Is(err, ErrStopped) {
			t.Errorf("frame %d: %v", level, err)
		}
	}
	for stop, err = s.NextLine(); err == nil && stop.Reason == SteppedOver; {
		stop, err = s.NextLine()
	}
	returnsNested(t, s, stop, err, outer, 23)
	same(t, s, before)
	if _, err := nested(t, s, "step", 1); err != nil || s.Nested() != 1 {
		t.Fatal(err)
	}
	stop, err = s.StepOut(0)
	returnsNested(t, s, stop, err, outer, 4)
	stop, err = s.CallNested(symbol(t, s, "clobber"), Arguments{Words: []uint64{3}, StopAtEntry: true})
	check(t, stop, err, AtEntry)
	for err == nil && stop.Reason != Returned {
		stop, err = s.StepInstruction()
	}
	returnsNested(t, s, stop, err, outer, 3)
	same(t, s, before)
	stop, err = s.Continue()
	if check(t, stop, err, Returned).Result != result {
		t.Error(stop)
	}
}

// A fault in a nested call is aborted, or repaired. A call where a fault stopped the outer call is
// possible, and its instruction can be executed again.
func TestCallNestedFaults(t *testing.T) {
	s := newSession(t, load(t, "nested.c", "-O1"))
	outer, err := s.Call(symbol(t, s, "load"), 0x10)
	check(t, outer, err, Signalled)
	before := allRegisters(t, s)
	stop, err := nested(t, s, "load", 0x20)
	if check(t, stop, err, Signalled); stop.Signal.Address != 0x20 || stop.Outer != nil {
		t.Errorf("%+v", stop)
	}
	if got, want := names(t, s), []string{"load", NestedName, "load"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	stop, err = s.Abort()
	if check(t, stop, err, Aborted); stop.Outer != outer {
		t.Errorf("%+v", stop)
	}
	same(t, s, before)
	stop, err = s.Continue() // the same fault again
	if check(t, stop, err, Signalled); stop.Signal != outer.Signal {
		t.Errorf("%+v", stop)
	}

	stop, err = nested(t, s, "load", 0x20)
	check(t, stop, err, Signalled)
	r, err := s.Registers()
	if err != nil {
		t.Fatal(err)
	}
	at := symbol(t, s, "turns")
	r.Set(argument, at)
	if err := s.SetRegisters(r); err != nil {
		t.Fatal(err)
	}
	// Registers of the outer call can be set meanwhile.
	stack, err := s.Stack(0)
	if err != nil {
		t.Fatal(err)
	}
	column := uint64(map[string]int{"amd64": 5, "arm64": 0}[runtime.GOARCH])
	if err := stack.Frames[2].SetRegister(column, at); err != nil {
		t.Fatal(err)
	}
	if err := stack.Frames[1].SetRegister(column, at); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	stop, err = s.Continue()
	if check(t, stop, err, Returned); stop.Outer == nil {
		t.Errorf("%+v", stop)
	}
	if r, _ = s.Registers(); func() uint64 { v, _ := r.Get(argument); return v }() != at {
		t.Errorf("%s of the outer call is not set", argument)
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)
	if s.State() != Exited {
		t.Error(s.State())
	}
}

// A call that has no stack to run on is refused, and nothing changes.
func TestCallNestedWithoutAStack(t *testing.T) {
	s := newSession(t, load(t, "nested.c", "-O0"))
	stop, err := s.Call(symbol(t, s, "overflow"))
	check(t, stop, err, Signalled)
	before := allRegisters(t, s)
	r, err := s.Registers()
	if err != nil {
		t.Fatal(err)
	}
	for _, sp := range []uint64{r.SP() - 64<<10, 0, 64, 1 << 63, symbol(t, s, "step")} {
		bad := r
		bad.Set("sp", sp)
		if err := s.SetRegisters(bad); err != nil {
			t.Fatal(err)
		}
		if _, err := nested(t, s, "step", 1); !errors.Is(err, ErrAddress) || s.State() != Stopped || s.Nested() != 0 {
			t.Errorf("stack pointer %#x: %v, %v", sp, err, s.State())
		}
		if err := s.SetRegisters(r); err != nil {
			t.Fatal(err)
		}
	}
	same(t, s, before)
	if _, err := s.CallNested(0x1234, Arguments{}); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
	if _, err := s.CallNested(symbol(t, s, "step"), Arguments{Words: make([]uint64, 9)}); !errors.Is(err, ErrArguments) {
		t.Error(err)
	}
	stop, err = s.Abort()
	check(t, stop, err, Aborted)
	if stop.Outer != nil || s.State() != Exited {
		t.Error(stop, s.State())
	}
	if _, err := nested(t, s, "step", 1); !errors.Is(err, ErrNotStopped) {
		t.Error(err)
	}
}

// The number of nested calls is limited.
func TestCallNestedDeeply(t *testing.T) {
	s, result := inLeaf(t, &Options{})
	before := allRegisters(t, s)
	if _, err := s.BreakAt("step", nil); err != nil {
		t.Fatal(err)
	}
	for n := range uint64(maxNested) {
		stop, err := nested(t, s, "step", n)
		check(t, stop, err, AtBreakpoint)
	}
	if _, err := nested(t, s, "step", 1); !errors.Is(err, ErrStopped) || s.Nested() != maxNested {
		t.Errorf("%v, %d nested", err, s.Nested())
	}
	if got := len(names(t, s)); got != 2*maxNested+2 {
		t.Errorf("%d frames", got)
	}
	for n := range uint64(maxNested) {
		stop, err := s.Continue()
		returnsNested(t, s, stop, err, s.at, 2*(maxNested-n))
	}
	same(t, s, before)
	stop, err := s.Continue()
	if check(t, stop, err, Returned).Result != result {
		t.Error(stop)
	}
}

// An endless nested call is interrupted, or aborted by another goroutine.
func TestCallNestedForever(t *testing.T) {
	s, result := inLeaf(t, &Options{})
	before := allRegisters(t, s)
	for _, end := range []struct {
		name   string
		stop   func() error
		reason Reason
	}{
		{"Interrupt", s.Interrupt, Interrupted},
		{"Abort", func() error { _, err := s.Abort(); return err }, Aborted},
	} {
		t.Run(end.name, func(t *testing.T) {
			forever := symbol(t, s, "forever")
			done := make(chan error, 1)
			go func() {
				waitState(t, s, Running)
				time.Sleep(10 * time.Millisecond)
				done <- end.stop()
			}()
			stop, err := s.CallNested(forever, Arguments{})
			check(t, stop, err, end.reason)
			if err := <-done; err != nil {
				t.Error(err)
			}
			if end.reason == Interrupted {
				if got := names(t, s); got[0] != "forever" || got[1] != NestedName || got[len(got)-1] != "outer" {
					t.Errorf("%q", got)
				}
				stop, err = s.Abort()
				check(t, stop, err, Aborted)
			}
			if stop.Outer == nil || s.State() != Stopped {
				t.Errorf("%+v, %v", stop, s.State())
			}
			same(t, s, before)
		})
	}
	stop, err := s.Continue()
	if check(t, stop, err, Returned).Result != result {
		t.Error(stop)
	}
}

// The end of the worker in a nested call ends all calls. Close works in a nested call, and while one
// runs.
func TestCallNestedEnds(t *testing.T) {
	exit := newFunction(t, "exit")
	host, err := NewHost("host", HostFunction{"quit", func(*HostCall) error { return &ExitError{3} }},
		HostFunction{"goexit", func(*HostCall) error { runtime.Goexit(); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	for _, end := range []struct {
		name string
		call func(t *testing.T, s *Session)
	}{
		{"exit_group", func(t *testing.T, s *Session) {
			stop, err := s.CallNested(start(exit), Arguments{Words: []uint64{4}})
			if check(t, stop, err, ExitedProcess); stop.ExitCode != 4 || stop.Outer != nil {
				t.Errorf("%+v", stop)
			}
		}},
		{"ExitError", func(t *testing.T, s *Session) {
			stop, err := nested(t, s, "quit")
			if check(t, stop, err, ExitedProcess); stop.ExitCode != 3 || stop.Outer != nil {
				t.Errorf("%+v", stop)
			}
		}},
		{"Goexit", func(t *testing.T, s *Session) {
			if _, err := nested(t, s, "goexit"); !errors.Is(err, errGoexit) {
				t.Error(err)
			}
		}},
		{"killed", func(t *testing.T, s *Session) {
			stop, err := nested(t, s, "load", 1)
			check(t, stop, err, Signalled)
			kill(t, s, unix.SIGKILL)
			eventually(t, "the worker is dead", func() bool { return processState(s.PID()) == 'Z' })
			names(t, s)
			stop, err = s.Continue()
			check(t, stop, err, ExitedProcess)
		}},
		{"killed before", func(t *testing.T, s *Session) {
			kill(t, s, unix.SIGKILL)
			eventually(t, "the worker is dead", func() bool { return processState(s.PID()) == 'Z' })
			stop, err := nested(t, s, "step", 1)
			check(t, stop, err, ExitedProcess)
		}},
		{"killed and aborted", func(t *testing.T, s *Session) {
			stop, err := nested(t, s, "load", 1)
			check(t, stop, err, Signalled)
			kill(t, s, unix.SIGKILL)
			eventually(t, "the worker is dead", func() bool { return processState(s.PID()) == 'Z' })
			stop, err = s.Abort()
			if check(t, stop, err, Aborted); stop.Outer == nil || s.State() != Stopped {
				t.Errorf("%+v, %v", stop, s.State())
			}
			stop, err = s.Continue()
			check(t, stop, err, ExitedProcess)
		}},
		{"killed while it runs", func(t *testing.T, s *Session) {
			go func() {
				waitState(t, s, Running)
				kill(t, s, unix.SIGKILL)
			}()
			stop, err := nested(t, s, "forever")
			check(t, stop, err, ExitedProcess)
		}},
	} {
		t.Run(end.name, func(t *testing.T) {
			s, result := inLeaf(t, &Options{Images: []*Image{exit, host}})
			end.call(t, s)
			if s.State() != Exited || s.Nested() != 0 {
				t.Errorf("%v, %d nested", s.State(), s.Nested())
			}
			returns(t, s, 22, "step", 10)
			stop, err := s.Call(symbol(t, s, "outer"), 1000)
			check(t, stop, err, AtBreakpoint)
			stop, err = nested(t, s, "step", 1)
			returnsNested(t, s, stop, err, s.at, 4)
			stop, err = s.Continue()
			if check(t, stop, err, Returned).Result != result {
				t.Error(stop)
			}
		})
	}
	t.Run("Close", func(t *testing.T) {
		s, _ := inLeaf(t, &Options{})
		stop, err := nested(t, s, "load", 1)
		check(t, stop, err, Signalled)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		s, _ = inLeaf(t, &Options{})
		go func() {
			waitState(t, s, Running)
			s.Close()
		}()
		if _, err := nested(t, s, "forever"); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

// A session of a locked goroutine is called nested by that goroutine only. A call in a function that
// a nested call stops at a host function's error.
func TestCallNestedLocked(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	failed := errors.New("failed")
	host, err := NewHost("host", HostFunction{"fail", func(c *HostCall) error { c.Return(9); return failed }})
	if err != nil {
		t.Fatal(err)
	}
	s, result := inLeaf(t, &Options{Locked: true, Images: []*Image{host}})
	t.Cleanup(func() { host.Close() })
	before, outer := allRegisters(t, s), s.at
	stop, err := nested(t, s, "fail")
	if check(t, stop, err, HostFailed); !errors.Is(stop.Err, failed) {
		t.Error(stop)
	}
	for _, call := range []func() (*Stop, error){s.Abort, func() (*Stop, error) { return nested(t, s, "step", 1) }} {
		done := make(chan error)
		go func() {
			_, err := call()
			done <- err
		}()
		if err := <-done; !errors.Is(err, ErrThread) {
			t.Error(err)
		}
	}
	stop, err = s.Continue()
	returnsNested(t, s, stop, err, outer, 9)
	same(t, s, before)
	stop, err = s.Continue()
	if check(t, stop, err, Returned).Result != result {
		t.Error(stop)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A hardware breakpoint and a watchpoint stop nested calls, and a stopped call is not stopped again at
// the place where it is.
func TestCallNestedHardware(t *testing.T) {
	s := newSession(t, load(t, "nested.c", "-O1"))
	b, err := s.Break(symbol(t, s, "inside"), &BreakpointOptions{Hardware: true})
	if errors.Is(err, ErrInUse) {
		t.Skipf("skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Watch(symbol(t, s, "turns"), 8, Write, nil)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := s.Call(symbol(t, s, "outer"), 1000)
	if check(t, outer, err, AtBreakpoint); outer.Breakpoint != b {
		t.Fatal(outer)
	}
	before := allRegisters(t, s)
	stop, err := nested(t, s, "clobber", 5)
	returnsNested(t, s, stop, err, outer, 5)
	stop, err = nested(t, s, "leaf", 2)
	if check(t, stop, err, AtBreakpoint); stop.Breakpoint != b || b.Hits() != 2 {
		t.Errorf("%v, %d hits", stop, b.Hits())
	}
	stop, err = s.Continue()
	returnsNested(t, s, stop, err, outer, 13)
	same(t, s, before)
	stop, err = nested(t, s, "forever")
	if check(t, stop, err, AtWatchpoint); stop.Watchpoint != w || s.Nested() != 1 {
		t.Errorf("%+v", stop)
	}
	stop, err = s.Abort()
	check(t, stop, err, Aborted)
	same(t, s, before)
	stop, err = s.Continue()
	if check(t, stop, err, Returned); stop.Result != 7001 || b.Hits() != 2 {
		t.Errorf("%v, %d hits", stop, b.Hits())
	}
}
