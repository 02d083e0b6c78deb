// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package golang_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// The stack of an engine with its own stack, in a function of the host that it calls, is that
// of the thread and of the goroutine, in the process and in a core.
func TestEngine(t *testing.T) {
	p := testprogram.Start(t, testprogram.BuildModule(t, "../../../jit/gdb/testdata/engine"), "wait")
	check := func(what string, s *stack.Stack) {
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
	s := takeGoroutines(t, p.PID, true)
	thread, _ := stacktest.Through(t, stacktest.Stacks(t, s), "main.host")
	check("thread", thread)
	goroutine := func(list []golang.Goroutine) *stack.Stack {
		i := slices.IndexFunc(list, func(g golang.Goroutine) bool { return g.ID == 1 })
		return &list[max(i, 0)].Stack
	}
	check("goroutine", goroutine(goroutinesOf(t, s, golang.Options{})))
	core := stacktest.OpenCore(t, testprogram.GCore(t, p.PID), nil).Snapshot()
	thread, _ = stacktest.Through(t, stacktest.Stacks(t, core), "main.host")
	check("thread of a core", thread)
	check("goroutine of a core", goroutine(goroutinesOf(t, core, golang.Options{})))
}
