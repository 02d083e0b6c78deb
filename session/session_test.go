// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"runtime"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"golang.org/x/sys/unix"
)

// newFunction returns the image of a function for this machine.
func newFunction(t testing.TB, name string) *Image {
	t.Helper()
	return newCode(t, name, functionOf(name).text)
}

// newCode returns a function in memory, which is freed after the test.
func newCode(t testing.TB, name string, text []byte) *Image {
	t.Helper()
	memory, err := jit.NewMemory(len(text))
	if err != nil {
		t.Fatal(err)
	}
	copy(memory.Bytes(), text)
	if err := memory.Seal(); err != nil {
		t.Fatal(err)
	}
	unwind, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).Program()
	if err != nil {
		t.Fatal(err)
	}
	i, err := NewImage(&jit.Code{Name: name, Address: memory.Address(), Text: memory.Bytes()[:len(text)],
		Functions: []jit.Function{{Name: name, Size: uint64(len(text)), Unwind: unwind}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(i.Close(), memory.Close()); err != nil {
			t.Error(err)
		}
	})
	return i
}

func start(i *Image) uint64 { return i.Ranges()[0].Start }

func newSession(t testing.TB, images ...*Image) *Session {
	t.Helper()
	s, err := New(&Options{Images: images})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// check fails the test unless a stop has the reason.
func check(t testing.TB, stop *Stop, err error, reason Reason) *Stop {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if stop.Reason != reason {
		t.Fatalf("%v, want %v", stop, reason)
	}
	return stop
}

func TestCall(t *testing.T) {
	s := newSession(t, newFunction(t, "add"))
	for n := range uint64(3) {
		stop, err := s.Call(start(s.Images()[0]), 1<<40, n)
		if check(t, stop, err, Returned).Result != 1<<40+n {
			t.Errorf("%v", stop)
		}
		if s.State() != Exited {
			t.Error(s.State())
		}
	}
}

func TestBreakpoint(t *testing.T) {
	i := newFunction(t, "sum")
	loop := start(i) + functionOf("sum").at[1]
	s := newSession(t, i)
	b, err := s.Break(loop, &BreakpointOptions{Skip: 2, Max: 3})
	if err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(start(i), 10)
	for n := range 3 {
		if check(t, stop, err, AtBreakpoint).PC != loop || stop.Breakpoint != b || b.Hits() != 3+n {
			t.Fatalf("%v, %d hits", stop, b.Hits())
		}
		r, e := s.Registers()
		if e != nil {
			t.Fatal(e)
		}
		if v, _ := r.Get(argument); v != uint64(8-n) {
			t.Fatalf("%s is %d", argument, v)
		}
		stop, err = s.Continue()
	}
	if check(t, stop, err, Returned).Result != 55 {
		t.Error(stop)
	}
	if len(s.Breakpoints()) != 0 {
		t.Error("still there")
	}
}

func TestStep(t *testing.T) {
	i := newFunction(t, "sum")
	at := functionOf("sum").at
	s := newSession(t, i)
	if _, err := s.Break(start(i)+at[2], nil); err != nil {
		t.Fatal(err)
	}
	stop, err := s.CallWith(start(i), Arguments{Words: []uint64{2}, StopAtEntry: true})
	check(t, stop, err, AtEntry)
	for n, want := range append([]uint64{at[1], at[2], at[3]}, at[1:]...) {
		stop, err := s.StepInstruction()
		reason := SteppedInstruction
		if want == at[2] {
			reason = AtBreakpoint
		}
		if check(t, stop, err, reason).PC != start(i)+want {
			t.Fatalf("step %d: %v", n, stop)
		}
	}
	stop, err = s.StepInstruction()
	if check(t, stop, err, Returned).Result != 3 {
		t.Error(stop)
	}
}

func TestSignal(t *testing.T) {
	i := newFunction(t, "load")
	s := newSession(t, i)
	stop, err := s.Call(start(i), 0x10)
	check(t, stop, err, Signalled)
	if stop.PC != start(i) || stop.Signal != (Signal{int(unix.SIGSEGV), 1, 0x10}) {
		t.Fatalf("%+v", stop)
	}
	stack, err := s.Stack(0)
	if err != nil || len(stack.Frames) != 1 || stack.Frames[0].Function.Name != "load" || stack.Err != nil {
		t.Fatalf("%+v, %v", stack, err)
	}
	r, err := s.Registers()
	if err != nil {
		t.Fatal(err)
	}
	r.Set(argument, r.SP()-8)
	if err := s.SetRegisters(r); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)

	stop, err = s.Call(start(i), 0x10)
	check(t, stop, err, Signalled)
	stop, err = s.Abort()
	if check(t, stop, err, Aborted).ExitCode != -1 {
		t.Error(stop)
	}
	stop, err = s.Call(start(i), r.SP()-8)
	check(t, stop, err, Returned)
}

