// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// A separate debug file of another build is refused and reported. The stacks of a live process
// and of a core are walked all the same, and named by the right file.
func TestWrongDebugFile(t *testing.T) {
	objcopy := testprogram.RequireTool(t, "objcopy")
	dir := t.TempDir()
	built := func(id string) string { return testprogram.Build(t, "chain.c", "-O2", "-g", "-Wl,--build-id=0x"+id) }
	const id, otherID = "1234567890abcdef", "fedcba0987654321"
	path, cache := filepath.Join(dir, "chain"), filepath.Join(dir, "cache")
	debug := filepath.Join(cache, id, "debuginfo")
	if err := os.MkdirAll(filepath.Dir(debug), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(objcopy, args...).CombinedOutput(); err != nil {
			t.Fatalf("objcopy: %v\n%s", err, out)
		}
	}
	run("--strip-all", built(id), path)
	run("--only-keep-debug", built(otherID), debug)
	t.Setenv("HOME", dir)
	t.Setenv("DEBUGINFOD_CACHE_PATH", cache)

	program := testprogram.Start(t, path)
	program.Settle(t)
	c := stacktest.OpenCore(t, testprogram.Core(t, testprogram.CoreOptions{}, path), &core.Options{})
	check := func(kind string, s *snapshot.Snapshot, right bool) {
		t.Helper()
		objects := stack.NewObjects(s)
		defer objects.Close()
		stacks := objects.Walk(stack.WalkOptions{})
		err := objects.Name(stacks, stack.NameOptions{})
		want := []string{"??", "??", "??", "??", "??", "??"}
		if right {
			want = append(slices.Clone(chain), "_start")
		}
		if got := functions(&stacks[0], path); !slices.Equal(got, want) || stacks[0].Reason != unwind.EndOfStack {
			t.Errorf("%s: functions %v, %v", kind, got, stacks[0].Reason)
		}
		var refused *object.RefusedError
		switch errors.As(err, &refused); {
		case right && err != nil:
			t.Errorf("%s: %v", kind, err)
		case !right && (refused == nil || refused.Path != debug || refused.Reason != "its build ID is "+otherID+", and "+id+" is expected"):
			t.Errorf("%s: a wrong debug file: %v", kind, err)
		}
	}
	check("live", stacktest.Take(t, program.PID), false)
	check("core", c.Snapshot(), false)
	run("--only-keep-debug", built(id), debug)
	check("live", stacktest.Take(t, program.PID), true)
	check("core", c.Snapshot(), true)
}

// A debug file that is slow to get does not delay those of other objects.
func TestDebugFilesAreSoughtAtOnce(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "chain.c", "-O2", "-s", "-Wl,--build-id=0x00000000000000001234567890abcdef"))
	p.Settle(t)
	s := stacktest.Take(t, p.PID)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// The result for the first one arrives after the request for another one.
	var mu sync.Mutex
	sought := make(map[string]bool)
	several := make(chan struct{})
	s.Search.Stores = []debugfile.Store{}
	s.Search.Fetch = func(_ debugfile.Kind, id []byte) (*os.File, error) {
		mu.Lock()
		before := len(sought)
		sought[string(id)] = true
		if before == 1 && len(sought) == 2 {
			close(several)
		}
		mu.Unlock()
		select {
		case <-several:
		case <-ctx.Done():
		}
		return nil, fs.ErrNotExist
	}
	objects := stack.NewObjects(s)
	defer objects.Close()
	objects.Walk(stack.WalkOptions{Lines: true})
	select {
	case <-several:
	case <-ctx.Done():
		t.Errorf("%d were asked for: the others wait for the first", len(sought))
	}
}

// A missing debug file is searched for once for the names of all frames and once for tail
// calls, however many frames there are.
func TestMissingDebugFileIsSoughtOnce(t *testing.T) {
	path := testprogram.Build(t, "chain.c", "-O2", "-s", "-Wl,--build-id=0x00000000000000001234567890abcdef")
	p := testprogram.Start(t, path)
	p.Settle(t)
	s := stacktest.Take(t, p.PID)
	var mu sync.Mutex
	sought := make(map[string]int)
	s.Search.Stores = []debugfile.Store{}
	s.Search.Fetch = func(_ debugfile.Kind, id []byte) (*os.File, error) {
		mu.Lock()
		defer mu.Unlock()
		sought[string(id)]++
		return nil, fs.ErrNotExist
	}
	objects := stack.NewObjects(s)
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{})
	if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
		t.Error(err)
	}
	frames := 0
	for _, stack := range stacks {
		for _, f := range stack.Frames {
			if f.Object != nil && f.Object.Name == path {
				frames++
			}
		}
	}
	if frames < 4 || len(sought) == 0 {
		t.Fatalf("%d frames, and %d files were sought: the test shows nothing", frames, len(sought))
	}
	for id, n := range sought {
		if n > 2 {
			t.Errorf("the debug file of %x was sought %d times", id, n)
		}
	}
}
