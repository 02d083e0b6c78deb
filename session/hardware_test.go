// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"testing"
)

// A hardware breakpoint stops at its first hit, also at the return address of calls, which
// is in no image. A call that was stopped there returns after a resume.
func TestHardwareBreakpoint(t *testing.T) {
	i := newFunction(t, "sum")
	loop := start(i) + functionOf("sum").at[1]
	s := newSession(t, i)
	end := returnAddress(s.ReturnImage())
	if _, err := s.Break(end, nil); !errors.Is(err, ErrAddress) {
		t.Errorf("a trap outside of the images: %v", err)
	}
	for _, address := range []uint64{loop, end} {
		if _, err := s.Break(address, &BreakpointOptions{Hardware: true}); err != nil {
			t.Fatal(err)
		}
	}
	stop, err := s.Call(start(i), 3)
	for range 3 {
		if check(t, stop, err, AtBreakpoint).PC != loop {
			t.Fatal(stop)
		}
		stop, err = s.Continue()
	}
	if check(t, stop, err, AtBreakpoint).PC != end || s.State() != Stopped {
		t.Fatalf("%v, %v", stop, s.State())
	}
	stop, err = s.Continue()
	if check(t, stop, err, Returned).Result != 6 {
		t.Error(stop)
	}
}

// A call hits a hardware breakpoint at which the previous call was aborted.
func TestHardwareBreakpointAgain(t *testing.T) {
	i := newFunction(t, "sum")
	s := newSession(t, i)
	if _, err := s.Break(start(i), &BreakpointOptions{Hardware: true}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		stop, err := s.Call(start(i), 1)
		if check(t, stop, err, AtBreakpoint).PC != start(i) {
			t.Fatal(stop)
		}
		if _, err := s.Abort(); err != nil {
			t.Fatal(err)
		}
	}
}
