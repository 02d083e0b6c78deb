// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package target_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report"
	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/unwind"
)

// A goroutine that is blocked in a system call, with call frame information and
// without, where frame pointers lead on and the report says so.
func TestGoroutineInSystemCall(t *testing.T) {
	for _, test := range []struct {
		flags  string
		method unwind.Method
	}{
		{"", unwind.FromCFI},
		{"-ldflags=-w", unwind.FromFramePointer},
		{"-ldflags=-s -w", unwind.FromFramePointer},
	} {
		t.Run(test.flags, func(t *testing.T) {
			var flags []string
			if test.flags != "" {
				flags = append(flags, test.flags)
			}
			program := testprogram.Start(t, testprogram.Build(t, "goroutines", flags...))
			locked := regexp.MustCompile(`locked thread (\d+)`).FindStringSubmatch(program.Output())
			if locked == nil {
				t.Fatalf("the program said %q", program.Output())
			}
			tid, _ := strconv.Atoi(locked[1])
			// The goroutine says which thread it owns on its way to the system call.
			var stacks []target.Stack
			var s *target.Stack
			var names []string
			for end := time.Now().Add(time.Minute); !slices.Contains(names, "main.inner") && time.Now().Before(end); {
				stacks = stacksOf(t, take(t, program.PID))
				i := slices.IndexFunc(stacks, func(s target.Stack) bool { return s.Thread.ID == tid })
				if i < 0 {
					t.Fatalf("no thread %d", tid)
				}
				s, names = &stacks[i], nil
				for k := range s.Frames {
					names = append(names, report.FunctionName(&s.Frames[k]))
				}
			}
			for k := range s.Frames {
				if f := &s.Frames[k]; k > 0 && f.Method != test.method {
					t.Errorf("frame %d was found by %v, expected %v", k, f.Method, test.method)
				}
			}
			want := []string{"main.inner", "main.middle", "main.outer", "main.main.func2", "runtime.goexit"}
			if !slices.Equal(names[max(0, len(names)-len(want)):], want) || s.Reason != unwind.EndOfStack {
				t.Errorf("functions %v, expected %v at the end; %v: %v", names, want, s.Reason, s.Err)
			}
			notes := report.Notes(stacks)
			if bare := test.method == unwind.FromFramePointer; bare != (len(notes) == 1 && strings.Contains(notes[0], "linked with -w")) {
				t.Errorf("notes %q", notes)
			}
		})
	}
}
