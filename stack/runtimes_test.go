// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package stack_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// The functions that runtimes generated have names in live stacks, in perf's recordings, and
// in cores. In cores the names remain without the runtime's files, if its memory contains
// them. Stacks lead through the functions if there is any way to unwind them.
func TestRuntimes(t *testing.T) {
	name := func(r testprogram.Runtime) []string { return strings.Fields(r.Name) }
	for _, r := range sample.Covering(t, testprogram.Runtimes(), 7, name) {
		t.Run(r.Name, func(t *testing.T) {
			p := r.Start(t)
			var code []snapshot.Mapping
			t.Run("live", func(t *testing.T) { code = testLiveRuntime(t, r, p.PID) })
			if r.Name != "php list" && r.Name != "forth list" { // which are in memory that no recording has
				t.Run("recording", func(t *testing.T) { testRecordedRuntime(t, r, p.PID) })
			}
			t.Run("core", func(t *testing.T) {
				path := p.TrapCore(t, func(pc uint64) bool { return snapshot.FindMapping(code, pc) != nil })
				testDumpedRuntime(t, r, path)
			})
		})
	}
}

// testDumpedRuntime checks the core of a runtime, first with the runtime's files next to it,
// and then without them.
func testDumpedRuntime(t *testing.T, r testprogram.Runtime, path string) {
	stacks, sources, err := dumped(t, path)
	if err != nil || !leadsThroughRuntime(t, r, stacks) {
		t.Errorf("no stack leads through %q (%v): %s", r.Stack, err, outline(stacks))
	}
	wrote := false
	for _, s := range sources {
		if s.Kind == generated.PerfMap || s.Kind == generated.Jitdump {
			if err := os.Remove(s.Place); err != nil {
				t.Error(err)
			}
			wrote = wrote || s.Kind == generated.Jitdump
		}
	}

	// The missing jitdump is reported, because it was mapped.
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
	at := slices.IndexFunc(stacks, func(s stack.Stack) bool { return len(s.Frames) > 0 && s.Frames[0].Object == nil })
	if at < 0 {
		t.Fatalf("no stack without names is left: %s", outline(stacks))
	}
	if s := &stacks[at]; s.Reason != unwind.EndOfStack && s.Err == nil {
		t.Errorf("%v, and no error says more", s.Reason)
	}
}

// dumped returns the stacks of a core, and its sources of generated code.
func dumped(t *testing.T, path string) ([]stack.Stack, []*generated.Source, error) {
	t.Helper()
	c, err := core.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	objects := stack.NewObjects(c.Snapshot())
	t.Cleanup(func() { objects.Close() })
	stacks := objects.Walk(stack.WalkOptions{})
	objects.Name(stacks, stack.NameOptions{Lines: true})
	sources, err := objects.GeneratedCode()
	return stacks, sources, errors.Join(err, c.Damage())
}

// A process of a container has a perf map or a jitdump that only the container sees, with the
// process ID of the container.
func TestRuntimesInContainers(t *testing.T) {
	for _, r := range testprogram.Runtimes() {
		if r.Name != "wazero map" && r.Name != "node jitdump" {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			p := r.StartContained(t)
			s := stacktest.Take(t, p.PID)
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
