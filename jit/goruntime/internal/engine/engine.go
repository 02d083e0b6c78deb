// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

// Package engine generates code for tests of package goruntime.
package engine

import (
	"encoding/binary"
	"runtime"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/examples/call"
	"github.com/clewdev/clew/jit"
)

// Engine is generated code: the function "outer" calls "engine.inner", and that calls the host of
// package call, with their own argument.
type Engine struct {
	Code  *jit.Code
	Entry uintptr // of outer
}

// New generates the code in a memory.
func New(m *jit.Memory) (*Engine, error) {
	inner, unwind, lines, err := caller(call.HostAddress())
	if err != nil {
		return nil, err
	}
	const outerAt = 64
	outer, _, _, err := caller(uintptr(m.Address()))
	if err != nil {
		return nil, err
	}
	copy(m.Bytes(), inner)
	copy(m.Bytes()[outerAt:], outer)
	if err := m.Seal(); err != nil {
		return nil, err
	}
	return &Engine{
		&jit.Code{Name: "engine", Address: m.Address(), Text: m.Bytes(), Functions: []jit.Function{
			{Name: "engine.inner", Size: uint64(len(inner)), Unwind: unwind, Lines: lines},
			{Name: "outer", Offset: outerAt, Size: uint64(len(outer)), Unwind: unwind},
		}},
		uintptr(m.Address()) + outerAt,
	}, nil
}

// caller returns a function that calls another with its own argument and returns the result.
// The call is at the offset of its second line.
func caller(target uintptr) (code []byte, unwind *cfi.Program, lines []jit.Line, err error) {
	switch runtime.GOARCH {
	case "amd64":
		code = []byte{
			0x55,                   // push rbp
			0x48, 0x83, 0xec, 0x10, // sub rsp, 16
			0x48, 0x8d, 0x6c, 0x24, 0x10, // lea rbp, [rsp+16]
			0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, // mov rax, target
			0xff, 0xd0, // call rax
			0x48, 0x83, 0xc4, 0x10, // add rsp, 16
			0x5d, // pop rbp
			0xc3, // ret
		}
		binary.NativeEndian.PutUint64(code[12:], uint64(target))
		unwind, err = preset.Fixed(jit.Host(), preset.Frame{Size: 16, Pushed: []uint64{6}, Epilogues: []preset.Epilogue{{Start: 22}}})
		lines = []jit.Line{{Offset: 0, File: "/src/a.src", Line: 10}, {Offset: 20, File: "/src/b.src", Line: 20}, {Offset: 22, File: "/src/a.src", Line: 11}}
	case "arm64":
		for _, w := range []uint32{
			0xf81f0ffe, // str x30, [sp, #-16]!
			0x58000090, // ldr x16, target
			0xd63f0200, // blr x16
			0xf84107fe, // ldr x30, [sp], #16
			0xd65f03c0, // ret
			uint32(target), uint32(target >> 32),
		} {
			code = binary.NativeEndian.AppendUint32(code, w)
		}
		b := cfi.NewBuilder(cfi.EntryCIE(jit.Host()))
		b.At(4)
		b.DefCFAOffset(16)
		b.Offset(30, -16)
		b.At(16)
		b.DefCFAOffset(0)
		b.Restore(30)
		unwind, err = b.Program()
		lines = []jit.Line{{Offset: 0, File: "/src/a.src", Line: 10}, {Offset: 8, File: "/src/b.src", Line: 20}, {Offset: 12, File: "/src/a.src", Line: 11}}
	}
	return code, unwind, lines, err
}
