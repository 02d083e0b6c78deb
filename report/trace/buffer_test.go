// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package trace

import (
	"bytes"
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
)

// Variables of a large group need no larger buffer than those of a small one, and a value that
// differs only in the last thread is reported.
func TestGroupBuffer(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	s, err := process.Snapshot(p.PID, nil)
	if err != nil {
		t.Fatal(err)
	}
	objects := stack.NewObjects(s)
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{Registers: true})
	if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
		t.Fatal(err)
	}
	list := Threads{Stacks: stacks, Variables: variable.NewReader(s, objects)}
	first, last := &stacks[1], &stacks[9] // equal stacks: the program repeats them after eight threads
	capacity := func(n int) (variables, text int) {
		v := list.variables(true, false)
		v.begin()
		others := append(slices.Repeat([]*stack.Stack{first}, n), last)
		differ := 0
		for i := range first.Frames {
			for _, c := range v.calls(first, i, others) {
				for _, a := range c.arguments {
					if bytes.HasSuffix(a.line, []byte("="+differs)) {
						differ++
					}
				}
			}
		}
		if differ == 0 {
			t.Error("no argument differs")
		}
		return cap(v.shown.variables), cap(v.shown.text)
	}
	variables, text := capacity(1)
	if v, s := capacity(1000); v != variables || s != text {
		t.Errorf("capacity for %d variables and %d bytes, for a small group %d and %d", v, s, variables, text)
	}
}
