// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import "testing"

// The callers of a frame are the same, and there, however many frames were asked
// for.
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
