// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/examples/call"
	"github.com/clewdev/clew/jit"
)

// keeper returns a function that keeps its argument in a word of its frame while it calls the host,
// and returns the number at it.
func keeper(t *testing.T) *engine {
	t.Helper()
	m, err := jit.NewMemory(4096)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	var code []byte
	var unwind *cfi.Program
	var word int64
	switch runtime.GOARCH {
	case "amd64":
		word = -24
		code = []byte{
			0x55,                   // push rbp
			0x48, 0x83, 0xec, 0x10, // sub rsp, 16
			0x48, 0x8d, 0x6c, 0x24, 0x10, // lea rbp, [rsp+16]
			0x48, 0x89, 0x7c, 0x24, 0x08, // mov [rsp+8], rdi
			0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, // mov rax, target
			0xff, 0xd0, // call rax
			0x48, 0x8b, 0x44, 0x24, 0x08, // mov rax, [rsp+8]
			0x48, 0x8b, 0x00, // mov rax, [rax]
			0x48, 0x83, 0xc4, 0x10, // add rsp, 16
			0x5d, // pop rbp
			0xc3, // ret
		}
		binary.NativeEndian.PutUint64(code[17:], uint64(call.HostAddress()))
		unwind, err = preset.Fixed(jit.Host(), preset.Frame{Size: 16, Pushed: []uint64{6}, Epilogues: []preset.Epilogue{{Start: 35}}})
	case "arm64":
		word = -16
		for _, w := range []uint32{
			0xf81e0ffe, // str x30, [sp, #-32]!
			0xf9000be0, // str x0, [sp, #16]
			0x580000d0, // ldr x16, target
			0xd63f0200, // blr x16
			0xf9400be0, // ldr x0, [sp, #16]
			0xf9400000, // ldr x0, [x0]
			0xf84207fe, // ldr x30, [sp], #32
			0xd65f03c0, // ret
			uint32(call.HostAddress()), uint32(call.HostAddress() >> 32),
		} {
			code = binary.NativeEndian.AppendUint32(code, w)
		}
		b := cfi.NewBuilder(cfi.EntryCIE(jit.Host()))
		b.At(4)
		b.DefCFAOffset(32)
		b.Offset(30, -32)
		b.At(28)
		b.DefCFAOffset(0)
		b.Restore(30)
		unwind, err = b.Program()
	}
	if err != nil {
		t.Fatal(err)
	}
	copy(m.Bytes(), code)
	if err := m.Seal(); err != nil {
		t.Fatal(err)
	}
	return &engine{&jit.Code{Address: m.Address(), Text: m.Bytes(), Functions: []jit.Function{
		{Name: "engine.keeper", Size: uint64(len(code)), Unwind: unwind, Pointers: []int64{word}},
	}}, uintptr(m.Address())}
}

var kept *[100]uintptr

// keptAddress is not a conversion in the call, which would keep the object.
//
//go:noinline
func keptAddress() uintptr { return uintptr(unsafe.Pointer(kept)) }

// An object stays if a word of the frame is its only pointer, and goes without a pointer map.
func TestPointers(t *testing.T) {
	e := keeper(t)
	for _, with := range []bool{true, false} {
		if !with {
			e.code.Functions[0].Pointers = nil
		}
		r := e.publish(t)
		var gone atomic.Bool
		call.SetHost(func(a uintptr) uintptr {
			kept = nil
			for range 5 {
				runtime.GC()
				time.Sleep(time.Millisecond)
			}
			if gone.Load() == with {
				t.Errorf("with a pointer map %v, the object was freed: %v", with, gone.Load())
			}
			return a
		})
		done := make(chan uintptr)
		go func() {
			kept = new([100]uintptr)
			kept[0] = 42
			runtime.AddCleanup(kept, func(bool) { gone.Store(true) }, true)
			done <- call.Code(e.entry, keptAddress())
		}()
		if got := <-done; with && got != 42 {
			t.Errorf("the code returned %d", got)
		}
		if err := r.Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
}

// An address of the stack in a word of the frame moves with the stack.
func TestPointerToStack(t *testing.T) {
	e := keeper(t)
	defer e.publish(t).Withdraw()
	call.SetHost(func(a uintptr) uintptr {
		grow(2000)
		runtime.GC()
		return a
	})
	for range 10 {
		done := make(chan uintptr)
		go func() {
			grow(100) // enough for Code, which would move the stack
			x := [1]uintptr{42}
			got := call.Code(e.entry, uintptr(unsafe.Pointer(&x)))
			done <- got * x[0] / 42
		}()
		if got := <-done; got != 42 {
			t.Errorf("the code returned %d", got)
		}
	}
}

func TestRefusedPointers(t *testing.T) {
	e := keeper(t)
	first, last := "-32", "-24"
	if runtime.GOARCH == "arm64" {
		first, last = "-24", "-16"
	}
	for _, words := range [][]int64{{-8}, {0}, {-20}, {-48}, {e.code.Functions[0].Pointers[0], 8}} {
		e.code.Functions[0].Pointers = words
		_, err := Default.Publish(e.code)
		if want := "is not in a word of its frame, from CFA" + first + " to CFA" + last; !errors.Is(err, ErrFrame) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, expected %s", words, err, want)
		}
	}
}
