// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// The code of the tests is [0x1000, 0x9000) of one module with bias 0, the
// stack is at 0x70000.
const stackAt = 0x70000

type walkTest struct {
	name      string
	machine   *arch.Machine
	section   func(t *testing.T) *cfi.Section
	memory    memory
	pc        uint64
	registers map[uint64]uint64
	frames    []string
	reason    unwind.Reason
	message   string            // of Err; "": nil
	last      map[uint64]uint64 // registers of the last frame
	unknown   []uint64          // registers that the last frame does not know
}

var walkTests = []walkTest{
	{
		name: "x86-64: three functions to the outermost", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", // CFA = rsp+8, rip at CFA-8
				function{0x1000, 0x1100, "0e20 8302"},      // rbx at CFA-16
				function{0x2000, 0x2100, "0e10 8602 0d06"}, // rbp at CFA-16, CFA = rbp+16
				function{0x3000, 0x3100, "0710"})           // rip undefined
		},
		memory: memory{stackAt: words(x86, 0, 0, 0x33, 0x2050, 1, 2, 0x77000, 0x3050)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x30, 3: 0xbad, 12: 12, 0: 0xaa},
		frames: []string{"1050 registers", "2050 CFI", "3050 CFI"}, reason: unwind.EndOfStack,
		last:    map[uint64]uint64{7: stackAt + 0x40, 6: 0x77000, 3: 0x33, 12: 12, 16: 0x3050},
		unknown: []uint64{0, 1, 2},
	},
	{
		name: "a return address of zero is the end", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}) },
		memory:  memory{stackAt: words(x86, 0)},
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.EndOfStack,
	},
	{
		name: "the last byte of a call's function tells where it is", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""},
				function{0x2000, 0x2100, "0e10"}, // ends with the call
				function{0x2100, 0x2200, "0e80 01"})
		},
		memory: memory{stackAt: words(x86, 0x2100, 0, 0)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers", "2100 CFI"}, reason: unwind.EndOfStack,
	},
	{
		name: "gcc's realigned stack: CFA = *(rbp-16)", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001",
				function{0x1000, 0x1100, "0f03 7670 06 1006 02 7600"}, // rbp at rbp+0
				function{0x2000, 0x2100, "0710"})
		},
		memory: memory{stackAt: words(x86, 0, 0, 0, 0, stackAt+0x70, 0, 0x55, 0, 0, 0, 0, 0, 0, 0x2050)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x30},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{6: 0x55, 7: stackAt + 0x70},
	},
	{
		name: "every kind of rule", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001",
				// r3 = r12, r6 = CFA-16, r12 = *(CFA+8), r13 same, r14 undefined, r15 = CFA+1
				function{0x1000, 0x1100, "09030c 140602 100c022308 080d 070e 160f022301 2e10"},
				function{0x2000, 0x2100, "0710"})
		},
		memory: memory{stackAt: words(x86, 0x2050, 1, 0xcc)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 12: 0x12, 13: 0x13, 14: 0x14},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
		last:    map[uint64]uint64{3: 0x12, 6: stackAt - 8, 12: 0xcc, 13: 0x13, 15: stackAt + 9},
		unknown: []uint64{14},
	},
	{
		name: "the PLT's expression reads the program counter", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0f0b 7708 8000 3f1a3b2a3324 22"},
				function{0x2000, 0x2100, "0710"})
		},
		memory: memory{stackAt: words(x86, 7, 0x2050)},
		pc:     0x100b, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"100b registers", "2050 CFI"}, reason: unwind.EndOfStack,
	},
	{
		name: "no rules and no frame pointer", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "0c0708 9001") },
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt, 6: 3},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "rbp holds no frame pointer (0x3, stack pointer 0x70000)",
	},
	{
		name: "a CFA from a register that is lost", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}, function{0x2000, 0x2100, "0c0008"})
		},
		memory: memory{stackAt: words(x86, 0x2050, 0)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 0: stackAt},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.NoRule, message: "rax is not known",
	},
	{
		name: "no CFA", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "9001", function{0x1000, 0x1100, ""}) },
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "the table does not define it",
	},
	{
		name: "no rule for the return address", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "0c0708", function{0x1000, 0x1100, ""}) },
		memory:  memory{stackAt: words(x86, 0x2050)},
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "no rule for the return address",
	},
	{
		name: "a stack that cannot be read", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}, function{0x2000, 0x2100, "0e10"})
		},
		memory: memory{stackAt: words(x86, 0x2050)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.UnreadableMemory, message: "cannot read 0x70010",
	},
	{
		name: "an expression that cannot read", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0f03 7670 06"})
		},
		pc: 0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.UnreadableMemory, message: "cannot read 0x6fff0",
	},
	{
		name: "an expression that loops", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0f03 2ffdff"})
		},
		pc: 0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "steps",
	},
	{
		name: "a frame that leads to itself", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0700 1610 03 0a5010", function{0x1000, 0x1100, ""})
		},
		pc: 0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.NoProgress, message: "leads to itself",
	},
	{
		name: "a frame that leads down the stack", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0c0610"})
		},
		memory: memory{stackAt - 64: words(x86, 0, 0x2050, 0)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt - 64},
		frames: []string{"1050 registers"}, reason: unwind.NoProgress, message: "back to 0x6ffd0",
	},
	{
		name: "a return address that is not code", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}) },
		memory:  memory{stackAt: words(x86, 0xdead0000, 0, 0, 0)},
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 16},
		frames: []string{"1050 registers", "dead0000 CFI"}, reason: unwind.NoRule, message: "is not code",
	},

	{
		name: "a signal handler: the interrupted frame is looked up where it is", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			s := build(t, x86, "", "0c0708 9001",
				function{0x1000, 0x1100, ""},
				function{0x3000, 0x3100, "0710"},    // interrupted at its first byte
				function{0x2f00, 0x3000, "0e80 01"}) // the one before it
			// The trampoline: CFA = *(rsp+16), rip = *(rsp+8), rbx = *rsp.
			trampoline := build(t, x86, "S", "0f03 7710 06 1010 02 7708 1003 02 7700", function{0x2000, 0x2010, ""})
			s.Data = append(s.Data, trampoline.Data...) // pointers are relative to themselves
			return s
		},
		memory: memory{stackAt: words(x86, 0x2001, 0x33, 0x3000, stackAt+0x80)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 0: 0xaa},
		frames: []string{"1050 registers", "2001 CFI, trampoline", "3000 CFI, interrupted"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{7: stackAt + 0x80, 3: 0x33},
	},
	{
		name: "a trampoline on a stack of its own leads down", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			s := build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}, function{0x3000, 0x3100, "0710"})
			trampoline := build(t, x86, "S", "0f03 7710 06 1010 02 7708", function{0x2000, 0x2010, ""})
			s.Data = append(s.Data, trampoline.Data...) // pointers are relative to themselves
			return s
		},
		memory: memory{stackAt: words(x86, 0x2001, 0, 0x3000, 0x50000)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers", "2001 CFI, trampoline", "3000 CFI, interrupted"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{7: 0x50000},
	},
	{
		name: "trampolines that lead down for ever", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			// CFA = rsp-16, rip = 0x1050
			return build(t, x86, "S", "0f02 7770 1610 03 0a5010", function{0x1000, 0x1100, ""})
		},
		pc: 0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: nil, reason: unwind.NoProgress, message: "more than 64 frames",
	},
	{
		name: "sigreturn without rules, x86-64", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}, function{0x3000, 0x3100, "0710"})
		},
		memory: memory{
			stackAt: words(x86, 0x2000, 0, 0, 0, 0, 0, // the return address, then ucontext: sigcontext at 40
				8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 0x666, 3, 1, 0xaa, 2, 0x50000, 0x3000),
			0x2000: {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05},
		},
		pc: 0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers", "2000 CFI, trampoline", "3000 signal context, interrupted"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{0: 0xaa, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 0x666, 7: 0x50000, 8: 8, 15: 15, 16: 0x3000},
	},
	{
		name: "sigreturn at the first byte of the code", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1100, 0x1200, ""}, function{0x3000, 0x3100, "0710"})
		},
		memory: memory{
			stackAt: words(x86, 0x1000, 0, 0, 0, 0, 0, 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 0x50000, 0x3000),
			0x1000:  {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05},
		},
		pc: 0x1150, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1150 registers", "1000 CFI, trampoline", "3000 signal context, interrupted"}, reason: unwind.EndOfStack,
	},
	{
		name: "sigreturn whose context cannot be read", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "") },
		memory:  memory{0x2000: {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}},
		pc:      0x2000, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"2000 registers, trampoline"}, reason: unwind.UnreadableMemory, message: "signal context",
	},
	{
		name: "sigreturn without rules, arm64", machine: arm64,
		section: func(t *testing.T) *cfi.Section {
			return build(t, arm64, "", "0c1f00", function{0x3000, 0x3100, "071e"})
		},
		memory: memory{
			stackAt + 312: words(arm64, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
				21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 0x50000, 0x3000),
			0x2000: {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4},
		},
		pc: 0x2000, registers: map[uint64]uint64{31: stackAt},
		frames: []string{"2000 registers, trampoline", "3000 signal context, interrupted"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{1: 1, 19: 19, 29: 29, 30: 30, 31: 0x50000, 32: 0x3000},
	},

	{
		name: "frame pointers where there are no rules, x86-64", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x3000, 0x3100, "0710"})
		},
		memory: memory{stackAt: words(x86, 0, 0, stackAt+0x30, 0x2050, 0, 0, stackAt+0x50, 0x3050)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x10, 3: 3, 12: 12},
		frames: []string{"1050 registers", "2050 frame pointer", "3050 frame pointer"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{6: stackAt + 0x50, 7: stackAt + 0x40},
		// The functions without rules may have changed them.
		unknown: []uint64{3, 12},
	},
	{
		name: "the outermost frame pointer is zero", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "") },
		memory:  memory{stackAt: words(x86, 0, 0x2050)},
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt},
		frames: []string{"1050 registers", "2050 frame pointer"}, reason: unwind.EndOfStack,
	},
	{
		name: "a frame pointer to where no code is", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "") },
		memory:  memory{stackAt: words(x86, stackAt, 0xdead)},
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "leads to 0xdead, which is not code",
	},
	{
		name: "a frame pointer that cannot be read", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "") },
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.UnreadableMemory, message: "by the frame pointer",
	},
	{
		name: "a frame pointer below the stack pointer", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "") },
		memory:  memory{stackAt - 16: words(x86, 0, 0x2050)},
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt - 16},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "holds no frame pointer",
	},
	{
		name: "frame pointers, arm64, a signed return address", machine: arm64,
		section: func(t *testing.T) *cfi.Section { return build(t, arm64, "", "") },
		memory:  memory{stackAt: words(arm64, 0, 0x002a000000002050)},
		pc:      0x1050, registers: map[uint64]uint64{31: stackAt, 29: stackAt},
		frames: []string{"1050 registers", "2050 frame pointer"}, reason: unwind.EndOfStack,
	},
	{
		name: "frame pointers, riscv64", machine: riscv,
		section: func(t *testing.T) *cfi.Section {
			return build(t, riscv, "", "0c0200", function{0x3000, 0x3100, "0701"})
		},
		memory: memory{stackAt: words(riscv, 0, 0, stackAt+0x40, 0x2050, 0, 0, 0x77, 0x3050)},
		pc:     0x1050, registers: map[uint64]uint64{2: stackAt, 8: stackAt + 0x20},
		frames: []string{"1050 registers", "2050 frame pointer", "3050 frame pointer"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{2: stackAt + 0x40, 8: 0x77},
	},
	{
		name: "no frame pointers on s390x", machine: s390x,
		section: func(t *testing.T) *cfi.Section { return build(t, s390x, "", "") },
		pc:      0x1050, registers: map[uint64]uint64{15: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "no FDE",
	},

	{
		name: "a call to zero, x86-64", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x2000, 0x2100, "0710"})
		},
		memory: memory{stackAt: words(x86, 0x2050)},
		pc:     0, registers: map[uint64]uint64{7: stackAt, 3: 3},
		frames: []string{"0 registers", "2050 bad call"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{7: stackAt + 8, 3: 3},
	},
	{
		name: "a call to zero, arm64", machine: arm64,
		section: func(t *testing.T) *cfi.Section {
			return build(t, arm64, "", "0c1f00", function{0x2000, 0x2100, "071e"})
		},
		pc: 0, registers: map[uint64]uint64{31: stackAt, 30: 0x2050},
		frames: []string{"0 registers", "2050 bad call"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{31: stackAt},
	},
	{
		name: "a signal interrupts a call to zero", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			s := build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}, function{0x3000, 0x3100, "0710"})
			trampoline := build(t, x86, "S", "0f03 7710 06 1010 02 7708", function{0x2000, 0x2010, ""})
			s.Data = append(s.Data, trampoline.Data...)
			return s
		},
		memory: memory{stackAt: words(x86, 0x2001, 0, 0, stackAt+0x40, 0, 0, 0, 0, 0x3050)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers", "2001 CFI, trampoline", "0 CFI, interrupted", "3050 bad call"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{7: stackAt + 0x48},
	},
	{
		name: "a jump to zero that no call led to", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "") },
		memory:  memory{stackAt: words(x86, 1)},
		pc:      0, registers: map[uint64]uint64{7: stackAt, 6: 1},
		frames: []string{"0 registers"}, reason: unwind.NoRule, message: "belongs to no module",
	},

	{
		name: "arm64: a leaf returns through its link register", machine: arm64,
		section: func(t *testing.T) *cfi.Section {
			return build(t, arm64, "", "0c1f00",
				function{0x1000, 0x1100, ""},
				function{0x2000, 0x2100, "0e10 9d02 9e01"},
				function{0x3000, 0x3100, "071e"})
		},
		memory: memory{stackAt: words(arm64, 0x29, 0x3050)},
		pc:     0x1050, registers: map[uint64]uint64{31: stackAt, 30: 0x2050, 29: 1, 19: 19, 9: 9},
		frames: []string{"1050 registers", "2050 CFI", "3050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{31: stackAt + 16, 29: 0x29, 19: 19}, unknown: []uint64{9},
	},
	{
		name: "arm64: a caller cannot return through its link register", machine: arm64,
		section: func(t *testing.T) *cfi.Section {
			return build(t, arm64, "", "0c1f00", function{0x1000, 0x1100, ""}, function{0x2000, 0x2100, "0e10"})
		},
		pc: 0x1050, registers: map[uint64]uint64{31: stackAt, 30: 0x2050},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.NoRule, message: "no rule for the return address",
	},
	{
		name: "arm64: not even where the rules call it unchanged", machine: arm64,
		section: func(t *testing.T) *cfi.Section {
			return build(t, arm64, "", "0c1f00", function{0x1000, 0x1100, "0e10 9e01"}, function{0x2000, 0x2100, "0e10 081e"})
		},
		memory: memory{stackAt: words(arm64, 0, 0x2050)},
		pc:     0x1050, registers: map[uint64]uint64{31: stackAt},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.NoRule, message: "no rule for the return address",
	},
	{
		name: "arm64: a signed return address", machine: arm64,
		section: func(t *testing.T) *cfi.Section {
			return build(t, arm64, "", "0c1f00", function{0x1000, 0x1100, "2d 0e10 9e01"}, function{0x2000, 0x2100, "071e"})
		},
		memory: memory{stackAt: words(arm64, 0, 0x7f2a000000002050)},
		pc:     0x1050, registers: map[uint64]uint64{31: stackAt},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{30: 0x2050},
	},
	{
		name: "i386", machine: i386,
		section: func(t *testing.T) *cfi.Section {
			return build(t, i386, "", "0c0404 8801", function{0x1000, 0x1100, "0e08 8502 0d05"}, function{0x2000, 0x2100, "0708"})
		},
		memory: memory{stackAt: words(i386, 0x55, 0x2050)},
		pc:     0x1050, registers: map[uint64]uint64{4: stackAt, 5: stackAt},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{4: stackAt + 8, 5: 0x55, 8: 0x2050},
	},
	{
		name: "x32: addresses of four bytes, slots of eight", machine: x32,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x32, "", "0c0708 9001", function{0x1000, 0x1100, "0e10 8602"}, function{0x3000, 0x3100, "0710"})
		},
		memory: memory{stackAt: words(x32, stackAt+16, 0x2050, 0x1122334455667788, 0x3050)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers", "2050 CFI", "3050 frame pointer"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{7: stackAt + 32, 6: 0x1122334455667788},
	},
	{
		name: "MIPS n32: big-endian slots of eight bytes", machine: n32,
		section: func(t *testing.T) *cfi.Section {
			return build(t, n32, "", "0c1d00", function{0x1000, 0x1100, "0e10 9f01 9002"}, function{0x2000, 0x2100, "071f"})
		},
		memory: memory{stackAt: words(n32, 16, 0x2050)},
		pc:     0x1050, registers: map[uint64]uint64{29: stackAt},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{29: stackAt + 16, 16: 16},
	},
	{
		name: "MIPS, a leaf", machine: mips,
		section: func(t *testing.T) *cfi.Section {
			return build(t, mips, "", "0c1d00", function{0x1000, 0x1100, ""}, function{0x2000, 0x2100, "071f"})
		},
		pc: 0x1050, registers: map[uint64]uint64{29: stackAt, 31: 0x2050},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
	},
	{
		name: "arm: the Thumb bit is no address", machine: arm,
		section: func(t *testing.T) *cfi.Section {
			return build(t, arm, "", "0c0d00", function{0x1000, 0x1100, "0e08 8e01 8402"},
				function{0x2000, 0x2050, "070e"}, function{0x2050, 0x2100, "0e80 01"})
		},
		memory: memory{stackAt: words(arm, 4, 0x2051)},
		pc:     0x1050, registers: map[uint64]uint64{13: stackAt},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{13: stackAt + 8, 4: 4, 15: 0x2050},
	},
	{
		name: "s390x: the CFA is 160 bytes above the caller's stack pointer", machine: s390x,
		section: func(t *testing.T) *cfi.Section {
			// r14 and r15 in the caller's save area, below the CFA by 48 and 40 bytes.
			return build(t, s390x, "", "0c0fa001", function{0x1000, 0x1100, ""}, function{0x2000, 0x2100, "0ec002 8e06 8f05"},
				function{0x3000, 0x3100, "070e"})
		},
		memory: memory{stackAt + 160 + 112: words(s390x, 0x3050, stackAt+160)},
		pc:     0x1050, registers: map[uint64]uint64{15: stackAt, 14: 0x2050},
		frames: []string{"1050 registers", "2050 CFI", "3050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{15: stackAt + 160},
	},
	{
		name: "ppc64: the link register has a column of its own", machine: ppc64,
		section: func(t *testing.T) *cfi.Section {
			return build(t, ppc64, "", "0c0100", function{0x1000, 0x1100, "0e70 11417e"}, function{0x2000, 0x2100, "0741"})
		},
		memory: memory{stackAt + 0x70 + 16: words(ppc64, 0x2050)},
		pc:     0x1050, registers: map[uint64]uint64{1: stackAt},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{1: stackAt + 0x70},
	},
	{
		name: "hppa: the stack grows upwards", machine: hppa,
		section: func(t *testing.T) *cfi.Section {
			return build(t, hppa, "", "0c1e00", function{0x1000, 0x1100, "1240 00 121e10 110205"}, function{0x2000, 0x2100, "0702"})
		},
		memory: memory{stackAt - 64 - 20: words(hppa, 0x2050)},
		pc:     0x1050, registers: map[uint64]uint64{30: stackAt},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{30: stackAt - 64},
	},
	{
		name: "sparc64: the window is on the stack, which is biased", machine: sparc,
		section: func(t *testing.T) *cfi.Section {
			return build(t, sparc, "", "0c0eff0f", function{0x1000, 0x1100, "0d1e 2d 090f1f"}, function{0x2000, 0x2100, "070f"})
		},
		memory: memory{stackAt + 2047: words(sparc, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x71000, 0x3050)},
		pc:     0x1050, registers: map[uint64]uint64{14: stackAt - 176, 30: stackAt, 31: 0x2050},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{14: stackAt, 16: 0x10, 30: 0x71000, 31: 0x3050},
	},
}

