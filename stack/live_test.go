// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// haltGo stops a Go program, whose runtime never rests, while a stack contains the given
// function and no thread switches between the stack of a goroutine and that of the system,
// which gdb cannot follow.
func haltGo(t testing.TB, pid int, function string) {
	t.Helper()
	for range 200 {
		proceed := testprogram.Halt(t, pid)
		through, between := false, false
		for _, s := range stacktest.Stacks(t, stacktest.Take(t, pid)) {
			for _, r := range rows(&s) {
				through = through || plain(r.name) == function
				between = between || r.name == "runtime.systemstack" || r.name == "runtime.morestack"
			}
		}
		if through && !between {
			return
		}
		proceed()
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("process %d has no stack through %s", pid, function)
}

func pid(p *testprogram.Process) string { return strconv.Itoa(p.PID) }

// column finds a register of a machine by name.
func column(m *arch.Machine) func(string) uint64 {
	return func(name string) uint64 {
		for c := range uint64(unwind.MaxColumns) {
			if m.RegisterName(c) == name {
				return c
			}
		}
		panic("no register " + name)
	}
}

// sameAsGDB fails unless all stacks of a halted process equal gdb's. It returns the stacks.
func sameAsGDB(t testing.TB, pid int) []stack.Stack {
	t.Helper()
	s := stacktest.Take(t, pid)
	stacks := stacktest.Stacks(t, s)
	gdbs := gdbStacks(t, pid)
	if len(stacks) != len(gdbs) {
		t.Errorf("%d threads, gdb has %d", len(stacks), len(gdbs))
	}
	for i := range stacks {
		compare(t, &stacks[i], column(s.Machine), gdbs[stacks[i].Thread.ID])
	}
	return stacks
}

// liveProgram is a program for comparisons with gdb.
type liveProgram struct {
	source string
	flags  []string
	args   []string
	within string // a function that a stack must lead through
}

func (p *liveProgram) name() string {
	return strings.Join(append([]string{p.source}, append(p.flags, p.args...)...), " ")
}

var programs = []liveProgram{
	{"f2c.c", []string{"-O2", "-g"}, nil, "convert"},
	{"nested64.c", []string{"-O2", "-fomit-frame-pointer"}, nil, "f0"},
	{"nested64.c", []string{"-O2", "-fomit-frame-pointer", "-g"}, nil, "f0"},
	{"chain.c", []string{"-O2", "-g", "-static"}, nil, "outer"},
	{"chain.c", []string{"-O2", "-g", "-static-pie"}, nil, "outer"},
	{"exceptions.cc", []string{"-O2", "-g"}, []string{"destructor"}, "exceptions::guarded"},
	{"exceptions.cc", []string{"-O2", "-g"}, []string{"catch"}, "exceptions::handler"},
	{"exceptions.cc", []string{"-O2", "-g"}, []string{"rethrow"}, "exceptions::rethrow"},
	{"exceptions.cc", []string{"-O2", "-g"}, []string{"nested"}, "exceptions::nested"},
	{"exceptions.cc", []string{"-O2", "-g"}, []string{"uncaught"}, "main"},
	{"exceptions.cc", []string{"-O2", "-g"}, []string{"forced"}, "exceptions::forced"},
	{"exceptions.cc", []string{"-O2"}, []string{"nested"}, "exceptions::nested"},
	{"sighandler.c", []string{"-O2", "-g"}, []string{"read"}, "do_read"},
	{"sighandler.c", []string{"-O2", "-g"}, []string{"read", "altstack"}, "do_read"},
	{"sighandler.c", []string{"-O2", "-g"}, []string{"nanosleep"}, "do_nanosleep"},
	{"sighandler.c", []string{"-O2", "-g"}, []string{"nanosleep", "altstack"}, "do_nanosleep"},
	{"sighandler.c", []string{"-O2", "-g"}, []string{"loop"}, "do_loop"},
	{"sighandler.c", []string{"-O2", "-g"}, []string{"fault"}, "do_fault"},
	{"sighandler.c", []string{"-O2", "-g"}, []string{"fault", "altstack"}, "do_fault"},
	{"sighandler.c", []string{"-O2", "-g"}, []string{"null"}, "do_null"},
	{"sighandler.c", []string{"-O2", "-g"}, []string{"null", "altstack"}, "do_null"},
	{"sighandler.c", []string{"-O2", "-g", "-static"}, []string{"read"}, "do_read"},
	{"deep.c", []string{"-O2", "-g"}, []string{"20"}, "recurse"},
	{"threads65.c", []string{"-O2", "-g"}, nil, "main"},
	{"threads65.c", []string{"-O2"}, nil, "main"},
	{"inline.c", []string{"-O2", "-g"}, nil, "main"},
	{"demangle.cc", []string{"-O2", "-g"}, nil, "shapes::apply"},
	{"demangle.cc", []string{"-O0", "-g"}, nil, "main"},
	{"tailcall.c", []string{"-O2", "-g"}, []string{"chain"}, "linked"},
	{"tailcall.c", []string{"-O2", "-g"}, []string{"ambiguous"}, "last"},
	{"tailcall.c", []string{"-O2", "-g"}, []string{"indirect"}, "main"},
	{"tailcall.c", []string{"-O2", "-g"}, []string{"several"}, "main"},
	{"tailcall.c", []string{"-O2", "-gdwarf-4"}, []string{"twice"}, "chained"},
	{"goroutines", nil, nil, "main.outer"},
}

// The stacks of live programs equal gdb's.
func TestStacksEqualGDB(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	sampled := programs
	if runtime.GOARCH == "amd64" { // on an emulated machine, -run chooses
		sampled = sample.Covering(t, programs, 11, func(p liveProgram) []string { return []string{p.source} })
	}
	for _, p := range sampled {
		t.Run(p.name(), func(t *testing.T) {
			program := testprogram.Start(t, testprogram.Build(t, p.source, p.flags...), p.args...)
			if p.source == "goroutines" {
				haltGo(t, program.PID, p.within)
			} else {
				program.Settle(t)
				testprogram.Halt(t, program.PID)
			}
			stacks := sameAsGDB(t, program.PID)
			through := false
			for i := range stacks {
				s := &stacks[i]
				if s.Reason != unwind.EndOfStack {
					t.Errorf("thread %d: %v: %v", s.Thread.ID, s.Reason, s.Err)
				}
				for _, r := range rows(s) {
					through = through || plain(r.name) == p.within
				}
			}
			if !through {
				t.Errorf("no stack leads through %s", p.within)
			}
		})
	}
}
