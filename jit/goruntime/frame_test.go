// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/jit"
)

func mustTable(p *cfi.Program, err error) *cfi.Program {
	if err != nil {
		panic(err)
	}
	return p
}

// framePointer returns the table of a function for amd64 with an epilogue at an offset.
func framePointer(epilogue uint64) *cfi.Program {
	return mustTable(preset.FramePointer(amd64, preset.Frame{Epilogues: []preset.Epilogue{{Start: epilogue}}}))
}

var (
	amd64 = arch.LookupGo("amd64", elf.ELFDATA2LSB)
	arm64 = arch.LookupGo("arm64", elf.ELFDATA2LSB)
)

type depthTest struct {
	name    string
	machine *arch.Machine
	code    []byte
	unwind  *cfi.Program
	want    string
	fault   string
}

// The depths of functions with each kind of frame.
func TestDepths(t *testing.T) {
	checkDepths(t, []depthTest{
		{"leaf", amd64, []byte{0xc3}, mustTable(preset.Leaf(amd64, preset.Frame{})), "0:0", ""},
		{"no table", amd64, []byte{0xc3}, nil, "", "it has no unwind table"},
		{
			"leave", amd64,
			// push rbp; mov rbp, rsp; push rbx; sub rsp, 24; call rax; mov rbx, [rbp-8]; leave; ret
			[]byte{0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 24, 0xff, 0xd0, 0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0xc3},
			framePointer(15), "0:0 1:8 5:16 9:40 16:0", "",
		},
		{
			"pop", amd64,
			// push rbp; mov rbp, rsp; sub rsp, 0x120; jne +2; call rax; add rsp, 0x120; pop rbp; ret
			[]byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec, 0x20, 1, 0, 0, 0x75, 0x02, 0xff, 0xd0, 0x48, 0x81, 0xc4, 0x20, 1, 0, 0, 0x5d, 0xc3},
			framePointer(22), "0:0 1:8 11:296 22:8 23:0", "",
		},
		{
			"lea", amd64,
			// push rbp; mov rbp, rsp; sub rsp, 16; call rax; lea rsp, [rbp]; pop rbp; ret
			[]byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 16, 0xff, 0xd0, 0x48, 0x8d, 0x65, 0x00, 0x5d, 0xc3},
			framePointer(14), "0:0 1:8 8:24 14:8 15:0", "",
		},
		{
			"registers saved by pushes", amd64,
			// push rbp; mov rbp, rsp; push rbx; push r12; sub rsp, 16; call rax; add rsp, 16; pop r12; pop rbx; pop rbp; ret
			[]byte{0x55, 0x48, 0x89, 0xe5, 0x53, 0x41, 0x54, 0x48, 0x83, 0xec, 16, 0xff, 0xd0, 0x48, 0x83, 0xc4, 16, 0x41, 0x5c, 0x5b, 0x5d, 0xc3},
			mustTable(preset.FramePointer(amd64, preset.Frame{Pushed: []uint64{3, 12}, Epilogues: []preset.Epilogue{{Start: 17}}})),
			"0:0 1:8 5:16 7:24 11:40 17:24 19:16 20:8 21:0", "",
		},
		{
			"wrong table", amd64,
			// push rbp; mov rbp, rsp; push rbx; call rax; pop rbp; ret
			[]byte{0x55, 0x48, 0x89, 0xe5, 0x53, 0xff, 0xd0, 0x5d, 0xc3},
			framePointer(7), "", "its code and its unwind table differ at +0x8: the stack pointer is 8 and 0 bytes below the return address",
		},
		{"arm64 fixed", arm64, make([]byte, 32), mustTable(preset.Fixed(arm64, preset.Frame{
			Size: 32, Prologue: 8, Saved: []preset.Saved{{Register: 30, Slot: -32}}, Epilogues: []preset.Epilogue{{Start: 24}},
		})), "0:0 4:stop 8:32 28:0", ""},
	})
}

// Functions that Go cannot walk through.
func TestRefusedFrames(t *testing.T) {
	checkDepths(t, []depthTest{
		{
			"aligned stack", amd64,
			// push rbp; mov rbp, rsp; and rsp, -32; leave; ret
			[]byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xe0, 0xc9, 0xc3},
			framePointer(8), "", "the instruction at +0x4 moves the stack pointer",
		},
		{
			"pushed arguments", amd64,
			// push rbp; mov rbp, rsp; call rax; push rax; call rax; leave; ret
			[]byte{0x55, 0x48, 0x89, 0xe5, 0xff, 0xd0, 0x50, 0xff, 0xd0, 0xc9, 0xc3},
			framePointer(9), "", "the stack pointer has moved at the branch or call at +0x7",
		},
		{
			"epilogue without a row", amd64,
			// push rbp; mov rbp, rsp; call rax; leave; ret
			[]byte{0x55, 0x48, 0x89, 0xe5, 0xff, 0xd0, 0xc9, 0xc3},
			mustTable(preset.FramePointer(amd64, preset.Frame{})), "", "the function ends at +0x7 after an epilogue that the unwind table does not describe",
		},
		{
			"alloca", amd64,
			// push rbp; mov rbp, rsp; sub rsp, rax; leave; ret
			[]byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x29, 0xc4, 0xc9, 0xc3},
			framePointer(7), "", "the instruction at +0x4 moves the stack pointer",
		},
		{"arm64 frame pointer", arm64, make([]byte, 32), mustTable(preset.FramePointer(arm64, preset.Frame{
			Epilogues: []preset.Epilogue{{Start: 24}},
		})), "", "its return address is not at the stack pointer, where Go's runtime reads it (save it with str x30, [sp, #-SIZE]!, not with stp x29, x30) at +0x4"},
	})
}

func checkDepths(t *testing.T, tests []depthTest) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := frames{machine: test.machine}
			var s steps
			s.reset(1)
			err := x.depths(&s, &jit.Function{Size: uint64(len(test.code)), Unwind: test.unwind}, test.code)
			if test.fault != "" {
				if !errors.Is(err, ErrFrame) || err.Error() != ErrFrame.Error()+": "+test.fault {
					t.Errorf("%v, expected %s", err, test.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, v := range s.list {
				depth := fmt.Sprint(v.value)
				if v.value == noDepth {
					depth = "stop"
				}
				got += fmt.Sprintf(" %d:%s", v.offset, depth)
			}
			if got != " "+test.want {
				t.Errorf("%s, expected %s", got, test.want)
			}
		})
	}
}

// Two functions share a table whose last row is at the end of the first one.
func TestSharedTable(t *testing.T) {
	leaf := mustTable(preset.Leaf(amd64, preset.Frame{}))
	table := mustTable(cfi.NewBuilder(leaf.CIE).At(2).AdjustCFAOffset(8).Program())
	x := frames{machine: amd64}
	for _, size := range []uint64{2, 4} {
		var s steps
		s.reset(1)
		if err := x.depths(&s, &jit.Function{Size: size, Unwind: table}, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		want := []valueFrom{{0, 0}, {2, 8}}[:size/2]
		if !slices.Equal(s.list, want) {
			t.Errorf("%d bytes: %v, expected %v", size, s.list, want)
		}
	}
}
