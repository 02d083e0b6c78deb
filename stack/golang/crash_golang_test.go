// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// A Go program that panics finally raises a signal, and the handler makes the kernel write the
// core: after the handler come the frames of the panic, the signal of the fault, and the
// function that caused it, down to the start.
func TestGoCrash(t *testing.T) {
	t.Setenv("GOTRACEBACK", "crash")
	arm64 := testprogram.Emulations["arm64"]
	tests := []struct {
		name    string
		options testprogram.CoreOptions
		build   func() string
	}{
		{"static", testprogram.CoreOptions{}, func() string { return testprogram.Build(t, "panics") }},
		{"stripped", testprogram.CoreOptions{}, func() string { return testprogram.Build(t, "panics", "-ldflags=-s -w") }},
		{"cgo", testprogram.CoreOptions{}, func() string { return testprogram.BuildCgo(t, "panics", "-ldflags=-linkmode=external") }},
		{"arm64", testprogram.CoreOptions{Emulation: &arm64}, func() string {
			testprogram.RequireTool(t, arm64.QEMU)
			return arm64.BuildCgo(t, "panics", "-ldflags=-linkmode=external")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.Crashes = true
			s := stacktest.OpenCore(t, testprogram.Core(t, tt.options, tt.build()), nil).Snapshot()
			stacks := stacktest.Stacks(t, s)
			i := slices.IndexFunc(stacks, func(s stack.Stack) bool { return slices.Contains(calledOn(&s), "runtime.sigtramp") })
			if i < 0 {
				t.Fatal("no thread is in a handler")
			}
			stack := &stacks[i]
			names := calledOn(stack)
			want := []string{"runtime.sigtramp", "runtime.fatalpanic", "runtime.sigpanic", "main.read", "main.outer", "main.main", "runtime.main", "runtime.goexit"}
			if !inOrder(names, want) || stack.Reason != unwind.EndOfStack || stack.Err != nil {
				t.Errorf("%v: %v: %q, expected among them %q", stack.Reason, stack.Err, names, want)
			}
			if i := slices.Index(names, "main.read"); i < 0 || strings.Join(names[i:], " ") != "main.read main.outer main.main runtime.main runtime.goexit" {
				t.Errorf("%q", names)
			}
			// Threads that wait for work have stacks of their own. One of C can be missing
			// because it has not started yet.
			for i := range stacks {
				names := calledOn(&stacks[i])
				if stacks[i].Reason != unwind.EndOfStack && strings.HasPrefix(names[len(names)-1], "runtime.") {
					t.Errorf("thread %d: %v: %v: %q", i, stacks[i].Reason, stacks[i].Err, names)
				}
			}
		})
	}
}