func TestWalk(t *testing.T) {
	for _, test := range walkTests {
		t.Run(test.name, func(t *testing.T) {
			s := test.section(t)
			for kind, source := range map[string]unwind.Source{
				"a table":  unwind.Compile(s),
				"sections": &unwind.Sections{EHFrame: s},
			} {
				var modules unwind.Modules
				modules.Add(0x1000, 0x9000, &unwind.Module{Name: "program", Source: source})
				w := &unwind.Walker{Machine: test.machine, Modules: &modules, Memory: test.memory}
				r := registers(test.pc, test.registers)
				got, reason := walk(w, r)
				if test.frames != nil && !slices.Equal(got, test.frames) || reason != test.reason {
					t.Fatalf("%s: %q, %v (%v)\nwant %q, %v", kind, got, reason, w.Err(), test.frames, test.reason)
				}
				if err := w.Err(); (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
					t.Errorf("%s: %v, want %q", kind, err, test.message)
				}
				var last unwind.Registers
				for f := range w.Walk(r) {
					last = *f.Registers
				}
				for c, want := range test.last {
					if v, ok := last.Get(c); !ok || v != want {
						t.Errorf("%s: %s is %#x, %v; want %#x", kind, test.machine.RegisterName(c), v, ok, want)
					}
				}
				for _, c := range test.unknown {
					if v, ok := last.Get(c); ok {
						t.Errorf("%s: %s is %#x, and should not be known", kind, test.machine.RegisterName(c), v)
					}
				}
			}
		})
	}
}

