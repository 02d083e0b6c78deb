// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// coreEqualsGDB fails unless all stacks of a core equal gdb's. Arguments are passed to gdb
// before those that name the program and the core.
func coreEqualsGDB(t testing.TB, c *core.Core, gdb, program, path string, args ...string) []stack.Stack {
	t.Helper()
	s := c.Snapshot()
	stacks := stacktest.Stacks(t, s)
	if missing := c.Missing(); missing != nil {
		t.Errorf("missing: %v", missing)
	}
	gdbs := gdbReports(t, gdb, append(args, program, path)...)
	if len(stacks) != len(gdbs) {
		t.Errorf("%d threads, gdb has %d", len(stacks), len(gdbs))
	}
	for i := range stacks {
		compare(t, &stacks[i], column(s.Machine), gdbs[stacks[i].Thread.ID])
	}
	return stacks
}

// leadsThrough fails unless all stacks reach their end, and one contains a function.
func leadsThrough(t testing.TB, stacks []stack.Stack, function string) {
	t.Helper()
	through := false
	for i := range stacks {
		s := &stacks[i]
		if s.Reason != unwind.EndOfStack {
			t.Errorf("thread %d: %v: %v", s.Thread.ID, s.Reason, s.Err)
		}
		for _, r := range rows(s) {
			through = through || plain(r.name) == function
		}
	}
	if !through {
		t.Errorf("no stack leads through %s", function)
	}
}

// The stacks in cores of the kernel and of gcore equal gdb's.
func TestCoresEqualGDB(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	type coreTest struct {
		how    string // "kernel", "crash": the program does, "gcore"
		source string
		flags  []string
		args   []string
		within string
	}
	tests := []coreTest{
		{"kernel", "f2c.c", []string{"-O2", "-g"}, nil, "convert"},
		{"kernel", "chain.c", []string{"-O2", "-g", "-static"}, nil, "outer"},
		{"kernel", "exceptions.cc", []string{"-O2", "-g"}, []string{"nested"}, "exceptions::nested"},
		{"kernel", "exceptions.cc", []string{"-O2", "-g"}, []string{"destructor"}, "exceptions::guarded"},
		{"kernel", "exceptions.cc", []string{"-O2", "-g"}, []string{"catch"}, "exceptions::handler"},
		{"kernel", "exceptions.cc", []string{"-O2", "-g"}, []string{"uncaught"}, "main"},
		{"kernel", "exceptions.cc", []string{"-O2", "-g"}, []string{"forced"}, "exceptions::forced"},
		{"kernel", "nested64.c", []string{"-O2", "-fomit-frame-pointer", "-g"}, nil, "f0"},
		{"kernel", "demangle.cc", []string{"-O2", "-g"}, nil, "shapes::apply"},
		{"kernel", "tailcall.c", []string{"-O2", "-g"}, []string{"chain"}, "linked"},
		{"kernel", "sighandler.c", []string{"-O2", "-g"}, []string{"read", "altstack"}, "do_read"},
		{"kernel", "sighandler.c", []string{"-O2", "-g"}, []string{"fault"}, "do_fault"},
		{"kernel", "threads65.c", []string{"-O2", "-g"}, nil, "main"},
		{"crash", "crash.c", []string{"-O2", "-g"}, []string{"segv"}, "do_segv"},
		{"crash", "crash.c", []string{"-O2", "-g"}, []string{"null"}, "do_null"},
		{"crash", "crash.c", []string{"-O2", "-g"}, []string{"noreturn"}, "main"},
		{"gcore", "chain.c", []string{"-O2", "-g", "-static-pie"}, nil, "outer"},
		{"gcore", "inline.c", []string{"-O2", "-g"}, nil, "main"},
		{"gcore", "sighandler.c", []string{"-O2", "-g"}, []string{"null", "altstack"}, "do_null"},
		{"gcore", "goroutines", nil, nil, "main.outer"},
	}
	for _, test := range sample.Covering(t, tests, 6, func(c coreTest) []string { return []string{c.how} }) {
		t.Run(strings.Join(append([]string{test.how, test.source}, append(test.flags, test.args...)...), " "), func(t *testing.T) {
			program := testprogram.Build(t, test.source, test.flags...)
			var path string
			if test.how == "gcore" {
				p := testprogram.Start(t, program, test.args...)
				if test.source != "goroutines" {
					p.Settle(t)
				}
				path = testprogram.GCore(t, p.PID)
			} else {
				path = testprogram.Core(t, testprogram.CoreOptions{Crashes: test.how == "crash"}, program, test.args...)
			}
			c := stacktest.OpenCore(t, path, nil)
			leadsThrough(t, coreEqualsGDB(t, c, "gdb", program, path), test.within)
			if s := c.Snapshot().Signal; (s == nil) != (test.how == "gcore") {
				t.Errorf("signal %v", s)
			}
		})
	}
}
