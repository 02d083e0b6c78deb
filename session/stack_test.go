// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"testing"

	"github.com/clewdev/clew/cfi"
)

// The callers of a frame do not depend on the requested number of frames.
func TestCallers(t *testing.T) {
	s := newSession(t, load(t, "loops.c"))
	if _, err := s.Break(symbol(t, s, "fib"), &BreakpointOptions{Skip: 5}); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(symbol(t, s, "fib"), 12)
	check(t, stop, err, AtBreakpoint)
	all, err := s.Stack(0)
	if err != nil || len(all.Frames) < 4 {
		t.Fatal(len(all.Frames), err)
	}
	f, err := s.Frame()
	if err != nil {
		t.Fatal(err)
	}
	for n := range all.Frames {
		if want := &all.Frames[n]; f == nil || f.PC != want.PC || f.Level != n || f.Function != want.Function {
			t.Fatalf("frame %d is %+v, want %+v", n, f, want)
		}
		f, _ = f.Caller().(*Frame)
	}
	if f != nil {
		t.Errorf("%+v called the outermost function", f)
	}
}

// If a called function has saved a register of a frame, setting it changes the saved value, not
// the worker.
func TestSetSavedRegister(t *testing.T) {
	s := newSession(t, load(t, "loops.c"))
	if _, err := s.Break(symbol(t, s, "fib"), &BreakpointOptions{Skip: 5}); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(symbol(t, s, "fib"), 12)
	check(t, stop, err, AtBreakpoint)
	stack, err := s.Stack(0)
	if err != nil || len(stack.Frames) < 4 {
		t.Fatal(stack, err)
	}
	called, f := &stack.Frames[1], &stack.Frames[2]
	rules, err := called.Image.rules().Rules(called.LookupPC)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := s.Registers()
	set := 0
	for _, r := range rules.Registers {
		column := uint64(r.Column)
		if r.Kind != cfi.Offset || column == rules.ReturnAddress || !s.machine.CalleeSaved(column) {
			continue
		}
		set++
		v := 0x1000 + column
		if err := f.SetRegister(column, v); err != nil {
			t.Fatal(err)
		}
		again, err := s.Stack(0)
		if err != nil || len(again.Frames) < 3 {
			t.Fatal(again, err)
		}
		if got, ok := again.Frames[2].Register(column); got != v || !ok {
			t.Errorf("column %d of frame 2 is %#x (%v), want %#x", column, got, ok, v)
		}
	}
	if after, _ := s.Registers(); after != before {
		t.Errorf("the worker has %+v, had %+v", after, before)
	}
	if set == 0 {
		t.Errorf("fib saves nothing: %+v", rules)
	}
}
