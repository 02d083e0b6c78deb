// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command walk is the Go half of a program; walk.c is the C half. It generates two functions
// that only regions describe, and publishes their call frame information. It is built as an
// archive, so that the stack starts in C's main.
package main

// #include <stdint.h>
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/clewdev/clew/jit"
	_ "github.com/clewdev/clew/jit/gdb"
	_ "github.com/clewdev/clew/jit/libgcc"
	"github.com/clewdev/clew/region"
)

func main() {}

// inner(callback) has a frame pointer, then moves the stack pointer, and overwrites
// the register that outer(callback, inner) uses as frame pointer.
type machine struct {
	inner, outer               []byte
	innerRegions, outerRegions *region.Region
}

var machines = map[string]machine{
	"amd64": {
		inner: []byte{
			0x55,             // push rbp
			0x48, 0x89, 0xe5, // mov rbp, rsp
			0x53,                   // push rbx
			0x48, 0x83, 0xec, 0x18, // sub rsp, 24
			0x48, 0x83, 0xec, 0x40, // sub rsp, 64, not described
			0x31, 0xdb, // xor ebx, ebx
			0xff, 0xd7, // call rdi
			0x48, 0x8d, 0x65, 0xf8, // lea rsp, [rbp-8]
			0x5b, // pop rbx
			0x5d, // pop rbp
			0xc3, // ret
		},
		innerRegions: region.List(
			&region.Region{Count: 9, Ops: []region.Op{
				region.SpillFPRel(4, 3, -8), region.SaveReg(3, 7, 6), region.Add(0, 7, -8), region.SpillSPRel(0, 6, 0),
			}},
			&region.Region{Count: -3, Ops: []region.Op{region.PopFrames(1, 1)}},
		),
		outer: []byte{
			0x53,             // push rbx
			0x48, 0x89, 0xe3, // mov rbx, rsp
			0x48, 0x83, 0xec, 0x20, // sub rsp, 32
			0xff, 0xd6, // call rsi
			0x48, 0x89, 0xdc, // mov rsp, rbx
			0x5b, // pop rbx
			0xc3, // ret
		},
		outerRegions: region.List(
			&region.Region{Count: 8, Ops: []region.Op{region.Add(0, 7, -8), region.SpillSPRel(0, 3, 0), region.SaveReg(3, 7, 3)}},
			&region.Region{Count: -2, Ops: []region.Op{region.PopFrames(0, 1)}},
		),
	},
	"arm64": {
		inner: instructions(
			0xa9bd7bfd, // stp x29, x30, [sp, -48]!
			0x910003fd, // mov x29, sp
			0xf9000bb3, // str x19, [x29, 16]
			0xd2800013, // mov x19, 0
			0xd10103ff, // sub sp, sp, 64, not described
			0xd63f0000, // blr x0
			0x910003bf, // mov sp, x29
			0xf9400bf3, // ldr x19, [sp, 16]
			0xa8c37bfd, // ldp x29, x30, [sp], 48
			0xd65f03c0, // ret
		),
		innerRegions: region.List(
			&region.Region{Count: 3, Ops: []region.Op{
				region.SpillFPRel(2, 19, 16), region.SaveReg(1, 31, 29),
				region.Add(0, 31, -48), region.SpillSPRel(0, 29, 0), region.SpillSPRel(0, 30, 8),
			}},
			&region.Region{Count: -2, Ops: []region.Op{region.PopFrames(0, 1)}},
		),
		outer: instructions(
			0xa9be7bf3, // stp x19, x30, [sp, -32]!
			0x910003f3, // mov x19, sp
			0xd10083ff, // sub sp, sp, 32
			0xd63f0020, // blr x1
			0x9100027f, // mov sp, x19
			0xa8c27bf3, // ldp x19, x30, [sp], 32
			0xd65f03c0, // ret
		),
		outerRegions: region.List(
			&region.Region{Count: 2, Ops: []region.Op{
				region.Add(0, 31, -32), region.SpillSPRel(0, 19, 0), region.SpillSPRel(0, 30, 8), region.SaveReg(1, 31, 19),
			}},
			&region.Region{Count: -2, Ops: []region.Op{region.PopFrames(0, 1)}},
		),
	},
}

func instructions(words ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	return b
}

const innerAt, outerAt = 0x40, 0x80

func fail(err error) {
	fmt.Println("walk:", err)
	os.Exit(1)
}

// generate writes and publishes the code, and returns inner and outer.
//
//export generate
func generate(inner, outer *C.uintptr_t) {
	memory, err := jit.NewMemory(4096)
	if err != nil {
		fail(err)
	}
	m := machines[runtime.GOARCH]
	copy(memory.Bytes()[innerAt:], m.inner)
	copy(memory.Bytes()[outerAt:], m.outer)
	if err := memory.Seal(); err != nil {
		fail(err)
	}
	code := &jit.Code{Address: memory.Address(), Text: memory.Bytes(), Functions: []jit.Function{
		{Name: "inner", Offset: innerAt, Size: uint64(len(m.inner))},
		{Name: "outer", Offset: outerAt, Size: uint64(len(m.outer))},
	}}
	for i, regions := range []*region.Region{m.innerRegions, m.outerRegions} {
		f := &code.Functions[i]
		p := &region.Procedure{Name: f.Name, End: f.Size, Regions: regions}
		if f.Unwind, err = p.Program(jit.Host()); err != nil {
			fail(err)
		}
	}
	published, err := jit.Publish(code)
	if err != nil {
		fail(err)
	}
	if err := published.Failed(); err != nil {
		fail(err)
	}
	if names := published.Publishers(); !slices.Equal(names, []string{"gdb", "libgcc"}) {
		fail(fmt.Errorf("published to %v", names))
	}
	*inner, *outer = C.uintptr_t(code.Start(&code.Functions[0])), C.uintptr_t(code.Start(&code.Functions[1]))
}