// recursion is a thread in a function that called itself n times, and its walker.
func recursion(tb testing.TB, n int) (*unwind.Walker, *unwind.Registers) {
	s := build(tb, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0e10 8602"}, function{0x2000, 0x2100, "0710"})
	var stack []uint64
	for i := range n {
		stack = append(stack, uint64(i), 0x1050)
	}
	stack[len(stack)-1] = 0x2050
	var modules unwind.Modules
	modules.Add(0x1000, 0x9000, &unwind.Module{Name: "program", Source: unwind.Compile(s)})
	w := &unwind.Walker{Machine: x86, Modules: &modules, Memory: memory{stackAt: words(x86, stack...)}}
	return w, registers(0x1050, map[uint64]uint64{7: stackAt})
}

func TestMaxFrames(t *testing.T) {
	w, r := recursion(t, 10)
	for most, want := range map[int]unwind.Reason{
		0: unwind.EndOfStack, 12: unwind.EndOfStack, 11: unwind.EndOfStack, 10: unwind.TooManyFrames, 1: unwind.TooManyFrames,
	} {
		w.MaxFrames = most
		frames, reason := walk(w, r)
		if n := len(frames); reason != want || most > 0 && n > most || reason == unwind.EndOfStack && n != 11 {
			t.Errorf("at most %d: %d frames, %v, %v", most, n, reason, w.Err())
		}
	}
	w.MaxFrames = 0
	for range w.Walk(r) {
		break // the walk ends when its reader does
	}
}

// Frames without end whose every register takes an expression of many steps
// are cut long before their number is.
func TestMaxWork(t *testing.T) {
	// 5000 times around: lit, dup, minus 1, branch; r3 to r6 by it.
	loop := "0a8813 1231 1c 12 28 faff"
	program := "0e08"
	for _, column := range []string{"03", "06", "0c", "0d"} {
		program += "16" + column + "0a" + loop
	}
	s := build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, program})
	var modules unwind.Modules
	modules.Add(0x1000, 0x9000, &unwind.Module{Name: "program", Source: unwind.Compile(s)})
	w := &unwind.Walker{Machine: x86, Modules: &modules, Memory: endless{}}
	for range 2 {
		frames, reason := walk(w, registers(0x1050, map[uint64]uint64{7: stackAt}))
		if n := len(frames); reason != unwind.TooManyFrames || n < 100 || n > 10000 || !strings.Contains(w.Err().Error(), "steps") {
			t.Errorf("%d frames, %v, %v", n, reason, w.Err())
		}
	}
}

