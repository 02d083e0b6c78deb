// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android

package libgcc

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/jit"
)

// switchStack writes a function that calls the next one on another stack, which ends at top. It
// saves its stack pointer there.
func switchStack(b []byte, next, top uint64) (*cfi.Program, error) {
	m := jit.Host()
	if runtime.GOARCH == "amd64" {
		out := []byte{0x55, 0x48, 0x89, 0xe5}                                 // push %rbp; mov %rsp,%rbp
		out = binary.LittleEndian.AppendUint64(append(out, 0x48, 0xb8), next) // mov $next,%rax
		out = binary.LittleEndian.AppendUint64(append(out, 0x48, 0xb9), top)  // mov $top,%rcx
		copy(b, append(out,
			0x48, 0x89, 0x61, 0xf0, // mov %rsp,-16(%rcx)
			0x48, 0x8d, 0x61, 0xf0, // lea -16(%rcx),%rsp
			0xff, 0xd0, // call *%rax
			0x48, 0x8b, 0x24, 0x24, // mov (%rsp),%rsp
			0x5d, 0xc3)) // pop %rbp; ret
		return preset.FramePointer(m, preset.Frame{Epilogues: []preset.Epilogue{{Start: 38}},
			Ranges: []preset.Range{{Start: 32, End: 38, Base: uint64(m.StackPointer), Path: []int64{0, 16}}}})
	}
	half := func(v uint64, i int) uint32 { return uint32(v>>(16*i)&0xffff) << 5 }
	for i, op := range []uint32{
		0xa9bf7bfd,                                                                         // stp x29, x30, [sp, #-16]!
		0x910003fd,                                                                         // mov x29, sp
		0xd2800009 | half(next, 0), 0xf2a00009 | half(next, 1), 0xf2c00009 | half(next, 2), // mov x9, #next
		0xd280000a | half(top, 0), 0xf2a0000a | half(top, 1), 0xf2c0000a | half(top, 2), // mov x10, #top
		0x910003eb, // mov x11, sp
		0xf81f0d4b, // str x11, [x10, #-16]!
		0x9100015f, // mov sp, x10
		0xd63f0120, // blr x9
		0xf94003eb, // ldr x11, [sp]
		0x9100017f, // mov sp, x11
		0xa8c17bfd, // ldp x29, x30, [sp], #16
		0xd65f03c0, // ret
	} {
		binary.LittleEndian.PutUint32(b[4*i:], op)
	}
	return preset.FramePointer(m, preset.Frame{Size: 16, Epilogues: []preset.Epilogue{{Start: 56}},
		Ranges: []preset.Range{{Start: 44, End: 56, Base: uint64(m.StackPointer), Path: []int64{0, 16}}}})
}

// The unwinders walk from a C function through functions that have changed stacks, up and down, to
// the start of the thread.
func TestBacktraceSwitched(t *testing.T) {
	library := built(t, "backtrace.c")
	const size = 64 << 10
	stacks, err := jit.NewMemory(2 * size)
	if err != nil {
		t.Fatal(err)
	}
	defer stacks.Close()
	low := stacks.Address() + size
	for name := range loaded {
		for direction, tops := range map[string][2]uint64{"down": {low + size, low}, "up": {low, low + size}} {
			t.Run(name+"_"+direction, func(t *testing.T) {
				unwinder := load(t, name)
				const n = 7
				c := chainOf(t, n, library.Symbol("leaf"), map[int]uint64{1: tops[0], 4: tops[1]})
				published, err := Publisher{}.Publish(c.code)
				if err != nil {
					t.Fatal(err)
				}
				defer published.Withdraw()
				functions, through := backtrace(t, c, library, unwinder)
				if !slices.Equal(functions, down(n)) || !through {
					t.Errorf("functions %d, to the caller in C: %v", functions, through)
				}
			})
		}
	}
}