func TestHost(t *testing.T) {
	var got uint64
	host, err := NewHost("host", HostFunction{Name: "double", Call: func(c *HostCall) error {
		got = c.Word(0)
		c.Return(got * 2)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	i := newFunction(t, "caller")
	s, err := New(&Options{Images: []*Image{i, host}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	double, ok := s.Symbol("double")
	if !ok {
		t.Fatal("no double")
	}
	stop, err := s.Call(start(i), 21, double)
	if check(t, stop, err, Returned).Result != 43 || got != 21 {
		t.Error(stop)
	}
	stop, err = s.Call(double, 4)
	if check(t, stop, err, Returned).Result != 8 {
		t.Error(stop)
	}
}

func TestInterrupt(t *testing.T) {
	i := newFunction(t, "loop")
	s := newSession(t, i)
	for range 5 {
		done := make(chan error)
		go func() {
			for s.State() != Running {
			}
			done <- s.Interrupt()
		}()
		stop, err := s.Call(start(i))
		check(t, stop, err, Interrupted)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if stop.PC != start(i) {
			t.Error(stop)
		}
		if err := s.Interrupt(); !errors.Is(err, ErrNotRunning) {
			t.Error(err)
		}
		if _, err := s.Abort(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExit(t *testing.T) {
	i := newFunction(t, "exit")
	s := newSession(t, i)
	for range 3 {
		stop, err := s.Call(start(i), 7)
		if check(t, stop, err, ExitedProcess).ExitCode != 7 {
			t.Error(stop)
		}
	}
}

// locked runs a benchmark with a session that has its own thread, and with Options.Locked.
func locked(b *testing.B, f func(b *testing.B, o Options)) {
	b.Run("thread", func(b *testing.B) { f(b, Options{}) })
	b.Run("locked", func(b *testing.B) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		f(b, Options{Locked: true})
	})
}

func BenchmarkCall(b *testing.B) {
	locked(b, func(b *testing.B, o Options) {
		i := newFunction(b, "ret")
		o.Images = []*Image{i}
		s, err := New(&o)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Call(start(i)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkStep(b *testing.B) {
	locked(b, func(b *testing.B, o Options) {
		i := newFunction(b, "loop")
		o.Images = []*Image{i}
		s, err := New(&o)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		s.CallWith(start(i), Arguments{StopAtEntry: true})
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.StepInstruction(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkBreakpoint(b *testing.B) {
	locked(b, func(b *testing.B, o Options) {
		i := newFunction(b, "nop loop")
		o.Images = []*Image{i}
		s, err := New(&o)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		s.Break(start(i), nil)
		s.Call(start(i))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Continue(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkIgnored(b *testing.B) {
	i := newFunction(b, "nop loop")
	s := newSession(b, i)
	n := 0
	s.Break(start(i), &BreakpointOptions{Condition: func(*Frame) (bool, error) { n--; return n <= 0, nil }})
	s.Call(start(i))
	b.ReportAllocs()
	b.ResetTimer()
	n = b.N
	if _, err := s.Continue(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkNewClose(b *testing.B) {
	for b.Loop() {
		s, err := New(nil)
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
