// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"slices"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// switchTests walk from one stack to another.
var switchTests = []walkTest{
	{
		name: "the CFA is read from memory: a stack further down", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001",
				function{0x1000, 0x1100, "0f05 7710 06 2308"}, // CFA = *(rsp+16) + 8
				function{0x3000, 0x3100, "0710"})
		},
		memory: memory{stackAt: words(x86, 0, 0, 0x50008), 0x50000: words(x86, 0, 0x3050)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers", "3050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{7: 0x50010},
	},
	{
		name: "arm64: the CFA is read from memory with deref_size", machine: arm64,
		section: func(t *testing.T) *cfi.Section {
			return build(t, arm64, "", "0c1f00",
				function{0x1000, 0x1100, "0f04 8f10 9408 9e01"}, // CFA = *(sp+16), x30 at CFA-8
				function{0x3000, 0x3100, "071e"})
		},
		memory: memory{stackAt: words(arm64, 0, 0, 0x50010), 0x50000: words(arm64, 0, 0x3050)},
		pc:     0x1050, registers: map[uint64]uint64{31: stackAt},
		frames: []string{"1050 registers", "3050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{31: 0x50010},
	},
	{
		name: "two functions that change stacks lead to each other", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001",
				function{0x1000, 0x1100, "0f03 7710 06"}, // CFA = *(rsp+16)
				function{0x2000, 0x2100, "0f03 7700 06"}) // CFA = *rsp
		},
		memory: memory{stackAt: words(x86, 0, 0x1050, 0x50010, 0, 0x50010), 0x50008: words(x86, 0x2050, stackAt+16)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers", "2050 CFI", "1050 CFI"}, reason: unwind.NoProgress, message: "where the walk has been before",
	},
	{
		name: "a function that aligned its stack leads to itself", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0f03 7678 06"}) // CFA = *(rbp-8), as gcc writes it
		},
		memory: memory{stackAt: words(x86, 0x1050, stackAt+8)},
		pc:     0x1050, registers: map[uint64]uint64{6: stackAt + 16, 7: stackAt + 8},
		frames: []string{"1050 registers"}, reason: unwind.NoProgress, message: "leads to itself",
	},
	{
		name: "an expression without a read must not lead down", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0f02 7770"}) // CFA = rsp-16
		},
		memory: memory{stackAt - 24: words(x86, 0x1080)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.NoProgress, message: "back to",
	},
	{
		name: "x86-64: the first function of a coroutine returns to __start_context", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}, function{0x3000, 0x3100, ""})
		},
		memory: memory{stackAt: words(x86, 0x3000, 0x99990), 0x2ff0: make([]byte, 16)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 64},
		frames: []string{"1050 registers", "3000 CFI"}, reason: unwind.EndOfStack,
	},
	{
		name: "x86-64: a function that was not called, with another address of code after it", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}, function{0x3000, 0x3100, ""})
		},
		memory: memory{stackAt: words(x86, 0x3000, 0x1010), 0x2ff0: make([]byte, 16)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 6: 1},
		frames: []string{"1050 registers", "3000 CFI"}, reason: unwind.NoRule, message: "no FDE",
	},
	{
		name: "arm64: the first function of a coroutine returns to __startcontext", machine: arm64,
		section: func(t *testing.T) *cfi.Section {
			return build(t, arm64, "", "0c1f00", function{0x1000, 0x1100, "9e01 0e10"}, function{0x3000, 0x3100, ""})
		},
		memory: memory{stackAt: words(arm64, 0, 0x3000), 0x2ff0: make([]byte, 16)},
		pc:     0x1050, registers: map[uint64]uint64{31: stackAt, 29: 0},
		frames: []string{"1050 registers", "3000 CFI"}, reason: unwind.EndOfStack,
	},
}

// TestSwitchesStack walks from a function whose rules are those of any function. Only its
// module knows that it changes stacks, as __morestack does.
func TestSwitchesStack(t *testing.T) {
	s := build(t, x86, "", "0c0708 9001",
		function{0x1000, 0x1100, "0c0610 8602"}, // CFA = rbp+16, rbp at CFA-16
		function{0x3000, 0x3100, "0710"})
	for name, test := range map[string]struct {
		switches func(pc uint64) bool
		reason   unwind.Reason
		frames   []string
	}{
		"unknown":          {nil, unwind.NoProgress, []string{"1150 registers"}},
		"another function": {func(pc uint64) bool { return pc >= 0x3000 }, unwind.NoProgress, []string{"1150 registers"}},
		"the function":     {func(pc uint64) bool { return pc < 0x3000 }, unwind.EndOfStack, []string{"1150 registers", "3150 CFI"}},
	} {
		var modules unwind.Modules
		modules.Add(0x1100, 0x9100, &unwind.Module{Name: "program", Bias: 0x100, Source: unwind.Compile(s), SwitchesStack: test.switches})
		w := &unwind.Walker{Machine: x86, Modules: &modules, Memory: memory{0x50000: words(x86, 0x77, 0x3150)}}
		r := registers(0x1150, map[uint64]uint64{6: 0x50000, 7: stackAt})
		for range 2 {
			if got, reason := walk(w, r); !slices.Equal(got, test.frames) || reason != test.reason {
				t.Errorf("%s: %q, %v (%v)", name, got, reason, w.Err())
			}
		}
		var trail unwind.Trail
		if err := compareWalks(w, &trail, r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
