// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// checkEngine checks the stack in a function of the host that an engine calls.
func checkEngine(t *testing.T, what string, s *stack.Stack) {
	t.Helper()
	var names []string
	for i := range s.Frames {
		name := trace.FunctionName(&s.Frames[i])
		names = append(names, name[strings.LastIndex(name, "/")+1:])
	}
	at := max(0, slices.Index(names, "main.host"))
	want := []string{"main.host", "callHost", "middle", "outer", "enter", "call.Code", "main.(*engine).run", "main.main"}
	if len(names) < at+len(want) || !slices.Equal(names[at:at+len(want)], want) || s.Reason != unwind.EndOfStack {
		t.Errorf("%s: %q, then %v (%v)", what, names, s.Reason, s.Err)
	}
}

// checkEngines checks the stack of the thread and of the goroutine.
func checkEngines(t *testing.T, what string, s *snapshot.Snapshot) {
	t.Helper()
	thread, _ := stacktest.Through(t, stacktest.Stacks(t, s), "main.host")
	checkEngine(t, "thread of "+what, thread)
	list := goroutinesOf(t, s, golang.Options{})
	i := slices.IndexFunc(list, func(g golang.Goroutine) bool { return g.ID == 1 })
	checkEngine(t, "goroutine of "+what, &list[max(i, 0)].Stack)
}

const engine = "../../../jit/gdb/testdata/engine"

// The stack of an engine with its own stack, in a function of the host that it calls, is that
// of the thread and of the goroutine, in the process and in a core.
func TestEngine(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("skipped: no code of the engine for " + runtime.GOARCH)
	}
	t.Setenv("GODEBUG", "asyncpreemptoff=1") // a signal would be handled on a third stack
	p := testprogram.Start(t, testprogram.BuildModule(t, engine), "wait")
	inHost := func(s *stack.Stack) bool {
		return slices.ContainsFunc(s.Frames, func(f stack.Frame) bool { return trace.FunctionName(&f) == "main.host" })
	}
	s := takeGoroutines(t, p.PID, true)
	for end := time.Now().Add(time.Minute); !slices.ContainsFunc(stacktest.Stacks(t, s), func(s stack.Stack) bool { return inHost(&s) }) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // the program is ready some instructions before it is there
		s = takeGoroutines(t, p.PID, true)
	}
	checkEngines(t, "a process", s)
	checkEngines(t, "a core", stacktest.OpenCore(t, testprogram.GCore(t, p.PID), nil).Snapshot())
}

// The same on arm64, in the core of an emulator.
func TestEngineOnARM64(t *testing.T) {
	e := testprogram.Emulations["arm64"]
	path := testprogram.Core(t, testprogram.CoreOptions{Emulation: &e, Crashes: true}, testprogram.BuildGoFor(t, "arm64", engine), "crash")
	checkEngines(t, "a core", stacktest.OpenCore(t, path, nil).Snapshot())
}
