// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// Running goroutines, runnable ones and those in system calls equal the program's own dump on
// SIGQUIT, which is made after Clew took its snapshot while the program ran. None of them can
// move in between: the running one keeps the program's only processor in a loop that nothing
// interrupts, so the runnable ones have none, and the others wait for events that do not come.
// So everything is compared: IDs, states, creators, and frames with addresses and lines. For
// the running one, whose address moves in its loop, only the functions are compared, if the
// dump has them: it has no frames of a thread that does not get the signal itself.
func TestRunnableGoroutinesEqualDump(t *testing.T) {
	for name, flags := range map[string][]string{"with symbols": nil, "stripped": {"-ldflags=-s -w"}} {
		t.Run(name, func(t *testing.T) {
			p := testprogram.Start(t, testprogram.Build(t, "oneprocessor", flags...))
			ways := map[string][]golang.Goroutine{
				"copied": goroutinesOf(t, takeGoroutines(t, p.PID, true), golang.Options{System: true}),
				"read":   goroutinesOf(t, takeGoroutines(t, p.PID, false), golang.Options{System: true}),
			}
			want := onQuit(t, p.Quit())
			for way, list := range ways {
				got := make(map[uint64]said)
				states := make(map[string]int)
				var rest []golang.Goroutine
				for i := range list {
					g := &list[i]
					got[g.ID] = described(g)
					if g.Stack.Reason != unwind.EndOfStack {
						t.Errorf("%s: goroutine %d: %v: %v", way, g.ID, g.Stack.Reason, g.Stack.Err)
					}
					if g.Name != "running" {
						rest = append(rest, *g)
					} else {
						compareRunning(t, way, g, want[g.ID])
					}
					if g.Name == "runnable" && g.Stack.Thread != nil {
						t.Errorf("%s: goroutine %d, which could run, is on thread %d", way, g.ID, g.Stack.Thread.ID)
					}
					if !g.System {
						states[g.Name]++
					}
				}
				compareGoroutines(t, way, got, want, rest)
				expected := map[string]int{"running": 1, "runnable": 11, "syscall": 2, "chan receive": 1, "select (no cases)": 1, "sleep": 1}
				if !maps.Equal(states, expected) {
					t.Errorf("%s: %v, expected %v", way, states, expected)
				}
			}
		})
	}
}

// compareRunning fails unless a running goroutine equals its program's dump.
func compareRunning(t *testing.T, way string, g *golang.Goroutine, want said) {
	t.Helper()
	got := described(g)
	if got.state != want.state || got.created != want.created {
		t.Errorf("%s: goroutine %d: %q, created by %q, expected %q, %q", way, g.ID, got.state, got.created, want.state, want.created)
	}
	functions := func(frames []string) (names []string) {
		for _, f := range frames {
			name, _, _ := strings.Cut(f, " ")
			names = append(names, name)
		}
		// It has just printed that it keeps the processor, and is about to return from that.
		return names[max(0, slices.Index(names, "main.keep")):]
	}
	a, b := functions(got.frames), functions(want.frames)
	if g.Stack.Thread == nil || len(a) == 0 || a[0] != "main.keep" || len(b) > 0 && !slices.Equal(a, b) {
		t.Errorf("%s: goroutine %d, on a thread: %v: %q, expected %q", way, g.ID, g.Stack.Thread != nil, a, b)
	}
}
