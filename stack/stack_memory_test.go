// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
)

// The stacks of many threads take only the memory of their frames: no list is copied
// repeatedly.
func TestWalkMemory(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "goroutines"))
	p.Settle(t)
	s, err := process.Snapshot(p.PID, nil)
	if err != nil {
		t.Fatal(err)
	}
	objects := stack.NewObjects(s)
	t.Cleanup(func() { objects.Close() })
	stacks := objects.Walk(stack.WalkOptions{})
	deepest := slices.MaxFunc(stacks, func(a, b stack.Stack) int { return len(a.Frames) - len(b.Frames) })
	const threads = 20_000
	s.Threads = slices.Repeat([]snapshot.Thread{*deepest.Thread}, threads)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	stacks = objects.Walk(stack.WalkOptions{})
	runtime.ReadMemStats(&after)
	frames := 0
	for i := range stacks {
		frames += len(stacks[i].Frames)
		if !slices.EqualFunc(stacks[i].Frames, deepest.Frames, func(a, b stack.Frame) bool { return a.PC == b.PC && a.SP == b.SP }) {
			t.Fatalf("stack %d is not that of its thread", i)
		}
	}
	want := uint64(frames)*uint64(unsafe.Sizeof(stack.Frame{})) + threads*(uint64(unsafe.Sizeof(stack.Stack{}))+100)
	if got := after.TotalAlloc - before.TotalAlloc; frames < threads || got > want*3/2 {
		t.Errorf("%d bytes were allocated for %d frames, want about %d", got, frames, want)
	}
}
