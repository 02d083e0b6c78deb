// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command client is the Go part of a program with client.c. It generates two functions,
// describes them by regions, and publishes them. It is built as an archive, so that the
// walked stack begins in C's main.
package main

/*
#include <stdint.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/libunwind"
	_ "github.com/clewdev/clew/jit/libunwind/linked"
	"github.com/clewdev/clew/region"
)

func main() {}

// The two functions call their arguments: inner(callback), and outer(callback, inner).
// Neither has a frame pointer.
var (
	code       *jit.Memory
	published  jit.Registration
	procedures jit.Registration
	switching  jit.Registration
	batch      *jit.Code
	described  []*region.Procedure
)

type machineCode struct {
	inner, outer []byte
	list         [2]*region.Region

	// switching calls its third argument with the first two, on the stack that ends at the
	// fourth. It saves its stack pointer there.
	switching []byte
	switched  preset.Range
	frame     preset.Frame
}

var machines = map[string]machineCode{
	"amd64": {
		// push rbx; sub rsp, 32; call rdi; add rsp, 32; pop rbx; ret
		inner: []byte{0x53, 0x48, 0x83, 0xec, 32, 0xff, 0xd7, 0x48, 0x83, 0xc4, 32, 0x5b, 0xc3},
		// push r12; sub rsp, 48; call rsi; add rsp, 48; pop r12; ret
		outer: []byte{0x41, 0x54, 0x48, 0x83, 0xec, 48, 0xff, 0xd6, 0x48, 0x83, 0xc4, 48, 0x41, 0x5c, 0xc3},
		list: [2]*region.Region{
			region.List(
				&region.Region{Count: 5, Ops: []region.Op{region.Add(4, 7, -32), region.Add(0, 7, -8), region.SpillSPRel(0, 3, 0)}},
				&region.Region{Count: -6, Ops: []region.Op{region.Add(3, 7, 32), region.PopFrames(4, 1)}},
			),
			region.List(
				&region.Region{Count: 6, Ops: []region.Op{region.Add(1, 7, -8), region.SpillSPRel(1, 12, 0), region.Add(5, 7, -48)}},
				&region.Region{Count: -7, Ops: []region.Op{region.Add(3, 7, 48), region.PopFrames(5, 1)}},
			),
		},
		// push rbp; mov rbp, rsp; mov [rcx-16], rsp; lea rsp, [rcx-16]; call rdx; mov rsp, [rsp]; pop rbp; ret
		switching: []byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0x61, 0xf0, 0x48, 0x8d, 0x61, 0xf0, 0xff, 0xd2, 0x48, 0x8b, 0x24, 0x24, 0x5d, 0xc3},
		switched:  preset.Range{Start: 12, End: 18, Base: 7, Path: []int64{0, 16}},
	},
	"arm64": {
		// stp x19, x30, [sp, -32]!; blr x0; ldp x19, x30, [sp], 32; ret
		inner: []byte{0xf3, 0x7b, 0xbe, 0xa9, 0x00, 0x00, 0x3f, 0xd6, 0xf3, 0x7b, 0xc2, 0xa8, 0xc0, 0x03, 0x5f, 0xd6},
		// stp x19, x30, [sp, -64]!; blr x1; ldp x19, x30, [sp], 64; ret
		outer: []byte{0xf3, 0x7b, 0xbc, 0xa9, 0x20, 0x00, 0x3f, 0xd6, 0xf3, 0x7b, 0xc4, 0xa8, 0xc0, 0x03, 0x5f, 0xd6},
		list: [2]*region.Region{
			region.List(
				&region.Region{Count: 1, Ops: []region.Op{region.Add(0, 31, -32), region.SpillSPRel(0, 19, 0), region.SpillSPRel(0, 30, 8)}},
				&region.Region{Count: -2, Ops: []region.Op{region.PopFrames(0, 1)}},
			),
			region.List(
				&region.Region{Count: 1, Ops: []region.Op{region.Add(0, 31, -64), region.SpillSPRel(0, 19, 0), region.SpillSPRel(0, 30, 8)}},
				&region.Region{Count: -2, Ops: []region.Op{region.PopFrames(0, 1)}},
			),
		},
		// stp x29, x30, [sp, -16]!; mov x29, sp; mov x4, sp; str x4, [x3, -16]!; mov sp, x3; blr x2; ldr x4, [sp]; mov sp, x4; ldp x29, x30, [sp], 16; ret
		switching: []byte{0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0xe4, 0x03, 0x00, 0x91, 0x64, 0x0c, 0x1f, 0xf8, 0x7f, 0x00, 0x00, 0x91,
			0x40, 0x00, 0x3f, 0xd6, 0xe4, 0x03, 0x40, 0xf9, 0x9f, 0x00, 0x00, 0x91, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6},
		switched: preset.Range{Start: 20, End: 32, Base: 31, Path: []int64{0, 16}},
		frame:    preset.Frame{Size: 16},
	},
}

const innerAt, outerAt, undescribedAt, switchingAt = 0x40, 0x80, 0xc0, 0x100

func fail(err error) {
	fmt.Println("client:", err)
	os.Exit(1)
}

// generate writes the code, and returns inner, outer and switching.
//
//export generate
func generate(inner, outer, switching *C.uintptr_t) {
	var err error
	if code, err = jit.NewMemory(4096); err != nil {
		fail(err)
	}
	m := machines[runtime.GOARCH]
	copy(code.Bytes()[innerAt:], m.inner)
	copy(code.Bytes()[outerAt:], m.outer)
	copy(code.Bytes()[switchingAt:], m.switching)
	if err := code.Seal(); err != nil {
		fail(err)
	}
	batch = &jit.Code{Address: code.Address(), Text: code.Bytes(), Functions: []jit.Function{
		{Name: "inner", Offset: innerAt, Size: uint64(len(m.inner))},
		{Name: "outer", Offset: outerAt, Size: uint64(len(m.outer))},
		{Name: "undescribed", Offset: undescribedAt, Size: 16},
	}}
	for i := range 2 {
		f := &batch.Functions[i]
		p := &region.Procedure{Name: f.Name, Start: batch.Start(f), End: batch.Start(f) + f.Size, Regions: m.list[i]}
		if f.Unwind, err = p.Program(jit.Host()); err != nil {
			fail(err)
		}
		described = append(described, p)
	}
	*inner, *outer, *switching = C.uintptr_t(code.Address()+innerAt), C.uintptr_t(code.Address()+outerAt), C.uintptr_t(code.Address()+switchingAt)
}

// publish_switching publishes switching too.
//
//export publish_switching
func publish_switching() {
	m := machines[runtime.GOARCH]
	frame := m.frame
	frame.Ranges = []preset.Range{m.switched}
	frame.Epilogues = []preset.Epilogue{{Start: m.switched.End}}
	program, err := preset.FramePointer(jit.Host(), frame)
	if err != nil {
		fail(err)
	}
	one := *batch
	one.Functions = []jit.Function{{Name: "switching", Offset: switchingAt, Size: uint64(len(m.switching)), Unwind: program, SwitchesStack: true}}
	if switching, err = new(libunwind.Publisher).Publish(&one); err != nil {
		fail(err)
	}
}

//export withdraw_switching
func withdraw_switching() {
	if err := switching.Withdraw(); err != nil {
		fail(err)
	}
}

//export publish
func publish(format C.int) {
	var err error
	p := &libunwind.Publisher{Format: libunwind.Format(format)}
	if published, err = p.Publish(batch); err != nil {
		fail(err)
	}
}

// withdraw withdraws one function; for -1 all.
//
//export withdraw
func withdraw(function C.int) {
	err := published.WithdrawFunctions()
	if function >= 0 {
		err = published.WithdrawFunctions(int(function))
	} else if err == nil {
		err = published.Withdraw()
	}
	if err != nil {
		fail(err)
	}
}

//export publish_procedures
func publish_procedures() {
	var err error
	if procedures, err = libunwind.PublishProcedures(described...); err != nil {
		fail(err)
	}
}

//export withdraw_procedures
func withdraw_procedures() {
	if err := procedures.Withdraw(); err != nil {
		fail(err)
	}
}

// churn publishes and withdraws batches of other code from several goroutines.
//
//export churn
func churn() {
	p := new(libunwind.Publisher)
	var wait sync.WaitGroup
	for n := range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range 200 {
				other := *batch
				other.Functions = append([]jit.Function(nil), batch.Functions...)
				// No code runs there.
				other.Address += uint64(0x10000 * (1 + n))
				r, err := p.Publish(&other)
				if err != nil {
					fail(err)
				}
				if i%2 == 0 {
					err = r.WithdrawFunctions(i / 2 % 3)
				}
				if err == nil {
					err = r.Withdraw()
				}
				if err != nil {
					fail(err)
				}
			}
		}()
	}
	wait.Wait()
}
