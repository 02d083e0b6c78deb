// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"encoding/binary"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/jit"
)

// The offsets of functions that are called from outside.
const outerAt, resumeAt, spinAt = 0xe0, 0x40, 0x160

// instructions of the engine by offset, and its functions.
var instructions = []struct {
	offset int
	word   uint32
}{
	// enter
	{0x0, 0xa9be7bfd},  // stp x29, x30, [sp, #-32]!
	{0x4, 0x910003fd},  // mov x29, sp
	{0x8, 0xa90153f3},  // stp x19, x20, [sp, #16]
	{0xc, 0xaa0003f3},  // mov x19, x0
	{0x10, 0x910003e9}, // mov x9, sp
	{0x14, 0xa9007669}, // stp x9, x29, [x19]
	{0x18, 0xf9400a69}, // ldr x9, [x19, #16]
	{0x1c, 0xf940226a}, // ldr x10, [x19, #64]
	{0x20, 0x9100013f}, // mov sp, x9
	{0x24, 0xd63f0140}, // blr x10
	{0x28, 0xf9400269}, // ldr x9, [x19]
	{0x2c, 0x9100013f}, // mov sp, x9
	{0x30, 0xa94153f3}, // ldp x19, x20, [sp, #16]
	{0x34, 0xa8c27bfd}, // ldp x29, x30, [sp], #32
	{0x38, 0xd65f03c0}, // ret
	// resume
	{0x40, 0xa9be7bfd}, // stp x29, x30, [sp, #-32]!
	{0x44, 0x910003fd}, // mov x29, sp
	{0x48, 0xa90153f3}, // stp x19, x20, [sp, #16]
	{0x4c, 0xaa0003f3}, // mov x19, x0
	{0x50, 0x910003e9}, // mov x9, sp
	{0x54, 0xa9007669}, // stp x9, x29, [x19]
	{0x58, 0xf9400e69}, // ldr x9, [x19, #24]
	{0x5c, 0x9100013f}, // mov sp, x9
	{0x60, 0xf84107fe}, // ldr x30, [sp], #16
	{0x64, 0xd65f03c0}, // ret
	// leave
	{0x80, 0xf81f0ffe}, // str x30, [sp, #-16]!
	{0x84, 0x910003e9}, // mov x9, sp
	{0x88, 0xf9000e69}, // str x9, [x19, #24]
	{0x8c, 0xf9001260}, // str x0, [x19, #32]
	{0x90, 0xf9400269}, // ldr x9, [x19]
	{0x94, 0x9100013f}, // mov sp, x9
	{0x98, 0xa94153f3}, // ldp x19, x20, [sp, #16]
	{0x9c, 0xa8c27bfd}, // ldp x29, x30, [sp], #32
	{0xa0, 0xd65f03c0}, // ret
	// callHost
	{0xb0, 0xf81f0ffe}, // str x30, [sp, #-16]!
	{0xb4, 0x910003e9}, // mov x9, sp
	{0xb8, 0xf9001669}, // str x9, [x19, #40]
	{0xbc, 0xf9400269}, // ldr x9, [x19]
	{0xc0, 0xf9401a6a}, // ldr x10, [x19, #48]
	{0xc4, 0x9100013f}, // mov sp, x9
	{0xc8, 0xd63f0140}, // blr x10
	{0xcc, 0xf9401669}, // ldr x9, [x19, #40]
	{0xd0, 0x9100013f}, // mov sp, x9
	{0xd4, 0xf84107fe}, // ldr x30, [sp], #16
	{0xd8, 0xd65f03c0}, // ret
	// outer
	{0xe0, 0xd10083ff}, // sub sp, sp, #0x20
	{0xe4, 0xa9bf6ffe}, // stp x30, x27, [sp, #-16]!
	{0xe8, 0x94000006}, // bl middle
	{0xec, 0xf84107fe}, // ldr x30, [sp], #16
	{0xf0, 0x910083ff}, // add sp, sp, #0x20
	{0xf4, 0xd65f03c0}, // ret
	// middle
	{0x100, 0xf81f0ffe}, // str x30, [sp, #-16]!
	{0x104, 0x97ffffeb}, // bl callHost
	{0x108, 0xd2800020}, // mov x0, #0x1
	{0x10c, 0x97ffffdd}, // bl leave
	{0x110, 0x94000004}, // bl inner
	{0x114, 0xf84107fe}, // ldr x30, [sp], #16
	{0x118, 0xd65f03c0}, // ret
	// inner
	{0x120, 0xa9bf7bfd}, // stp x29, x30, [sp, #-16]!
	{0x124, 0x910003fd}, // mov x29, sp
	{0x128, 0xf9401e69}, // ldr x9, [x19, #56]
	{0x12c, 0xb4000109}, // cbz x9, ok
	{0x130, 0xd2800040}, // mov x0, #0x2
	{0x134, 0xf9001260}, // str x0, [x19, #32]
	{0x138, 0xa9407669}, // ldp x9, x29, [x19]
	{0x13c, 0x9100013f}, // mov sp, x9
	{0x140, 0xa94153f3}, // ldp x19, x20, [sp, #16]
	{0x144, 0xa8c27bfd}, // ldp x29, x30, [sp], #32
	{0x148, 0xd65f03c0}, // ret
	// ok
	{0x14c, 0xa8c17bfd}, // ldp x29, x30, [sp], #16
	{0x150, 0xd65f03c0}, // ret
	// spin
	{0x160, 0xf9402669}, // ldr x9, [x19, #72]
	{0x164, 0xd503203f}, // yield
	{0x168, 0xb5ffffc9}, // cbnz x9, spin
	{0x16c, 0xd65f03c0}, // ret
}

