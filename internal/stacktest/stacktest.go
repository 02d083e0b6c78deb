// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

// Package stacktest takes snapshots and walks their stacks, for the tests of package stack
// and the packages below it.
package stacktest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/clewdev/clew/debugfile/sectioncache"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
)

// OpenCore opens a core, which must not be damaged.
func OpenCore(t testing.TB, path string, opts *core.Options) *core.Core {
	t.Helper()
	c, err := core.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Damage(); err != nil {
		t.Errorf("damage: %v", err)
	}
	return c
}

// Take takes a snapshot, with a long timeout for busy machines.
func Take(t testing.TB, pid int) *snapshot.Snapshot {
	t.Helper()
	s, err := process.Snapshot(pid, &process.Options{Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Stacks walks and names the stacks of a snapshot, without an analyzer of code.
func Stacks(t testing.TB, s *snapshot.Snapshot) []stack.Stack {
	t.Helper()
	return Analysed(t, s, nil)
}

// Analysed walks and names the stacks of a snapshot.
func Analysed(t testing.TB, s *snapshot.Snapshot, analyzer stack.CodeAnalyzer) []stack.Stack {
	t.Helper()
	if s.Search.Sections == nil {
		s.Search.Sections = Sections()
	}
	objects := stack.NewObjects(s)
	objects.Analyzer = analyzer
	t.Cleanup(func() { objects.Close() })
	stacks := objects.Walk(stack.WalkOptions{Registers: true})
	if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
		t.Errorf("names: %v", err)
	}
	return stacks
}

// Sections returns a cache of decompressed sections that all tests share. Without it, each
// snapshot decompresses the C library's debugging information anew. It returns nil if the
// user has no cache directory.
func Sections() object.SectionCache {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	return sectioncache.New(filepath.Join(dir, "clew", "testprogram", "sections"), sectioncache.DefaultLimit)
}

// Through returns the first stack with a frame of a function, and the frame's index.
func Through(t testing.TB, stacks []stack.Stack, function string) (*stack.Stack, int) {
	t.Helper()
	for i := range stacks {
		at := slices.IndexFunc(stacks[i].Frames, func(f stack.Frame) bool { return trace.FunctionName(&f) == function })
		if at >= 0 {
			return &stacks[i], at
		}
	}
	t.Fatalf("no stack leads through %s", function)
	return nil, 0
}
