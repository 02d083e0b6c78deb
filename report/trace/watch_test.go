// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// Notes on a watch give the number of incomplete stacks and the reason, and how to make a
// runtime describe its code.
func TestWatchedEarlyEnds(t *testing.T) {
	s := someStacks()
	thread := &snapshot.Thread{ID: 7, Name: "worker"}
	node := stack.Frame{PC: 0x1000, LookupPC: 0x1000, Code: stack.Code{Object: &stack.Object{Name: "/usr/bin/node"}}}
	nowhere := stack.Frame{PC: 0x7f0000001000, LookupPC: 0x7f0000001000}
	w := trace.Watch{Counts: []int{5, 3, 1}, Samples: 9}
	w.Target, w.PID = s.Target, 7
	w.Threads.Stacks = []stack.Stack{
		{Thread: thread, Frames: []stack.Frame{node}, Reason: unwind.EndOfStack},
		{Thread: thread, Frames: []stack.Frame{nowhere, node}, Reason: unwind.NoRule, Err: errors.New("nothing is at 0x7f0000001000")},
		{Thread: thread, Frames: []stack.Frame{nowhere}, Reason: unwind.NoRule, Err: errors.New("another")},
	}
	for _, want := range []string{
		"incomplete: 4 of 9 stacks of process 7: no rule: nothing is at 0x7f0000001000",
		"no description of the generated code of 1 frame: start node with --perf-basic-prof --interpreted-frames-native-stack",
	} {
		var text, json bytes.Buffer
		if err := errors.Join(w.Text(&text, style.Palette{}), w.JSON(&json)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), "\nnote: "+want+"\n") || !strings.Contains(json.String(), `"`+want+`"`) {
			t.Errorf("no note %q\n%s\n%s", want, &text, &json)
		}
	}
	w.Threads.Stacks[0].Frames = []stack.Frame{node, {PC: node.PC, LookupPC: node.LookupPC, Code: node.Code, Gap: true}}
	var text bytes.Buffer
	if err := w.Text(&text, style.Palette{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"note: 5 of 9 stacks of process 7 can lack callers\n", " callers may be missing\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	w.Threads.Stacks[0].Frames = nil
	w.Counts = []int{5, 0, 1}
	if got, want := w.Notes()[0], "incomplete: 1 of 6 stacks of process 7: no rule: another"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}
