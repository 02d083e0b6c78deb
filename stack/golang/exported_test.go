// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// calledOn returns the functions of a stack, innermost first, also inlined ones.
func calledOn(s *stack.Stack) (names []string) {
	for i := range s.Frames {
		f := &s.Frames[i]
		for _, l := range f.Locations[:max(0, len(f.Locations)-1)] {
			names = append(names, l.Function)
		}
		names = append(names, trace.FunctionName(f))
	}
	return names
}

// inOrder reports whether names occur in a list in their order.
func inOrder(list, names []string) bool {
	for _, name := range list {
		if len(names) > 0 && name == names[0] {
			names = names[1:]
		}
	}
	return len(names) == 0
}

// A C program calls a Go library, which returned to it before. The one goroutine of the thread
// leads back to C's main function: from Go, where it waits without a thread, from C that Go
// called, and also if Go called the C code itself. The library is shared, or linked into the
// program, which has debugging information or is stripped.
func TestGoroutineBehindEarlierCalls(t *testing.T) {
	library := testprogram.BuildCgo(t, "exported", "-buildmode=c-shared")
	linked := []string{"-O2", "-rdynamic", "-Wl,--whole-archive," + testprogram.BuildCgo(t, "exported", "-buildmode=c-archive"), "-Wl,--no-whole-archive"}
	for _, build := range []struct{ name, program, opened string }{
		{"c-shared", testprogram.Build(t, "calls.c", "-O2"), library},
		{"c-archive", testprogram.Build(t, "calls.c", linked...), ""},
		{"c-archive, stripped", testprogram.Build(t, "calls.c", append(linked, "-s")...), ""},
	} {
		for _, tt := range exportedCalls {
			if build.opened == "" && len(tt.args) < 2 {
				continue // the others are contained in these
			}
			if strings.Contains(build.name, "stripped") {
				tt.want = slices.Clone(tt.want)
				for k, name := range tt.want {
					if name == "inner" || name == "outer" { // no other file needs these
						tt.want[k] = "??"
					}
				}
			}
			t.Run(build.name+" "+tt.name, func(t *testing.T) {
				args := append([]string{build.opened}, tt.args...)
				p := testprogram.Start(t, build.program, args...)
				p.Settle(t)
				tt.check(t, "live", takeGoroutines(t, p.PID, true))
				tt.check(t, "core", stacktest.OpenCore(t, testprogram.Core(t, testprogram.CoreOptions{}, build.program, args...), nil).Snapshot())
			})
		}
	}
}

// The same on arm64, in the cores of an emulator.
func TestGoroutineBehindEarlierCallsARM64(t *testing.T) {
	if testing.Short() {
		t.Skip("builds Go's runtime for another machine")
	}
	e := testprogram.Emulations["arm64"]
	testprogram.RequireTool(t, e.QEMU)
	library := e.BuildCgo(t, "exported", "-buildmode=c-shared")
	program := e.Build(t, "calls.c", "-O2")
	for _, tt := range exportedCalls {
		if len(tt.args) < 2 {
			continue // the others are contained in these
		}
		t.Run(tt.name, func(t *testing.T) {
			path := testprogram.Core(t, testprogram.CoreOptions{Emulation: &e}, program, append([]string{library}, tt.args...)...)
			tt.check(t, "core", stacktest.OpenCore(t, path, &core.Options{Program: program, Search: debugfile.Search{Root: e.Root()}}).Snapshot())
		})
	}
}

type exportedCall struct {
	name string
	args []string
	want []string // functions in this order
}

var exportedCalls = []exportedCall{
	{"Wait", []string{"Wait"}, slices.Concat([]string{"runtime.gopark", "main.Wait"}, calledBack, []string{"Wait", "inner", "main", "_start"})},
	{"Wait nested", []string{"Wait", "nested"}, slices.Concat([]string{"runtime.gopark", "main.Wait"}, calledBack, []string{"Wait"}, nested)},
	{"Rest nested", []string{"Rest", "nested"}, slices.Concat([]string{"pause", "runtime.asmcgocall", "main.Rest"}, calledBack, []string{"Rest"}, nested)},
}

var (
	calledBack = []string{"runtime.cgocallbackg", "runtime.cgocallback", "crosscall2"}
	nested     = slices.Concat([]string{"inner", "runtime.asmcgocall", "runtime.cgocall", "main.Call"}, calledBack, []string{"Call", "outer", "main", "_start"})
)

// check fails unless the goroutine is the only one, and its stack complete.
func (e *exportedCall) check(t *testing.T, from string, s *snapshot.Snapshot) {
	t.Helper()
	list := goroutinesOf(t, s, golang.Options{})
	if len(list) != 1 {
		t.Fatalf("%s: %d goroutines", from, len(list))
	}
	g := &list[0]
	onThread := e.args[0] == "Rest"
	if names := calledOn(&g.Stack); !inOrder(names, e.want) || g.Stack.Reason != unwind.EndOfStack || (g.Stack.Thread != nil) != onThread {
		t.Errorf("%s: %v: %v, on a thread: %v; %q, expected %q", from, g.Stack.Reason, g.Stack.Err, g.Stack.Thread != nil, names, e.want)
	}
	for k := range g.Stack.Frames {
		if f := &g.Stack.Frames[k]; f.Late {
			t.Errorf("%s: frame %d, at %#x, was read after the process ran on", from, k, f.PC)
		}
	}
}
