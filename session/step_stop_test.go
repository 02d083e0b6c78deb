// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package session

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// stopped returns a session that stands at a function of testdata/stops.c that
// was called.
func stoppedIn(t *testing.T, function string, words ...uint64) *Session {
	t.Helper()
	testprogram.RequireTool(t, "gcc")
	path := filepath.Join(t.TempDir(), "stops.o")
	if out, err := exec.Command("gcc", "-g", "-O0", "-c", "-o", path, "testdata/stops.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	file, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	i, err := LoadImage(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close() })
	s := newSession(t, i)
	b, err := s.BreakAt(function, nil)
	if err != nil {
		t.Fatal(err)
	}
	address, _ := s.Symbol(function)
	stop, err := s.Call(address, words...)
	check(t, stop, err, AtBreakpoint)
	if err := s.Remove(b.ID); err != nil {
		t.Fatal(err)
	}
	return s
}

// at fails the test unless the session stands in a line of a function.
func at(t *testing.T, s *Session, function string, line int) {
	t.Helper()
	f, err := s.Frame()
	if err != nil {
		t.Fatal(err)
	}
	if l := f.Locations[0]; l.Function != function || l.Line != line {
		t.Fatalf("in %s, line %d; want %s, line %d", l.Function, l.Line, function, line)
	}
}

func TestFaultEndsAStep(t *testing.T) {
	s := stoppedIn(t, "fault", 0x10)
	stop, err := s.NextLine()
	check(t, stop, err, SteppedOver)
	stop, err = s.NextLine()
	if check(t, stop, err, Signalled).Signal.Address != 0x10 {
		t.Error(stop)
	}
	at(t, s, "load", 7)
	// It is still one: to go on means to fault again.
	stop, err = s.StepLine()
	check(t, stop, err, Signalled)
	at(t, s, "load", 7)
}

func TestBreakpointEndsAStep(t *testing.T) {
	s := stoppedIn(t, "depth", 3)
	b, err := s.BreakAt("load", nil)
	if err != nil {
		t.Fatal(err)
	}
	at(t, s, "depth", 54)
	stop, err := s.NextLine()
	check(t, stop, err, SteppedOver)
	at(t, s, "depth", 56)
	stop, err = s.NextLine()
	if check(t, stop, err, AtBreakpoint).Breakpoint != b {
		t.Error(stop)
	}
	at(t, s, "load", 7)
	// Out of a frame in the middle: returns of the same function before it do not count.
	stop, err = s.StepOut(3)
	check(t, stop, err, SteppedOut)
	stack, err := s.Stack(0)
	if err != nil || len(stack.Frames) != 1 {
		t.Errorf("%d frames, %v", len(stack.Frames), err)
	}
	if _, err := s.StepOut(1); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	stop, err = s.StepOut(0)
	if check(t, stop, err, Returned).Result != 3 {
		t.Error(stop)
	}
	if _, err := s.NextLine(); !errors.Is(err, ErrNotStopped) {
		t.Error(err)
	}
}

func TestInterruptEndsAStep(t *testing.T) {
	for _, tt := range []struct {
		name, function string
		step           func(*Session) (*Stop, error)
	}{
		{"next", "stuck", (*Session).NextLine},
		{"out", "forever", func(s *Session) (*Stop, error) { return s.StepOut(0) }},
	} {
		s := stoppedIn(t, tt.function, 1)
		go func() {
			for s.Interrupt() != nil {
				time.Sleep(time.Millisecond)
			}
		}()
		stop, err := tt.step(s)
		check(t, stop, err, Interrupted)
		f, err := s.Frame()
		if err != nil || f.Locations[0].Function != tt.function && f.Locations[0].Function != "forever" {
			t.Errorf("%s: %+v, %v", tt.name, f, err)
		}
	}
}

// TestRepetitionsAreOneStep would take half an hour if they were steps each.
func TestRepetitionsAreOneStep(t *testing.T) {
	s := stoppedIn(t, "repeat", 7)
	for _, line := range []int{33, 34, 35, 36} {
		stop, err := s.StepLine()
		check(t, stop, err, SteppedLine)
		at(t, s, "repeat", line)
	}
	stop, err := s.StepLine()
	if check(t, stop, err, Returned).Result != 7 {
		t.Error(stop)
	}
}

// TestJumpOutOfAStep has a function that is stepped over and does not return.
func TestJumpOutOfAStep(t *testing.T) {
	s := stoppedIn(t, "jumps", 2)
	for {
		stop, err := s.NextLine()
		if err != nil {
			t.Fatal(err)
		}
		if stop.Reason == Returned {
			if stop.Result != 42 {
				t.Error(stop)
			}
			return
		}
		if stop.Reason != SteppedOver {
			t.Fatal(stop)
		}
	}
}

// TestStepWithoutLines leaves the function.
func TestStepWithoutLines(t *testing.T) {
	// call f; nop; ret; f: nop; nop; ret
	i := newCode(t, "code", []byte{0xe8, 2, 0, 0, 0, 0x90, 0xc3, 0x90, 0x90, 0xc3})
	s := newSession(t, i)
	stop, err := s.CallWith(start(i), Arguments{StopAtEntry: true})
	check(t, stop, err, AtEntry)
	stop, err = s.NextInstruction()
	if check(t, stop, err, SteppedOver).PC != start(i)+5 {
		t.Fatal(stop)
	}
	stop, err = s.StepLine()
	check(t, stop, err, Returned)
}
