// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package target_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/target/core"
	"github.com/clewdev/clew/unwind"
)

// kinds are what the runtimes' ways to tell of their code are called here.
var kinds = map[string]target.Generated{"list": target.GDBList, "map": target.PerfMap, "jitdump": target.Jitdump}

// kindOf is how a runtime tells of its code.
func kindOf(r testprogram.Runtime) target.Generated {
	return kinds[r.Name[strings.LastIndexByte(r.Name, ' ')+1:]]
}

// listed reports whether a runtime publishes to debuggers: whatever else it does,
// its code is known from its memory alone.
func listed(r testprogram.Runtime) bool {
	return kindOf(r) == target.GDBList || strings.HasPrefix(r.Name, "forth ") || strings.HasPrefix(r.Name, "lli ")
}

// Names of the functions that runtimes generated are in live stacks, in perf's
// recordings, and in cores, also once what the runtime wrote is gone, if it was in
// its memory. Stacks lead through the functions wherever something tells how.
func TestRuntimes(t *testing.T) {
	for _, r := range testprogram.Runtimes() {
		t.Run(r.Name, func(t *testing.T) {
			p := r.Start(t)
			var code []target.Mapping
			t.Run("live", func(t *testing.T) { code = testLiveRuntime(t, r, p.PID) })
			if r.Name != "php list" && r.Name != "forth list" { // which are in memory that no recording has
				t.Run("recording", func(t *testing.T) { testRecordedRuntime(t, r, p.PID) })
			}
			t.Run("core", func(t *testing.T) {
				path := p.TrapCore(t, func(pc uint64) bool { return target.FindMapping(code, pc) != nil })
				testDumpedRuntime(t, r, path)
			})
		})
	}
}

// testLiveRuntime returns where the runtime has its code.
func testLiveRuntime(t *testing.T, r testprogram.Runtime, pid int) []target.Mapping {
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		s := take(t, pid)
		stacks := stacksOf(t, s)
		if !leadsThroughRuntime(t, r, stacks) {
			if time.Now().After(end) {
				t.Fatalf("no stack leads through %q: the last ones were %s", r.Stack, outline(stacks))
			}
			continue
		}
		objects := s.Objects()
		defer objects.Close()
		sources, err := objects.GeneratedCode()
		if err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(sources, func(s *target.CodeSource) bool { return s.Kind == kindOf(r) && s.Entries > 0 }) {
			t.Errorf("no %v in %+v", kindOf(r), sources)
		}
		return objects.CodeMemory()
	}
}

// testDumpedRuntime looks at the core of a runtime, first with the files beside it
// that the runtime wrote, which it removes.
func testDumpedRuntime(t *testing.T, r testprogram.Runtime, path string) {
	stacks, sources, err := dumped(t, path)
	if err != nil || !leadsThroughRuntime(t, r, stacks) {
		t.Errorf("no stack leads through %q (%v): %s", r.Stack, err, outline(stacks))
	}
	wrote := false
	for _, s := range sources {
		if s.Kind == target.PerfMap || s.Kind == target.Jitdump {
			if err := os.Remove(s.Place); err != nil {
				t.Error(err)
			}
			wrote = wrote || s.Kind == target.Jitdump
		}
	}

	// That it had a jitdump is told, since it was mapped.
	stacks, _, err = dumped(t, path)
	if errors.Is(err, fs.ErrNotExist) != wrote || !wrote && err != nil {
		t.Errorf("without its files: %v", err)
	}
	if listed(r) {
		if !leadsThroughRuntime(t, r, stacks) {
			t.Errorf("no stack leads through %q without files: %s", r.Stack, outline(stacks))
		}
		return
	}
	at := slices.IndexFunc(stacks, func(s target.Stack) bool { return len(s.Frames) > 0 && s.Frames[0].Object == nil })
	if at < 0 {
		t.Fatalf("no stack without names is left: %s", outline(stacks))
	}
	if s := &stacks[at]; s.Reason != unwind.EndOfStack && s.Err == nil {
		t.Errorf("%v, and no error says more", s.Reason)
	}
}

// dumped returns the stacks of a core, and what tells of generated code.
func dumped(t *testing.T, path string) ([]target.Stack, []*target.CodeSource, error) {
	t.Helper()
	c, err := core.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	objects := c.Snapshot().Objects()
	t.Cleanup(func() { objects.Close() })
	stacks := objects.Walk(target.WalkOptions{})
	objects.Name(stacks, target.NameOptions{Lines: true})
	sources, err := objects.GeneratedCode()
	return stacks, sources, errors.Join(err, c.Damage())
}

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

// bare reports whether nothing tells how code of a runtime is left: it keeps no
// frame pointer, and what tells of it has no unwind table.
func bare(r testprogram.Runtime) bool { return r.Name == "php map" || r.Name == "php jitdump" }

// leadsThroughRuntime fails unless a stack leads through a runtime's generated code and
// on to its outermost frame. It reports false where no stack is in that code.
func leadsThroughRuntime(t *testing.T, r testprogram.Runtime, stacks []target.Stack) bool {
	t.Helper()
	for i := range stacks {
		s := &stacks[i]
		at := named(s.Frames, r.Stack)
		if at < 0 {
			continue
		}
		for k := range r.Stack {
			f := &s.Frames[at+k]
			// What publishes to debuggers in any case is named by that.
			if f.Object == nil || f.Object.Generated != kindOf(r) && !(f.Object.Generated == target.GDBList && listed(r)) {
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
			if s.Process.IDs[0] != 1 || s.Search.Root == "" {
				t.Fatalf("PID %d in its own namespace, root %q: not a container", s.Process.IDs, s.Search.Root)
			}
			t.Run("live", func(t *testing.T) { testLiveRuntime(t, r, p.PID) })
			t.Run("recording", func(t *testing.T) { testRecordedRuntime(t, r, p.PID) })
			t.Run("recorded namespaces", func(t *testing.T) {
				path := testRecordedRuntime(t, r, p.PID, "--namespaces")
				p.Kill()
				testLostContainer(t, path)
			})
		})
	}
}
