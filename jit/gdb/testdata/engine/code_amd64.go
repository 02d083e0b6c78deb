// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"encoding/hex"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/jit"
)

// The offsets of functions that are called from outside.
const outerAt, resumeAt, spinAt = 0x80, 0x30, 0xe0

// instructions of the engine by offset, and its functions.
var instructions = []struct {
	offset int
	bytes  string
}{
	// enter
	{0x0, "55"},        // push rbp
	{0x1, "4889e5"},    // mov rbp,rsp
	{0x4, "4157"},      // push r15
	{0x6, "53"},        // push rbx
	{0x7, "4989ff"},    // mov r15,rdi
	{0xa, "498927"},    // mov [r15],rsp
	{0xd, "49896f08"},  // mov [r15+0x8],rbp
	{0x11, "498b6710"}, // mov rsp,[r15+0x10]
	{0x15, "41ff5740"}, // call [r15+0x40]
	{0x19, "498b27"},   // mov rsp,[r15]
	{0x1c, "5b"},       // pop rbx
	{0x1d, "415f"},     // pop r15
	{0x1f, "5d"},       // pop rbp
	{0x20, "c3"},       // ret
	// resume
	{0x30, "55"},       // push rbp
	{0x31, "4889e5"},   // mov rbp,rsp
	{0x34, "4157"},     // push r15
	{0x36, "53"},       // push rbx
	{0x37, "4989ff"},   // mov r15,rdi
	{0x3a, "498927"},   // mov [r15],rsp
	{0x3d, "49896f08"}, // mov [r15+0x8],rbp
	{0x41, "498b6718"}, // mov rsp,[r15+0x18]
	{0x45, "c3"},       // ret
	// leave
	{0x50, "49896718"}, // mov [r15+0x18],rsp
	{0x54, "49894720"}, // mov [r15+0x20],rax
	{0x58, "498b27"},   // mov rsp,[r15]
	{0x5b, "5b"},       // pop rbx
	{0x5c, "415f"},     // pop r15
	{0x5e, "5d"},       // pop rbp
	{0x5f, "c3"},       // ret
	// callHost
	{0x60, "49896728"}, // mov [r15+0x28],rsp
	{0x64, "498b27"},   // mov rsp,[r15]
	{0x67, "4883ec40"}, // sub rsp,0x40
	{0x6b, "41ff5730"}, // call [r15+0x30]
	{0x6f, "498b6728"}, // mov rsp,[r15+0x28]
	{0x73, "c3"},       // ret
	// outer
	{0x80, "4883ec18"},   // sub rsp,0x18
	{0x84, "e807000000"}, // call middle
	{0x89, "4883c418"},   // add rsp,0x18
	{0x8d, "c3"},         // ret
	// middle
	{0x90, "4883ec28"},   // sub rsp,0x28
	{0x94, "e8c7ffffff"}, // call callHost
	{0x99, "b801000000"}, // mov eax,0x1
	{0x9e, "e8adffffff"}, // call leave
	{0xa3, "e808000000"}, // call inner
	{0xa8, "4883c428"},   // add rsp,0x28
	{0xac, "c3"},         // ret
	// inner
	{0xb0, "55"},         // push rbp
	{0xb1, "4889e5"},     // mov rbp,rsp
	{0xb4, "49837f3800"}, // cmp [r15+0x38],0x0
	{0xb9, "7415"},       // je f3_ok
	{0xbb, "b802000000"}, // mov eax,0x2
	{0xc0, "49894720"},   // mov [r15+0x20],rax
	{0xc4, "498b6f08"},   // mov rbp,[r15+0x8]
	{0xc8, "498b27"},     // mov rsp,[r15]
	{0xcb, "5b"},         // pop rbx
	{0xcc, "415f"},       // pop r15
	{0xce, "5d"},         // pop rbp
	{0xcf, "c3"},         // ret
	{0xd0, "5d"},         // pop rbp
	{0xd1, "c3"},         // ret
	// spin
	{0xe0, "4883ec08"},   // sub rsp,0x8
	{0xe4, "49837f4800"}, // cmp [r15+0x48],0x0
	{0xe9, "f390"},       // pause
	{0xeb, "75f7"},       // jne e4
	{0xed, "4883c408"},   // add rsp,0x8
	{0xf1, "c3"},         // ret
}

