// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package target_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/target/core"
	"github.com/clewdev/clew/unwind"
)

// kinds are what the runtimes' ways to tell of their code are called here.
var kinds = map[string]target.Generated{"list": target.GDBList, "map": target.PerfMap, "jitdump": target.Jitdump}

// named returns the place in a stack at which functions with these names in
// their names follow each other, and -1 where none does.
func named(frames []target.Frame, names []string) int {
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

// leadsThroughRuntime fails unless a stack leads through a runtime's generated code and
// on to its outermost frame. It reports false where no stack is in that code.
func leadsThroughRuntime(t *testing.T, r testprogram.Runtime, stacks []target.Stack) bool {
	t.Helper()
	way := r.Name[strings.LastIndexByte(r.Name, ' ')+1:]
	for i := range stacks {
		s := &stacks[i]
		at := named(s.Frames, r.Stack)
		if at < 0 {
			continue
		}
		for k := range r.Stack {
			f := &s.Frames[at+k]
			// What publishes to debuggers in any case is named by that.
			if f.Object == nil || f.Object.Generated != kinds[way] && f.Object.Generated != target.GDBList {
				t.Errorf("%s is in %+v", f.Symbol.Name, f.Object)
			}
		}
		switch {
		case r.Name == "wazero map":
			// Its code runs on a stack of its own, which ends there.
		case r.Name == "php map" || r.Name == "php jitdump":
			// No frame pointer, and no unwind table in this jitdump.
			if s.Reason == unwind.EndOfStack && s.Frames[at+1].Method != unwind.FromFramePointer {
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

// Names of generated functions are in live stacks, which lead through them.
func TestRuntimes(t *testing.T) {
	for _, r := range testprogram.Runtimes() {
		t.Run(r.Name, func(t *testing.T) {
			p := r.Start(t)
			for range 60 {
				if leadsThroughRuntime(t, r, stacksOf(t, take(t, p.PID))) {
					return
				}
			}
			t.Errorf("no stack in 60 leads through %q: the last ones were %s", r.Stack, outline(stacksOf(t, take(t, p.PID))))
		})
	}
}

// outline names the frames of stacks.
func outline(stacks []target.Stack) string {
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

// Nor are they lost in a core, where the sources are in the core's memory and in
// the files beside it.
func TestRuntimesInCores(t *testing.T) {
	gcore := testprogram.RequireTool(t, "gcore")
	for _, r := range testprogram.Runtimes() {
		switch r.Name {
		case "php list", "php map", "lli list", "forth list", "forth jitdump":
		default:
			continue // cores of hundreds of megabytes, and nothing new
		}
		t.Run(r.Name, func(t *testing.T) {
			p := r.Start(t)
			path := filepath.Join(t.TempDir(), "core")
			for range 20 {
				if out, err := exec.Command(gcore, "-o", path, strconv.Itoa(p.PID)).CombinedOutput(); err != nil {
					t.Fatalf("gcore: %v\n%s", err, out)
				}
				c, err := core.Open(path+"."+strconv.Itoa(p.PID), nil)
				if err != nil {
					t.Fatal(err)
				}
				through := leadsThroughRuntime(t, r, stacksOf(t, c.Snapshot()))
				c.Close()
				if through {
					return
				}
			}
			t.Errorf("no stack leads through %q", r.Stack)
		})
	}
}

// A process of a container has a perf map, or a jitdump, where it alone sees it,
// by a number that it alone has.
func TestRuntimesInContainers(t *testing.T) {
	for _, r := range testprogram.Runtimes() {
		if r.Name != "wazero map" && r.Name != "node jitdump" {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			p := r.StartContained(t)
			s := take(t, p.PID)
			if s.NSPID != 1 || s.Search.Root == "" {
				t.Fatalf("PID %d in its own namespace, root %q: not a container", s.NSPID, s.Search.Root)
			}
			for range 100 {
				if leadsThroughRuntime(t, r, stacksOf(t, take(t, p.PID))) {
					return
				}
			}
			t.Errorf("no stack leads through %q: %s", r.Stack, outline(stacksOf(t, s)))
		})
	}
}
