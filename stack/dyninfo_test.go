// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package stack_test

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// Code that only libunwind's dyn-info list describes, by regions and by a table, is named and
// walked through.
func TestDynInfo(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-DHIDDEN"}, {"-O2", "-DHIDDEN", "-rdynamic", "-s"}, {"-O2", "-static", "-DHIDDEN"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			p := testprogram.Start(t, testprogram.Build(t, "dyninfo.c", append(flags, "-fomit-frame-pointer")...))
			p.Settle(t)
			s := stacktest.Take(t, p.PID)
			stacks := stacktest.Stacks(t, s)
			at := named(stacks[0].Frames, []string{"jit_table", "jit_regions"})
			if at < 0 {
				t.Fatalf("the generated functions are not in %s", outline(stacks))
			}
			for _, f := range stacks[0].Frames[at : at+2] {
				if f.Object == nil || f.Object.Generated != generated.DynInfoList {
					t.Errorf("%s is in %+v", f.Symbol.Name, f.Object)
				}
			}
			for _, f := range stacks[0].Frames[at+1 : at+3] {
				if f.Method != unwind.FromCFI {
					t.Errorf("%s was found by %v", f.Symbol.Name, f.Method)
				}
			}
			if stacks[0].Reason != unwind.EndOfStack {
				t.Errorf("%v: %v", stacks[0].Reason, stacks[0].Err)
			}
			objects := stack.NewObjects(s)
			defer objects.Close()
			sources, err := objects.GeneratedCode()
			if err != nil || len(sources) != 1 || sources[0].Entries != 2 {
				t.Fatalf("%d sources: %v", len(sources), err)
			}
			sameInCore(t, testprogram.GCore(t, p.PID), &stacks[0], sources)
			for f := range sources[0].Functions() {
				if !f.Unwinds() || !f.Executable() {
					t.Errorf("%+v does not unwind", f)
				}
				if file, err := sources[0].SymbolFile(nil, []generated.Function{f}); err != nil || len(file) == 0 {
					t.Errorf("no symbol file of %s: %v", f.Name, err)
				}
			}
		})
	}
}
