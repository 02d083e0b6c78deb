// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// Damaged registers and stacks end a walk with a reason, without a panic or an endless loop.
func TestDamagedStacks(t *testing.T) {
	program := testprogram.Start(t, testprogram.Build(t, "nested64.c", "-O2", "-fomit-frame-pointer"))
	program.Settle(t)
	whole := stacktest.Take(t, program.PID)
	objects := stack.NewObjects(whole)
	defer objects.Close()
	thread := &whole.Threads[0]
	intact := *thread
	executable := slices.IndexFunc(whole.Mappings, func(m snapshot.Mapping) bool { return m.Executable })
	code := whole.Mappings[executable]
	random := rand.New(rand.NewPCG(1, 2))
	reasons := make(map[unwind.Reason]int)
	for n := range 4000 {
		*thread = intact
		thread.Stack = slices.Clone(intact.Stack)
		value := func() uint64 {
			switch random.IntN(5) {
			case 0:
				return random.Uint64()
			case 1:
				return intact.StackAddress + random.Uint64N(uint64(len(intact.Stack)))
			case 2:
				return code.Start + random.Uint64N(code.End-code.Start)
			case 3:
				return -random.Uint64N(64)
			}
			return random.Uint64N(64)
		}
		for range random.IntN(4) {
			column := []uint64{3, 6, 7, 10, 12, 13, 14, 15}[random.IntN(8)] // rbx rbp rsp r10 r12 …
			thread.Registers.Set(column, value())
		}
		if random.IntN(3) == 0 {
			thread.Registers.PC = value()
		}
		for range random.IntN(64) {
			at := random.IntN(len(thread.Stack)-8) &^ 7
			v := value()
			for i := range 8 {
				thread.Stack[at+i] = byte(v >> (8 * i))
			}
		}
		walked := objects.Walk(stack.WalkOptions{MaxFrames: 1000})[0]
		if len(walked.Frames) == 0 {
			t.Fatalf("round %d: not even the innermost frame", n)
		}
		if walked.Reason != unwind.EndOfStack && walked.Err == nil {
			t.Fatalf("round %d: %v, and no error says more", n, walked.Reason)
		}
		reasons[walked.Reason]++
	}
	*thread = intact
	for _, r := range []unwind.Reason{unwind.EndOfStack, unwind.NoRule, unwind.UnreadableMemory, unwind.NoProgress} {
		if reasons[r] == 0 {
			t.Errorf("no walk ended by %v: %v", r, reasons)
		}
	}
	if s := objects.Walk(stack.WalkOptions{})[0]; s.Reason != unwind.EndOfStack {
		t.Errorf("intact again: %v: %v", s.Reason, s.Err)
	}
}
