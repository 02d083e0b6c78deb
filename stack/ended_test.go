// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package stack_test

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// If a target ends before its stacks are walked, the copies remain: each stack is walked to
// its end, or says why it is not.
func TestEndedBeforeWalk(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "chain.c", "-O2", "-g"))
	p.Settle(t)
	s := stacktest.Take(t, p.PID)
	p.Kill()
	objects := stack.NewObjects(s)
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{})
	if len(stacks) == 0 {
		t.Fatal("no stacks")
	}
	objects.Name(stacks, stack.NameOptions{Lines: true})
	for i := range stacks {
		stack := &stacks[i]
		if len(stack.Frames) == 0 || stack.Reason != unwind.EndOfStack && (stack.Err == nil || !strings.Contains(stack.Err.Error(), "has exited")) {
			t.Errorf("%d frames, %v: %v", len(stack.Frames), stack.Reason, stack.Err)
		}
	}
	if sources, err := objects.GeneratedCode(); len(sources) > 0 {
		t.Errorf("%+v, %v", sources, err)
	}
}
