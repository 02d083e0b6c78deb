// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"slices"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// namesThrough returns the names of the frames of the stack that contains a function, and how
// often each comes in a row.
func namesThrough(t *testing.T, stacks []stack.Stack, through string) (names []string, times map[string]int, end unwind.Reason) {
	t.Helper()
	s, _ := stacktest.Through(t, stacks, through)
	times = make(map[string]int)
	for _, r := range rows(s) {
		name := plain(r.name)
		if times[name]++; times[name] == 1 {
			names = append(names, name)
		}
	}
	return names, times, s.Reason
}

// A program with split stacks runs most functions on pieces of stack that __morestack adds.
func TestSplitStacks(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "split.c", "-O1", "-g", "-fsplit-stack"))
	p.Settle(t)
	check := func(s *snapshot.Snapshot) {
		t.Helper()
		names, times, end := namesThrough(t, stacktest.Stacks(t, s), "down")
		if times["down"] != 101 || times["__morestack"] < 3 || !slices.Contains(names, "main") || end != unwind.EndOfStack {
			t.Errorf("%q, %d of down, %d of __morestack, then %v", names, times["down"], times["__morestack"], end)
		}
	}
	check(stacktest.Take(t, p.PID))
	check(stacktest.OpenCore(t, testprogram.GCore(t, p.PID), nil).Snapshot())
}

// The goroutines of gccgo have split stacks, and start by makecontext.
func TestGccgoStacks(t *testing.T) {
	source := testprogram.Source(t, "split.go", `package main

//extern pause
func pause() int32

//extern puts
func puts(*byte) int32

//extern fflush
func fflush(*byte) int32

func down(n int) int {
	var b [6000]byte
	b[n] = 1
	if n == 0 {
		puts(&[]byte("ready\x00")[0])
		fflush(nil)
		for {
			pause()
		}
	}
	return down(n-1) + int(b[n])
}

func main() { down(2000) }
`)
	p := testprogram.Start(t, testprogram.Compile(t, "split", source, "gccgo", "-g", "-fsplit-stack"))
	p.Settle(t)
	names, times, end := namesThrough(t, stacktest.Stacks(t, stacktest.Take(t, p.PID)), "main.down")
	if times["main.down"] != 2001 || times["__morestack"] == 0 || !slices.Contains(names, "main.main") || end != unwind.EndOfStack {
		t.Errorf("%q, %d of down, %d of __morestack, then %v", names, times["main.down"], times["__morestack"], end)
	}
}

// The stack of a coroutine ends where makecontext started it.
func TestCoroutine(t *testing.T) {
	check := func(s *snapshot.Snapshot) {
		t.Helper()
		names, _, end := namesThrough(t, stacktest.Stacks(t, s), "body")
		at := slices.Index(names, "inner")
		if at < 0 || len(names) < at+3 || !slices.Equal(names[at:at+3], []string{"inner", "outer", "body"}) || len(names) > at+4 || end != unwind.EndOfStack {
			t.Errorf("%q, then %v", names, end)
		}
	}
	p := testprogram.Start(t, testprogram.Build(t, "coroutine.c", "-O0", "-g"))
	p.Settle(t)
	check(stacktest.Take(t, p.PID))
	t.Run("arm64", func(t *testing.T) {
		e := testprogram.Emulations["arm64"]
		program := e.Build(t, "coroutine.c", "-O1", "-g")
		path := testprogram.Core(t, testprogram.CoreOptions{Emulation: &e}, program)
		check(stacktest.OpenCore(t, path, &core.Options{Search: debugfile.Search{Root: e.Root()}, Program: program}).Snapshot())
	})
}