// text returns the engine's code.
func text() []byte {
	code := make([]byte, 0x100)
	for _, i := range instructions {
		b, err := hex.DecodeString(i.bytes)
		check(err)
		copy(code[i.offset:], b)
	}
	return code
}

const rbx, rbp, rsp, r15 = 3, 6, 7, 15 // DWARF columns

// onGo is the caller's frame as the Path of a Range: enter has pushed rbp, r15 and rbx.
var onGo = []int64{hostSP, 32}

// popping are the ranges of the code at an offset that pops what enter has pushed.
func popping(at uint64) []preset.Range {
	saved := []preset.Saved{{Register: rbp, Slot: -16}, {Register: r15, Slot: -24}, {Register: rbx, Slot: -32}}
	return []preset.Range{
		{Start: at, End: at + 1, Base: rsp, Path: []int64{32}, Left: true, Saved: saved},
		{Start: at + 1, End: at + 3, Base: rsp, Path: []int64{24}, Left: true, Saved: saved[:2]},
		{Start: at + 3, End: at + 4, Base: rsp, Path: []int64{16}, Left: true, Saved: saved[:1]},
		{Start: at + 4, End: at + 5, Base: rsp, Path: []int64{8}, Left: true},
	}
}

func table(p *cfi.Program, err error) *cfi.Program {
	check(err)
	return p
}

// functions describes the engine's functions.
func functions() []jit.Function {
	m := jit.Host()
	entry := preset.Frame{Pushed: []uint64{r15, rbx}}
	enter, resume := entry, entry
	enter.Ranges = []preset.Range{{Start: 0x15, End: 0x1c, Base: r15, Path: onGo}}
	enter.Epilogues = []preset.Epilogue{{Start: 0x1c}}
	resume.Ranges = []preset.Range{{Start: 0x15, Base: r15, Path: onGo}}
	callHost := []preset.Range{{Start: 7, End: 0x13, Base: r15, Path: []int64{callSP, 8}}}
	left := []preset.Range{{Start: 0x18, End: 0x1b, Base: r15, Path: onGo, Left: true, Saved: popping(0)[0].Saved}}
	inner := preset.Frame{Epilogues: []preset.Epilogue{{Start: 0x20}}, Ranges: append(left, popping(0x1b)...)}
	return []jit.Function{
		{Name: "enter", Offset: 0, Size: 0x21, Unwind: table(preset.FramePointer(m, enter)), SwitchesStack: true},
		{Name: "resume", Offset: 0x30, Size: 0x16, Unwind: table(preset.FramePointer(m, resume)), SwitchesStack: true},
		{Name: "leave", Offset: 0x50, Size: 0x10, Unwind: table(preset.Leaf(m, preset.Frame{Ranges: popping(0xb)})), SwitchesStack: true},
		{Name: "callHost", Offset: 0x60, Size: 0x14, Unwind: table(preset.Leaf(m, preset.Frame{Ranges: callHost})), SwitchesStack: true},
		{Name: "outer", Offset: 0x80, Size: 0xe, Unwind: table(preset.Fixed(m, preset.Frame{Size: 24, Epilogues: []preset.Epilogue{{Start: 9}}}))},
		{Name: "middle", Offset: 0x90, Size: 0x1d, Unwind: table(preset.Fixed(m, preset.Frame{Size: 40, Epilogues: []preset.Epilogue{{Start: 0x18}}}))},
		{Name: "inner", Offset: 0xb0, Size: 0x22, Unwind: table(preset.FramePointer(m, inner)), SwitchesStack: true},
		{Name: "spin", Offset: 0xe0, Size: 0x12, Unwind: table(preset.Fixed(m, preset.Frame{Size: 8, Epilogues: []preset.Epilogue{{Start: 13}}}))},
	}
}
