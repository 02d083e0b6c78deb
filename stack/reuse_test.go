// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
)

// The objects of one snapshot are used for another one of the same process: their files are
// not opened again, and the stacks are those of the second one.
func TestSetSnapshot(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g", "-pthread"))
	p.Settle(t)
	take := func() *snapshot.Snapshot {
		s, err := process.Snapshot(p.PID, &process.Options{Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	names := func(s *snapshot.Snapshot, o *stack.Objects) (list [][]string, files map[string]any) {
		stacks := o.Walk(stack.WalkOptions{})
		if err := o.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
			t.Fatal(err)
		}
		files = make(map[string]any)
		for i := range stacks {
			if stacks[i].Thread != &s.Threads[i] {
				t.Errorf("stack %d is not of the snapshot's thread", i)
			}
			var names []string
			for _, f := range stacks[i].Frames {
				names = append(names, f.Symbol.Name)
				file, err := f.Object.File()
				if err != nil {
					t.Fatal(err)
				}
				files[f.Object.Name] = file
			}
			list = append(list, names)
		}
		return list, files
	}
	first := take()
	objects := stack.NewObjects(first)
	defer objects.Close()
	want, opened := names(first, objects)
	second := take()
	objects.SetSnapshot(second)
	got, files := names(second, objects)
	if len(got) != 65 || len(want) != 65 {
		t.Fatalf("%d and %d stacks", len(want), len(got))
	}
	for i := range want {
		if len(got[i]) != len(want[i]) || got[i][len(got[i])-1] != want[i][len(want[i])-1] {
			t.Errorf("thread %d: %q, before %q", i, got[i], want[i])
		}
	}
	for name, file := range files {
		if opened[name] != file {
			t.Errorf("%s was opened again", name)
		}
	}
}
