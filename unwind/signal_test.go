// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"fmt"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// signalTests walk past frames that made no call: signals, also without rules, and calls to
// addresses without code.
var signalTests = []walkTest{
	{
		name: "a signal handler: the interrupted frame is looked up at its PC", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			s := build(t, x86, "", "0c0708 9001",
				function{0x1000, 0x1100, ""},
				function{0x3000, 0x3100, "0710"},    // a signal interrupts it at its first byte
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
		name: "a trampoline on a signal stack leads down", machine: x86,
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
		name: "trampolines that lead down endlessly", machine: x86,
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
		name: "sigreturn with an unreadable context", machine: x86,
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
		name: "sigreturn without rules, loongarch", machine: loong,
		section: func(t *testing.T) *cfi.Section {
			return build(t, loong, "", "0c0300", function{0x3000, 0x3100, "0701"})
		},
		memory: memory{
			stackAt + 304: words(loong, 0x3000, 0, 1, 2, 0x50000, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
				16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31),
			0x2000: {0x0b, 0x2c, 0x82, 0x03, 0, 0, 0x2b, 0},
		},
		pc: 0x2000, registers: map[uint64]uint64{3: stackAt},
		frames: []string{"2000 registers, trampoline", "3000 signal context, interrupted"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{1: 1, 3: 0x50000, 22: 22, 31: 31},
	},
	{
		name: "sigreturn of s390: the kernel's trampoline on the stack", machine: s390,
		section: func(t *testing.T) *cfi.Section {
			return build(t, s390, "", "0c0f60", function{0x3000, 0x3100, "070e"})
		},
		memory: memory{
			0x2000:        {0x0a, 0x77},
			stackAt + 112: words(s390, 0, 0x80003000, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0x50000, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115),
		},
		pc: 0x2000, registers: map[uint64]uint64{15: stackAt},
		frames: []string{"2000 registers, trampoline", "3000 signal context, interrupted"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{0: 0, 14: 14, 15: 0x50000, 48: 100, 63: 115},
	},
	{
		name: "rt_sigreturn of s390", machine: s390,
		section: func(t *testing.T) *cfi.Section {
			return build(t, s390, "", "0c0f60", function{0x3000, 0x3100, "070e"})
		},
		memory: memory{
			0x2000:        {0x0a, 0xad},
			stackAt + 256: words(s390, 0, 0x80003000, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0x50000, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115),
		},
		pc: 0x2000, registers: map[uint64]uint64{15: stackAt},
		frames: []string{"2000 registers, trampoline", "3000 signal context, interrupted"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{14: 14, 15: 0x50000},
	},
	{
		name: "sigreturn of MIPS n32: the trampoline has empty rules", machine: n32,
		section: func(t *testing.T) *cfi.Section {
			s := build(t, n32, "", "0c1d00", function{0x3000, 0x3100, "071f"})
			trampoline := build(t, n32, "S", "0c1d00", function{0x2000, 0x2010, ""})
			s.Data = append(s.Data, trampoline.Data...)
			return s
		},
		memory: memory{
			0x2000: {0x24, 0x02, 0x18, 0x43, 0, 0, 0, 0x0c},
			stackAt + 176: words(n32, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
				16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 0x50000, 30, 31),
			stackAt + 176 + 72*8: words(n32, 0x3000),
		},
		pc: 0x2000, registers: map[uint64]uint64{29: stackAt},
		frames: []string{"2000 registers, trampoline", "3000 signal context, interrupted"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{4: 4, 29: 0x50000, 31: 31},
	},
	{
		name: "the code of another trampoline of MIPS", machine: n32,
		section: func(t *testing.T) *cfi.Section { return build(t, n32, "", "") },
		memory:  memory{0x2000: {0x24, 0x02, 0x10, 0x17, 0, 0, 0, 0x0c}}, // o32's
		pc:      0x2000, registers: map[uint64]uint64{29: stackAt},
		frames: []string{"2000 registers"}, reason: unwind.NoRule, message: "no FDE",
	},
	{
		name: "sigreturn of m68k, code on a stack that is not executable", machine: m68k,
		section: func(t *testing.T) *cfi.Section {
			return build(t, m68k, "", "0c0f04 9801", function{0x1000, 0x1100, ""}, function{0x3000, 0x3100, "0718"})
		},
		// struct sigframe: the return address, signal, vector, pointer to sigcontext, code.
		memory: memory{
			stackAt:           words(m68k, stackAt+16, 11, 2, stackAt+28, 0x70774e40),
			stackAt + 28:      words(m68k, 0, 0x50000, 100, 101, 108, 109),
			stackAt + 28 + 24: {0x20, 0},
			stackAt + 28 + 26: words(m68k, 0x3000),
		},
		pc: 0x1050, registers: map[uint64]uint64{15: stackAt, 2: 2, 14: 14},
		frames: []string{"1050 registers", fmt.Sprintf("%x CFI, trampoline", stackAt+16), "3000 signal context, interrupted"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{0: 100, 1: 101, 8: 108, 9: 109, 15: 0x50000, 2: 2, 14: 14},
	},

	{
		name: "frame pointers without rules, x86-64", machine: x86,
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
		name: "a frame pointer that leads to no code", machine: x86,
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
		last: map[uint64]uint64{8: 0x77},
		// A variadic function saves its arguments between the record and its caller's frame.
		unknown: []uint64{2},
	},
	{
		name: "the back chain of ppc64, which ends with zero", machine: ppc64,
		section: func(t *testing.T) *cfi.Section { return build(t, ppc64, "", "") },
		memory: memory{
			stackAt:         words(ppc64, stackAt+0x100, 0, 0x2050), // its own return address is in its caller's frame
			stackAt + 0x100: words(ppc64, stackAt+0x200, 0, 0x2050),
			stackAt + 0x200: words(ppc64, 0, 0, 0x3050),
			0x2048:          number(ppc64, 4, 0x4bffefb9), 0x204c: number(ppc64, 4, 0x4bffefb5), // bl 0x1000
			0x304c: number(ppc64, 4, 0x4bffefb5),
		},
		pc: 0x1050, registers: map[uint64]uint64{1: stackAt, 65: 0x2050, 31: 31},
		frames: []string{"1050 registers", "2050 back chain", "3050 back chain"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{1: stackAt + 0x200}, unknown: []uint64{31},
	},
	{
		name: "a back chain that leads down", machine: ppc64,
		section: func(t *testing.T) *cfi.Section { return build(t, ppc64, "", "") },
		memory:  memory{stackAt: words(ppc64, stackAt-0x100, 0, 0x2050), stackAt - 0x100: words(ppc64, 0, 0, 0x2050), 0x204c: number(ppc64, 4, 0x4bffefb5)},
		pc:      0x1050, registers: map[uint64]uint64{1: stackAt, 65: 0x9999},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "no FDE",
	},
	{
		name: "s390x: a word is not a back chain if it does not lead to a call", machine: s390x,
		section: func(t *testing.T) *cfi.Section {
			return build(t, s390x, "", "0c0fa001", function{0x1000, 0x1100, ""})
		},
		memory: memory{stackAt: words(s390x, stackAt+0x100), stackAt + 0x100 + 112: words(s390x, 0x3050), 0x3048: make([]byte, 8)},
		pc:     0x1050, registers: map[uint64]uint64{15: stackAt, 14: 0x2050},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.NoRule, message: "no FDE",
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
		name: "a jump to zero without a call", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "") },
		memory:  memory{stackAt: words(x86, 1)},
		pc:      0, registers: map[uint64]uint64{7: stackAt, 6: 1},
		frames: []string{"0 registers"}, reason: unwind.NoRule, message: "belongs to no module",
	},
}