// endless is a stack of return addresses to one function.
type endless struct{}

func (endless) ReadMemory(p []byte, _ uint64) error {
	clear(p)
	copy(p, []byte{0x50, 0x10})
	return nil
}

func TestWalkDoesNotAllocate(t *testing.T) {
	w, r := recursion(t, 100)
	frames := 0
	if n := testing.AllocsPerRun(20, func() {
		frames = 0
		for range w.Walk(r) {
			frames++
		}
	}); n != 0 || frames != 101 {
		t.Errorf("%v allocations for %d frames", n, frames)
	}
}

func TestModules(t *testing.T) {
	var m unwind.Modules
	loads := 0
	lazy := &unwind.Module{Name: "lazy"}
	lazy.Load = func(m *unwind.Module) {
		loads++
		m.Bias = 0x3000
		m.Source = unwind.Compile(build(t, x86, "", "0c0708 9001", function{0x0, 0x100, "0710"}))
	}
	m.Add(0x3000, 0x4000, lazy)
	m.Add(0x1000, 0x2000, nil)
	other := &unwind.Module{Name: "other"}
	m.Add(0x2000, 0x3000, other)
	for pc, want := range map[uint64]*unwind.Module{0x1000: nil, 0x1fff: nil, 0x2000: other, 0x2fff: other, 0x3000: lazy, 0x3fff: lazy} {
		for range 2 {
			if got, executable := m.Find(pc); got != want || !executable {
				t.Errorf("%#x: %v, %v", pc, got, executable)
			}
		}
	}
	for _, pc := range []uint64{0, 0xfff, 0x4000, 1<<64 - 1} {
		if got, executable := m.Find(pc); got != nil || executable {
			t.Errorf("%#x: %v, %v", pc, got, executable)
		}
	}
	w := &unwind.Walker{Machine: x86, Modules: &m, Memory: memory{}}
	for range 2 {
		if frames, reason := walk(w, registers(0x3050, map[uint64]uint64{7: stackAt})); reason != unwind.EndOfStack || loads != 1 {
			t.Errorf("%q, %v, loaded %d times", frames, reason, loads)
		}
	}
	for pc, want := range map[uint64]string{0x1050: "belongs to no module", 0x2050: "other has no call frame information"} {
		walk(w, registers(pc, map[uint64]uint64{7: stackAt, 6: 1}))
		if err := w.Err(); !errors.Is(err, cfi.ErrNoFDE) || !strings.Contains(err.Error(), want) {
			t.Errorf("%#x: %v, want %q", pc, err, want)
		}
	}
}

func TestRegisters(t *testing.T) {
	var r unwind.Registers
	r.Set(127, 1)
	r.Set(128, 2)
	r.Set(1<<63, 3)
	r.Forget(1 << 63)
	if v, ok := r.Get(127); v != 1 || !ok {
		t.Errorf("column 127 is %d, %v", v, ok)
	}
	for _, c := range []uint64{0, 126, 128, 1 << 63} {
		if v, ok := r.Get(c); ok {
			t.Errorf("column %d is %d", c, v)
		}
	}
	if r.Forget(127); r != (unwind.Registers{}) {
		if _, ok := r.Get(127); ok {
			t.Error("column 127 is still known")
		}
	}
}

func TestStrings(t *testing.T) {
	var got []string
	for m := unwind.FromRegisters; m <= unwind.FromCall+1; m++ {
		got = append(got, m.String())
	}
	for r := unwind.EndOfStack; r <= unwind.TooManyFrames+1; r++ {
		got = append(got, r.String())
	}
	want := "registers, CFI, frame pointer, signal context, bad call, Method(5), " +
		"end of stack, no rule, unreadable memory, no progress, too many frames, Reason(5)"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}
