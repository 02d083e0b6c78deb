// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package stack_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// kinds are the names of the ways in which runtimes publish their code.
var kinds = map[string]generated.Kind{"list": generated.GDBList, "map": generated.PerfMap, "jitdump": generated.Jitdump}

// kindOf returns how a runtime publishes its code.
func kindOf(r testprogram.Runtime) generated.Kind {
	return kinds[r.Name[strings.LastIndexByte(r.Name, ' ')+1:]]
}

// listed reports whether a runtime publishes to debuggers, so that its memory alone describes
// its code.
func listed(r testprogram.Runtime) bool {
	return kindOf(r) == generated.GDBList || strings.HasPrefix(r.Name, "forth ") || strings.HasPrefix(r.Name, "lli ")
}

// testLiveRuntime returns the address of the runtime's code.
func testLiveRuntime(t *testing.T, r testprogram.Runtime, pid int) []snapshot.Mapping {
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		s := stacktest.Take(t, pid)
		stacks := stacktest.Stacks(t, s)
		if !leadsThroughRuntime(t, r, stacks) {
			if time.Now().After(end) {
				t.Fatalf("no stack leads through %q: the last ones were %s", r.Stack, outline(stacks))
			}
			continue
		}
		objects := stack.NewObjects(s)
		defer objects.Close()
		sources, err := objects.GeneratedCode()
		if err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(sources, func(s *generated.Source) bool { return s.Kind == kindOf(r) && s.Entries > 0 }) {
			t.Errorf("no %v in %+v", kindOf(r), sources)
		}
		memory, _ := objects.CodeMemory()
		return memory
	}
}

// named returns the index in a stack of consecutive functions whose names contain the given
// names, or -1.
func named(frames []stack.Frame, names []string) int {
	for at := range frames {
		n := 0
		for n < len(names) && at+n < len(frames) && strings.Contains(frames[at+n].Symbol.Name, names[n]) {
			n++
		}
		if n == len(names) {
			return at
		}
	}
	return -1
}

// bare reports whether a runtime's code cannot be unwound: it keeps no frame pointer, and its
// description has no unwind table.
func bare(r testprogram.Runtime) bool { return r.Name == "php map" || r.Name == "php jitdump" }

// leadsThroughRuntime fails unless a stack contains a runtime's generated code and reaches its
// outermost frame. It returns false if no stack contains that code.
func leadsThroughRuntime(t *testing.T, r testprogram.Runtime, stacks []stack.Stack) bool {
	t.Helper()
	for i := range stacks {
		s := &stacks[i]
		at := named(s.Frames, r.Stack)
		if at < 0 {
			continue
		}
		for k := range r.Stack {
			f := &s.Frames[at+k]
			// A list for debuggers has priority over other sources.
			if f.Object == nil || f.Object.Generated != kindOf(r) && !(f.Object.Generated == generated.GDBList && listed(r)) {
				t.Errorf("%s is in %+v", f.Symbol.Name, f.Object)
			}
			if l := f.Location(); l != nil && !printable(l.File) {
				t.Errorf("%s is at %q", f.Symbol.Name, l.File)
			}
		}
		switch {
		case bare(r):
			if at+1 < len(s.Frames) && s.Frames[at+1].Method != unwind.FromFramePointer {
				t.Errorf("frame %d was found by %v", at+1, s.Frames[at+1].Method)
			}
			if s.Reason != unwind.EndOfStack && s.Err == nil {
				t.Errorf("%v, and no error says more", s.Reason)
			}
		case s.Reason != unwind.EndOfStack:
			t.Errorf("%v: %v", s.Reason, s.Err)
		}
		return true
	}
	return false
}

func printable(s string) bool {
	for _, c := range s {
		if c < ' ' || c == '\uFFFD' {
			return false
		}
	}
	return true
}

// outline names the frames of stacks.
func outline(stacks []stack.Stack) string {
	var out strings.Builder
	for i := range stacks {
		for _, f := range stacks[i].Frames {
			out.WriteString(" " + f.Symbol.Name)
			if f.Object != nil {
				out.WriteString(" in " + f.Object.Name)
			}
			out.WriteByte(';')
		}
		out.WriteString("\n")
	}
	return out.String()
}
