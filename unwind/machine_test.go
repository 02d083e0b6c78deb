// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// machineTests check facts that differ between machines.
var machineTests = []walkTest{
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
		name: "arm64: a caller cannot, even if the rules call it unchanged", machine: arm64,
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
		name: "arm: the Thumb bit is not part of an address", machine: arm,
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
		name: "s390: the highest bit of an address is the mode", machine: s390,
		section: func(t *testing.T) *cfi.Section {
			return build(t, s390, "", "0c0f60", function{0x1000, 0x1100, ""}, function{0x2000, 0x2100, "0ec001 8e0a"},
				function{0x3000, 0x3100, "070e"})
		},
		memory: memory{stackAt + 96 + 56: words(s390, 0x80003050)},
		pc:     0x1050, registers: map[uint64]uint64{15: stackAt, 14: 0x80002050},
		frames: []string{"1050 registers", "2050 CFI", "3050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{15: stackAt + 96},
	},
	{
		name: "ppc64: the link register has another column", machine: ppc64,
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
		// The call is at 0x2050: its function continues after the delay slot.
		frames: []string{"1050 registers", "2058 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{14: stackAt, 16: 0x10, 30: 0x71000, 31: 0x3050},
	},
}
