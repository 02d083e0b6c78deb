// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/stack"
)

// Stacks that share frames can be named, and named again. Other slices of the same frames do
// not change when frames of tail calls are inserted.
func TestNameSharedFrames(t *testing.T) {
	for _, program := range []string{"chain.c", "tailcall.c"} {
		t.Run(program, func(t *testing.T) {
			p := testprogram.Start(t, testprogram.Build(t, program, "-O2", "-g"))
			p.Settle(t)
			s := stacktest.Take(t, p.PID)
			objects := stack.NewObjects(s)
			defer objects.Close()
			walked := objects.Walk(stack.WalkOptions{})[0].Frames
			named := func() []stack.Frame {
				t.Helper()
				stacks := []stack.Stack{{Frames: walked}, {Frames: walked}, {Frames: walked[1:]}}
				for range 2 {
					if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
						t.Fatal(err)
					}
				}
				whole, rest := stacks[0].Frames, stacks[2].Frames
				if !reflect.DeepEqual(stacks[1].Frames, whole) {
					t.Errorf("%+v\n%+v", stacks[1].Frames, whole)
				}
				if last := whole[len(whole)-len(rest):]; !reflect.DeepEqual(rest, last) {
					t.Errorf("%+v\n%+v", rest, last)
				}
				return whole
			}
			first := slices.Clone(named())
			tail := slices.ContainsFunc(first, func(f stack.Frame) bool { return f.TailCall })
			if first[0].Symbol.Name == "" || tail != (program == "tailcall.c") {
				t.Fatalf("%+v", first)
			}
			if repeated := named(); !reflect.DeepEqual(repeated, first) {
				t.Errorf("%+v\n%+v", repeated, first)
			}
		})
	}
}
