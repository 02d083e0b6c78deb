// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// code returns the code of a test at 0x1000: zeros, except for pieces at their addresses.
func code(t *testing.T, pieces map[uint64]string) []byte {
	b := make([]byte, 0x3000)
	for at, digits := range pieces {
		copy(b[at-0x1000:], unhex(t, digits))
	}
	return b
}

// call returns the code of a call of x86 or arm64 that ends at an address.
func call(m *arch.Machine, returns, target uint64) (at uint64, digits string) {
	if m == arm64 {
		op := 0x94000000 | uint32(target-(returns-4))>>2&0x3ffffff
		return returns - 4, hexOf(op)
	}
	return returns - 5, "e8" + hexOf(uint32(target-returns))
}

func hexOf(v uint32) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, b := range binary.LittleEndian.AppendUint32(nil, v) {
		s.WriteByte(digits[b>>4])
		s.WriteByte(digits[b&15])
	}
	return s.String()
}

// Frames that no rules cover: 0x1000 to 0x1fff has no call frame information. If functions
// are known, they start at 0x1000, 0x1200 and 0x1400.
var uncoveredTests = []struct {
	name      string
	machine   *arch.Machine
	functions []function // with rules
	code      map[uint64]string
	calls     map[uint64]uint64 // by return address
	stack     []uint64
	pc        uint64
	registers map[uint64]uint64
	unnamed   bool // the starts of functions are not known
	frames    []string
	reason    unwind.Reason
	message   string
	last      map[uint64]uint64
	unknown   []uint64
}{
	{
		name: "a leaf returns to the word at its stack pointer", machine: x86,
		functions: []function{{0x2000, 0x2100, "0e10"}, {0x3000, 0x3100, "0710"}},
		calls:     map[uint64]uint64{0x2050: 0x1000, 0x3050: 0x2000},
		stack:     []uint64{0x2050, 0, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: 1, 3: 3},
		frames: []string{"1010 registers", "2050 return address", "3050 CFI"},
		last:   map[uint64]uint64{7: stackAt + 24, 3: 3},
	},
	{
		name: "the direct caller is not skipped for the one of the frame pointer", machine: x86,
		functions: []function{{0x2000, 0x2100, "0e10 8602 0d06"}, {0x3000, 0x3100, "0710"}},
		calls:     map[uint64]uint64{0x2050: 0x1000, 0x3050: 0x2000},
		stack:     []uint64{0x2050, 0, stackAt + 0x50, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 16},
		frames: []string{"1010 registers", "2050 return address", "3050 CFI"},
	},
	{
		name: "an indirect call can be one of the function", machine: x86,
		functions: []function{{0x2000, 0x2100, "0e10"}, {0x3000, 0x3100, "0710"}},
		code:      map[uint64]string{0x204e: "ffd0"}, // call *%rax
		calls:     map[uint64]uint64{0x3050: 0x2000},
		stack:     []uint64{0x2050, 0, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1010 registers", "2050 return address", "3050 CFI"},
	},
	{
		name: "the called function has made a tail call of the leaf", machine: x86,
		functions: []function{{0x2000, 0x2100, "0e10"}, {0x2200, 0x2300, ""}, {0x3000, 0x3100, "0710"}},
		calls:     map[uint64]uint64{0x2050: 0x2200, 0x3050: 0x2000},
		stack:     []uint64{0x2050, 0, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1010 registers", "2050 return address, gap", "3050 CFI"},
	},
	{
		name: "no gap for a function with only a tail call", machine: x86,
		functions: []function{{0x2000, 0x2100, "0e10"}, {0x3000, 0x3100, "0710"}},
		code:      map[uint64]string{0x1400: "f30f1efa e9f7fbffff"}, // endbr64; jmp 0x1000
		calls:     map[uint64]uint64{0x2050: 0x1400, 0x3050: 0x2000},
		stack:     []uint64{0x2050, 0, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1010 registers", "2050 return address", "3050 CFI"},
	},
	{
		name: "through the procedure linkage table", machine: x86,
		functions: []function{{0x2000, 0x2100, "0e10"}, {0x3000, 0x3100, "0710"}},
		code:      map[uint64]string{0x2200: "f30f1efa f2ff25f5000000", 0x2300: "0010"}, // the slot at 0x2300
		calls:     map[uint64]uint64{0x2050: 0x2200, 0x3050: 0x2000},
		stack:     []uint64{0x2050, 0, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1010 registers", "2050 return address", "3050 CFI"},
	},
	{
		name: "an old return address is not used if a record has one", machine: x86,
		functions: []function{{0x2000, 0x2100, "0e10"}, {0x3000, 0x3100, "0710"}},
		code:      map[uint64]string{0x1000: "554889e54883ec20"}, // push %rbp; mov %rsp,%rbp; sub $32,%rsp
		calls:     map[uint64]uint64{0x2050: 0x1000, 0x2080: 0x1200, 0x3050: 0x2000},
		stack:     []uint64{0x2080, 0, 0, 0, 0, 0x2050, 0, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x20},
		frames: []string{"1010 registers", "2050 frame pointer", "3050 CFI"},
	},
	{
		name: "an old return address is not used if its frame cannot be left", machine: x86,
		functions: []function{{0x2000, 0x2100, "0e10"}},
		code:      map[uint64]string{0x207e: "ffd0"},
		calls:     map[uint64]uint64{0x2050: 0x1000},
		stack:     []uint64{0x2080, 0, 0x2000, 0},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: 3},
		frames: []string{"1010 registers"}, reason: unwind.NoRule, message: "holds no frame pointer",
	},
	{
		name: "a word that does not follow a call is not a return address", machine: x86,
		functions: []function{{0x2000, 0x2100, "0e10"}},
		stack:     []uint64{0x2050, 0, 0x2000, 0},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: 3},
		frames: []string{"1010 registers"}, reason: unwind.NoRule, message: "holds no frame pointer",
	},
	{
		name: "between push and mov of a prologue", machine: x86,
		functions: []function{{0x2000, 0x2100, "0710"}},
		code:      map[uint64]string{0x1000: "f30f1efa 554889e5"},
		calls:     map[uint64]uint64{0x2050: 0x1000},
		stack:     []uint64{stackAt + 0x100, 0x2050},
		pc:        0x1005, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x100},
		frames: []string{"1005 registers", "2050 code"},
		last:   map[uint64]uint64{7: stackAt + 16, 6: stackAt + 0x100},
	},
	{
		name: "at the return of a function with a prologue", machine: x86,
		functions: []function{{0x2000, 0x2100, "0710"}},
		code:      map[uint64]string{0x1000: "554889e5", 0x1010: "c3"},
		calls:     map[uint64]uint64{0x2050: 0x1000},
		stack:     []uint64{0x2050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x100},
		frames: []string{"1010 registers", "2050 return address"},
	},
	{
		name: "without symbols a call leads to the function", machine: x86, unnamed: true,
		functions: []function{{0x2000, 0x2100, "0e10"}, {0x3000, 0x3100, "0710"}},
		calls:     map[uint64]uint64{0x2050: 0x1000, 0x3050: 0x2000},
		stack:     []uint64{0x2050, 0, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x100},
		frames: []string{"1010 registers", "2050 return address", "3050 CFI"},
	},
	{
		name: "without symbols the record of the called function", machine: x86, unnamed: true,
		functions: []function{{0x2000, 0x2100, "0e10"}, {0x3000, 0x3100, "0710"}},
		code:      map[uint64]string{0x1000: "554889e54883ec20"},
		calls:     map[uint64]uint64{0x2050: 0x1000, 0x3050: 0x2000},
		stack:     []uint64{0x2050, 0, stackAt + 0x100, 0x2050, 0, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x10},
		frames: []string{"1010 registers", "2050 frame pointer", "3050 CFI"},
	},
	{
		name: "a function without a frame pointer in a chain of them", machine: x86,
		functions: []function{{0x3000, 0x3100, "0710"}},
		code:      map[uint64]string{0x1000: "4883ec20", 0x1200: "554889e5"}, // sub $32,%rsp
		calls:     map[uint64]uint64{0x1250: 0x1000, 0x3050: 0x1200},
		stack:     []uint64{0, 0, 0, 0, 0x1250, 0, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x28},
		frames: []string{"1010 registers", "1250 code", "3050 frame pointer"},
	},
	{
		name: "a function in a chain with code that cannot be followed", machine: x86,
		functions: []function{{0x3000, 0x3100, "0710"}},
		code:      map[uint64]string{0x1000: "4883ec20 ffe0", 0x1200: "554889e5"}, // sub $32,%rsp; jmp *%rax
		calls:     map[uint64]uint64{0x1250: 0x1000, 0x3050: 0x1200},
		stack:     []uint64{0, 0, 0, 0, 0x1250, 0, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x28},
		frames: []string{"1010 registers", "3050 frame pointer, gap"},
	},
	{
		name: "a middle frame by its code, with saved registers", machine: x86,
		functions: []function{{0x3000, 0x3100, "0710"}},
		// 0x1200: push %r12; push %rbx; sub $24,%rsp; xor %ebx,%ebx; nop...
		code:  map[uint64]string{0x1200: "4154 53 4883ec18 31db 9090"},
		calls: map[uint64]uint64{0x1210: 0x1000, 0x3050: 0x1200},
		stack: []uint64{0x1210, 0, 0, 0x3050, 3, 12, 0x3050},
		pc:    0x1010, registers: map[uint64]uint64{7: stackAt, 6: 6, 3: 33, 12: 34},
		frames: []string{"1010 registers", "1210 return address", "3050 code"},
		last:   map[uint64]uint64{7: stackAt + 7*8, 3: 3, 12: 12, 6: 6},
	},
	{
		name: "a register that is overwritten but not saved is lost", machine: x86,
		functions: []function{{0x3000, 0x3100, "0710"}},
		// 0x1200: pop %rax; push %rax; push %rax; xor %ebp,%ebp; mov $1,%r12d; nop...
		code:  map[uint64]string{0x1200: "58 50 50 31ed 41bc01000000"},
		calls: map[uint64]uint64{0x1210: 0x1000, 0x3050: 0x1200},
		stack: []uint64{0x1210, 0x3050, 0x3050},
		pc:    0x1010, registers: map[uint64]uint64{7: stackAt, 6: 6, 3: 33, 12: 34},
		frames: []string{"1010 registers", "1210 return address", "3050 code"},
		last:   map[uint64]uint64{7: stackAt + 3*8, 3: 33}, unknown: []uint64{6, 12},
	},
	{
		name: "a function with a record whose caller is unknown", machine: x86,
		functions: []function{{0x3000, 0x3100, "0710"}},
		code:      map[uint64]string{0x1200: "55 4889e5 4883ec08"}, // push %rbp; mov %rsp,%rbp; sub $8,%rsp
		calls:     map[uint64]uint64{0x120d: 0x1000, 0x3050: 0x1400},
		stack:     []uint64{0x120d, 0, stackAt + 0x80, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 16},
		frames: []string{"1010 registers", "120d return address", "3050 frame pointer"},
	},
	{
		name: "a record whose word does not follow a call", machine: x86,
		functions: []function{{0x3000, 0x3100, "0710"}},
		code:      map[uint64]string{0x1200: "4154 53 4883ec18 31db 9090"},
		calls:     map[uint64]uint64{0x1210: 0x1000},
		stack:     []uint64{0x1210, 0, 0, 0, 3, 12, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{7: stackAt, 6: 6},
		frames: []string{"1010 registers", "1210 return address"}, reason: unwind.NoRule, message: "holds no frame pointer",
	},
	{
		name: "the first function of a stack zeroes the frame pointer", machine: x86,
		code:  map[uint64]string{0x1200: "31ed 4889e7 4883e4f0 9090"}, // xor %ebp,%ebp; mov %rsp,%rdi; and $-16,%rsp
		calls: map[uint64]uint64{0x1210: 0x1000},
		stack: []uint64{0x1210, 0, 0},
		pc:    0x1010, registers: map[uint64]uint64{7: stackAt, 6: 0},
		frames: []string{"1010 registers", "1210 return address"},
	},
	{
		name: "a return address that was copied when the stack was aligned", machine: x86,
		functions: []function{{0x2000, 0x2100, "0e10"}},
		code:      map[uint64]string{0x1000: "4c8d5424084883e4e041ff72f8 554889e5"}, // lea 8(%rsp),%r10; and; push -8(%r10); push %rbp; mov
		calls:     map[uint64]uint64{0x2050: 0x1000},
		stack:     []uint64{stackAt + 0x100, 0x2050, 0, 0, 0, 0, 0x2050},
		pc:        0x1020, registers: map[uint64]uint64{7: stackAt, 6: stackAt},
		frames: []string{"1020 registers", "2050 frame pointer"}, reason: unwind.NoRule, message: "does not follow a call",
	},
	{
		name: "a leaf that a signal interrupted", machine: x86,
		functions: []function{{0x2000, 0x2100, "0e10"}, {0x2200, 0x2300, ""}, {0x3000, 0x3100, "0710"}},
		code:      map[uint64]string{0x3800: "48c7c00f0000000f05"}, // mov $15,%rax; syscall
		calls:     map[uint64]uint64{0x2050: 0x1000, 0x3050: 0x2000},
		stack: []uint64{0x3800, 0, 0, 0, 0, 0,
			8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 1, 3, 1, 0xaa, 2, stackAt + 24*8, 0x1010, 0,
			0x2050, 0, 0x3050},
		pc: 0x2210, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"2210 registers", "3800 CFI, trampoline", "1010 signal context, interrupted", "2050 return address", "3050 CFI"},
		last:   map[uint64]uint64{12: 12},
	},

	{
		name: "a leaf returns through its link register", machine: arm64,
		functions: []function{{0x2000, 0x2100, "0e10 9d02 9e01"}, {0x3000, 0x3100, "071e"}},
		calls:     map[uint64]uint64{0x2050: 0x1000, 0x3050: 0x2000},
		stack:     []uint64{stackAt + 0x100, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{31: stackAt, 30: 0x2050, 29: stackAt, 19: 19},
		frames: []string{"1010 registers", "2050 return address", "3050 CFI"},
		last:   map[uint64]uint64{31: stackAt + 16, 29: stackAt + 0x100, 19: 19},
	},
	{
		name: "after a call by the function the record has the return address", machine: arm64,
		functions: []function{{0x2000, 0x2100, "0e10 9d02 9e01"}, {0x3000, 0x3100, "071e"}},
		code:      map[uint64]string{0x1000: "fd7bbfa9 fd030091", 0x2000: "fd7bbfa9 fd030091"}, // stp x29, x30, [sp, #-16]!; mov x29, sp
		calls:     map[uint64]uint64{0x1020: 0x1200, 0x2050: 0x1000, 0x3050: 0x2000},
		stack:     []uint64{stackAt + 16, 0x2050, stackAt + 0x100, 0x3050},
		pc:        0x1030, registers: map[uint64]uint64{31: stackAt, 30: 0x1020, 29: stackAt},
		frames: []string{"1030 registers", "2050 frame pointer", "3050 CFI"},
	},
	{
		name: "after a call, without symbols", machine: arm64, unnamed: true,
		functions: []function{{0x3000, 0x3100, "071e"}},
		code:      map[uint64]string{0x1100: "c0035fd6", 0x1200: "fd7bbfa9 fd030091"},
		calls:     map[uint64]uint64{0x1220: 0x1000, 0x3050: 0x1200},
		stack:     []uint64{stackAt + 16, 0x3050},
		pc:        0x1230, registers: map[uint64]uint64{31: stackAt, 30: 0x1220, 29: stackAt},
		frames: []string{"1230 registers", "3050 frame pointer"},
	},
	{
		name: "a record at the bottom of its frame", machine: arm64,
		functions: []function{{0x2000, 0x2100, "0e30 9d06 9e05 9304"}, {0x3000, 0x3100, "071e"}},
		code: map[uint64]string{0x1000: "fd7bbca9 fd030091", // stp x29, x30, [sp, #-64]!; mov x29, sp
			0x2000: "fd7bbda9 fd030091"}, // stp x29, x30, [sp, #-48]!; mov x29, sp
		calls: map[uint64]uint64{0x2050: 0x1000, 0x3050: 0x2000},
		stack: []uint64{stackAt + 64, 0x2050, 1, 2, 3, 4, 5, 6,
			stackAt + 0x100, 0x3050, 19, 7, 8, 9, 0, 0},
		pc: 0x1030, registers: map[uint64]uint64{31: stackAt, 30: 0x1020, 29: stackAt},
		frames: []string{"1030 registers", "2050 frame pointer", "3050 CFI"},
		last:   map[uint64]uint64{31: stackAt + 64 + 48, 29: stackAt + 0x100, 19: 19},
	},
	{
		name: "a record above arguments", machine: arm64,
		functions: []function{{0x2000, 0x2004, "0e40"}, {0x2004, 0x2100, "0e40 9d06 9e05"}, {0x3000, 0x3100, "071e"}},
		code: map[uint64]string{0x1000: "fd7bbca9 fd030091",
			0x2004: "ff0301d1 fd7b01a9 fd430091"}, // sub sp, sp, #64; stp x29, x30, [sp, #16]; add x29, sp, #16
		calls: map[uint64]uint64{0x2050: 0x1000, 0x3050: 0x2004},
		stack: []uint64{stackAt + 80, 0x2050, 1, 2, 3, 4, 5, 6,
			10, 11, stackAt + 0x100, 0x3050, 19, 7, 8, 9},
		pc: 0x1030, registers: map[uint64]uint64{31: stackAt, 30: 0x1020, 29: stackAt},
		frames: []string{"1030 registers", "2050 frame pointer", "3050 CFI"},
		last:   map[uint64]uint64{31: stackAt + 128},
	},
	{
		name: "the frame of a caller without a record is not known", machine: arm64,
		// x29 is used for something else. Wrong slots are zero, which would end the stack.
		functions: []function{{0x2000, 0x2100, "0e20 9e04"}},
		code:      map[uint64]string{0x1000: "fd7bbca9 fd030091"},
		calls:     map[uint64]uint64{0x2050: 0x1000},
		stack:     []uint64{stackAt + 0x100, 0x2050, 0, 0, 0, 0, 0, 0, 0x3050, 0, 0, 0},
		pc:        0x1030, registers: map[uint64]uint64{31: stackAt, 30: 0x1020, 29: stackAt},
		frames: []string{"1030 registers", "2050 frame pointer"}, reason: unwind.NoRule, message: "sp is not known, only that it is at least 0x70010",
		unknown: []uint64{31},
	},
	{
		name: "the frame of a caller that uses x29 otherwise is not known", machine: arm64,
		functions: []function{{0x2000, 0x2100, "0e20 9d04 9e03"}},
		code:      map[uint64]string{0x1000: "fd7bbca9 fd030091", 0x2000: "fd7bbea9"},
		calls:     map[uint64]uint64{0x2050: 0x1000},
		stack:     []uint64{stackAt + 64, 0x2050, 0, 0, 0, 0, 0, 0, 0x71000, 0, 0, 0},
		pc:        0x1030, registers: map[uint64]uint64{31: stackAt, 30: 0x1020, 29: stackAt},
		frames: []string{"1030 registers", "2050 frame pointer"}, reason: unwind.NoRule, message: "sp is not known",
	},
	{
		name: "a leaf that moves its stack pointer", machine: arm64,
		functions: []function{{0x2000, 0x2100, "0e10 9d02 9e01"}, {0x3000, 0x3100, "071e"}},
		code:      map[uint64]string{0x1000: "ff4300d1", 0x2000: "fd7bbfa9 fd030091"}, // sub sp, sp, #16
		calls:     map[uint64]uint64{0x2050: 0x1000, 0x3050: 0x2000},
		stack:     []uint64{0, 0, stackAt + 0x100, 0x3050},
		pc:        0x1010, registers: map[uint64]uint64{31: stackAt, 30: 0x2050, 29: stackAt + 16, 19: 19},
		frames: []string{"1010 registers", "2050 return address", "3050 CFI"},
		last:   map[uint64]uint64{31: stackAt + 32}, unknown: []uint64{19},
	},
	{
		name: "riscv: no call before ra", machine: riscv,
		functions: []function{{0x2000, 0x2100, "0701"}},
		code:      map[uint64]string{0x204e: "0285"}, // c.jr a0
		stack:     []uint64{0},
		pc:        0x1010, registers: map[uint64]uint64{2: stackAt, 1: 0x2050},
		frames: []string{"1010 registers"}, reason: unwind.NoRule, message: "holds no frame pointer",
	},
	{
		name: "riscv: a leaf returns through ra to a compressed call", machine: riscv,
		functions: []function{{0x2000, 0x2100, "0701"}},
		code:      map[uint64]string{0x204e: "0295"}, // c.jalr a0
		stack:     []uint64{0},
		pc:        0x1010, registers: map[uint64]uint64{2: stackAt, 1: 0x2050},
		frames: []string{"1010 registers", "2050 return address"},
	},
}

func TestUncovered(t *testing.T) {
	initial := map[*arch.Machine]string{x86: "0c0708 9001", arm64: "0c1f00", riscv: "0c0200"}
	for _, test := range uncoveredTests {
		t.Run(test.machine.Name+" "+test.name, func(t *testing.T) {
			pieces := map[uint64]string{}
			for at, digits := range test.code {
				pieces[at] = digits
			}
			for returns, target := range test.calls {
				at, digits := call(test.machine, returns, target)
				pieces[at] = digits
			}
			s := build(t, test.machine, "", initial[test.machine], test.functions...)
			sections := &unwind.Sections{EHFrame: s}
			module := &unwind.Module{Name: "program", Source: sections, Function: func(pc uint64) (uint64, bool) {
				if start, ok := sections.Function(pc); ok {
					return start, true
				}
				return pc &^ 0x1ff, !test.unnamed && pc >= 0x1000 && pc < 0x1600
			}}
			var modules unwind.Modules
			modules.Add(0x1000, 0x9000, module)
			w := &unwind.Walker{Machine: test.machine, Modules: &modules,
				Memory: memory{stackAt: words(test.machine, test.stack...), 0x1000: code(t, pieces)}}
			r := registers(test.pc, test.registers)
			got, reason := walk(w, r)
			if !slices.Equal(got, test.frames) || reason != test.reason {
				t.Errorf("%q, %v (%v)\nwant %q, %v", got, reason, w.Err(), test.frames, test.reason)
			}
			if err := w.Err(); (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Errorf("%v, want %q", err, test.message)
			}
			var last unwind.Registers
			for f := range w.Walk(r) {
				last = *f.Registers
			}
			for c, want := range test.last {
				if v, ok := last.Get(c); !ok || v != want {
					t.Errorf("%s is %#x, %v; want %#x", test.machine.RegisterName(c), v, ok, want)
				}
			}
			for _, c := range test.unknown {
				if v, ok := last.Get(c); ok {
					t.Errorf("%s is %#x, and should not be known", test.machine.RegisterName(c), v)
				}
			}
			var trail unwind.Trail
			for range 3 {
				if err := compareWalks(w, &trail, r); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// If a Source knows the function but not its stack pointer, no word is taken for the return
// address.
func TestMovedStackPointer(t *testing.T) {
	at, digits := call(x86, 0x2050, 0x1000)
	var modules unwind.Modules
	modules.Add(0x1000, 0x9000, &unwind.Module{Name: "program", Source: movesStack{}})
	w := &unwind.Walker{Machine: x86, Modules: &modules,
		Memory: memory{stackAt: words(x86, 0x2050), 0x1000: code(t, map[uint64]string{at: digits})}}
	if frames, reason := walk(w, registers(0x1010, map[uint64]uint64{7: stackAt})); len(frames) != 1 || reason != unwind.NoRule {
		t.Errorf("%q, %v", frames, reason)
	}
}

type movesStack struct{}

func (movesStack) Rules(uint64) (*unwind.Rules, error) {
	return nil, errors.Join(cfi.ErrNoFDE, unwind.ErrMovesStack)
}

// In the delay slot of SPARC's return the registers are already those of the caller.
func TestDelaySlotOfReturn(t *testing.T) {
	// save %sp, -176, %sp; nop; return %i7+8; ldx [%g0], %o0. The rules: CFA i6+2047,
	// registers in the window, o7 in i7.
	s := build(t, sparc, "", "0c0eff0f", function{0x1000, 0x1010, "44 0d1e 2d 090f1f"}, function{0x2000, 0x2100, "070f"})
	var modules unwind.Modules
	modules.Add(0x1000, 0x9000, &unwind.Module{Name: "program", Source: &unwind.Sections{EHFrame: s}})
	const sp = stackAt - 2047
	w := &unwind.Walker{Machine: sparc, Modules: &modules, Memory: memory{stackAt: make([]byte, 1024),
		0x1000: code(t, map[uint64]string{0x1000: "9de3bf50 01000000 81cfe008 d0580000"})}}
	r := registers(0x100c, map[uint64]uint64{14: sp, 15: 0x2048, 30: sp + 0x80, 31: 0x3048})
	want := []string{"100c registers", "2050 return address"}
	if got, reason := walk(w, r); !slices.Equal(got, want) || reason != unwind.EndOfStack {
		t.Errorf("%q, %v (%v), want %q", got, reason, w.Err(), want)
	}
	var trail unwind.Trail
	if err := compareWalks(w, &trail, r); err != nil {
		t.Error(err)
	}
}