// text returns the engine's code.
func text() []byte {
	code := make([]byte, 0x180)
	for _, i := range instructions {
		binary.LittleEndian.PutUint32(code[i.offset:], i.word)
	}
	return code
}

const x19, x20, x29, x30, sp = 19, 20, 29, 30, 31 // DWARF columns

// onGo is the caller's frame as the Path of a Range: enter has a frame of 32 bytes.
var onGo = []int64{hostSP, 32}

// saved are the registers in the frame of enter.
var saved = []preset.Saved{{Register: x29, Slot: -32}, {Register: x30, Slot: -24}, {Register: x19, Slot: -16}, {Register: x20, Slot: -8}}

// restoring are the ranges of the code at an offset that restores the registers from the frame of
// enter, and returns.
func restoring(at uint64) []preset.Range {
	return []preset.Range{
		{Start: at, End: at + 4, Base: sp, Path: []int64{32}, Left: true, Saved: saved},
		{Start: at + 4, End: at + 8, Base: sp, Path: []int64{32}, Left: true, Saved: saved[:2]},
		{Start: at + 8, End: at + 12, Base: sp, Path: []int64{0}, Left: true},
	}
}

func table(p *cfi.Program, err error) *cfi.Program {
	check(err)
	return p
}

// functions describes the engine's functions.
func functions() []jit.Function {
	m := jit.Host()
	entry := preset.Frame{Size: 32, Saved: saved[2:], Prologue: 12}
	enter, resume := entry, entry
	enter.Ranges = []preset.Range{{Start: 0x24, End: 0x30, Base: x19, Path: onGo}}
	enter.Epilogues = []preset.Epilogue{{Start: 0x34}}
	resume.Ranges = []preset.Range{{Start: 0x20, Base: x19, Path: onGo}}
	// Functions whose frames are on the engine's stack when that moves have no frame pointer, which
	// would point to the former stack.
	push, pop := preset.Step{Offset: 4, Size: 16, Saved: []preset.Saved{{Register: x30, Slot: -16}}}, preset.Step{Restored: []uint64{x30}}
	leave := preset.Frame{Ranges: restoring(0x18)}
	callHost := preset.Frame{Ranges: []preset.Range{{Start: 0x18, End: 0x24, Base: x19, Path: []int64{callSP, 16}}}}
	outer := []preset.Step{{Offset: 4, Size: 32}, {Offset: 8, Size: 48, Saved: []preset.Saved{{Register: x30, Slot: -48}}},
		{Offset: 16, Size: 32, Restored: []uint64{x30}}, {Offset: 20}}
	popAt := func(offset uint64) []preset.Step { pop.Offset = offset; return []preset.Step{push, pop} }
	left := []preset.Range{{Start: 0x1c, End: 0x20, Base: x19, Path: onGo, Left: true, Saved: saved}}
	inner := preset.Frame{Epilogues: []preset.Epilogue{{Start: 0x2c}}, Ranges: append(left, restoring(0x20)...)}
	return []jit.Function{
		{Name: "enter", Offset: 0, Size: 0x3c, Unwind: table(preset.FramePointer(m, enter)), SwitchesStack: true},
		{Name: "resume", Offset: resumeAt, Size: 0x28, Unwind: table(preset.FramePointer(m, resume)), SwitchesStack: true},
		{Name: "leave", Offset: 0x80, Size: 0x24, Unwind: table(preset.Sized(m, leave, []preset.Step{push})), SwitchesStack: true},
		{Name: "callHost", Offset: 0xb0, Size: 0x2c, Unwind: table(preset.Sized(m, callHost, popAt(0x28))), SwitchesStack: true},
		{Name: "outer", Offset: outerAt, Size: 0x18, Unwind: table(preset.Sized(m, preset.Frame{}, outer))},
		{Name: "middle", Offset: 0x100, Size: 0x1c, Unwind: table(preset.Sized(m, preset.Frame{}, popAt(0x18)))},
		{Name: "inner", Offset: 0x120, Size: 0x34, Unwind: table(preset.FramePointer(m, inner)), SwitchesStack: true},
		{Name: "spin", Offset: spinAt, Size: 0x10, Unwind: table(preset.Leaf(m, preset.Frame{}))},
	}
}
