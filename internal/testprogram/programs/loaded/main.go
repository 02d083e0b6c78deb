// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Loaded runs code that the loader of github.com/bytedance/sonic has added to the list of
// modules of Go's runtime. Goroutines wait in Go functions that the code calls, and the
// first one in a system call. It is a separate module, so that Clew's does not need the
// loader. Build it with -ldflags=-checklinkname=0.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/bytedance/sonic/loader"
)

// code is a function of type function for amd64. It takes 24 bytes of stack, saves
// the frame pointer, and calls the hook.
var code = []byte{
	0x48, 0x83, 0xec, 0x18, // +0x0  sub $24, %rsp
	0x48, 0x89, 0x6c, 0x24, 0x10, // +0x4  mov %rbp, 16(%rsp)
	0x48, 0x8d, 0x6c, 0x24, 0x10, // +0x9  lea 16(%rsp), %rbp
	0x48, 0x89, 0x44, 0x24, 0x20, // +0xe  mov %rax, 32(%rsp)
	0x48, 0x8b, 0x08, // +0x13 mov (%rax), %rcx
	0x48, 0x89, 0x4c, 0x24, 0x08, // +0x16 mov %rcx, 8(%rsp)
	0x48, 0x8b, 0x33, // +0x1b mov (%rbx), %rsi
	0x48, 0x89, 0xda, // +0x1e mov %rbx, %rdx
	0xff, 0xd6, // +0x21 call *%rsi
	0x48, 0x8b, 0x44, 0x24, 0x08, // +0x23 mov 8(%rsp), %rax
	0x48, 0x8b, 0x4c, 0x24, 0x20, // +0x28 mov 32(%rsp), %rcx
	0x48, 0x03, 0x01, // +0x2d add (%rcx), %rax
	0x48, 0x8b, 0x6c, 0x24, 0x10, // +0x30 mov 16(%rsp), %rbp
	0x48, 0x83, 0xc4, 0x18, // +0x35 add $24, %rsp
	0xc3, // +0x39 ret
}

type function func(i *int, hook func(*int)) int

// pointers is the pointer map of a function (runtime/symtab.go, stackmap): a bitmap with a
// number of bits, all set or all clear.
type pointers struct {
	bits uint8
	set  bool
}

func (p pointers) MarshalBinary() ([]byte, error) {
	bitmap := byte(0)
	if p.set {
		bitmap = 1<<p.bits - 1
	}
	return []byte{1, 0, 0, 0, p.bits, 0, 0, 0, bitmap}, nil
}

// load loads count copies of the code as one module. Function n has the lines
// 10n+1 up to its call, and 10n+2 from there.
func load(module string, count int) []function {
	var text []byte
	var funcs []loader.Func
	size := uint32(len(code))
	for n := range count {
		line := int32(10*n + 1)
		funcs = append(funcs, loader.Func{
			Name: fmt.Sprintf("%s.f%d", module, n), ArgsSize: 16, EntryOff: uint32(len(text)), TextSize: size,
			Pcsp:            &loader.Pcdata{{PC: 4, Val: 0}, {PC: size - 1, Val: 24}, {PC: size, Val: 0}},
			Pcline:          &loader.Pcdata{{PC: 0x21, Val: line}, {PC: size, Val: line + 1}},
			Pcfile:          &loader.Pcdata{{PC: size, Val: 0}},
			PcUnsafePoint:   &loader.Pcdata{{PC: size, Val: loader.PCDATA_UnsafePointUnsafe}},
			PcStackMapIndex: &loader.Pcdata{{PC: size, Val: 0}},
			ArgsPointerMaps: pointers{2, true}, LocalsPointerMaps: pointers{2, false},
		})
		text = append(text, code...)
	}
	var list []function
	for _, f := range loader.Load(text, funcs, module, []string{"/src/" + module + ".jit"}) {
		list = append(list, *(*function)(unsafe.Pointer(&f)))
	}
	return list
}

func main() {
	inner, outer := load("inner", 3), load("outer", 2)
	var started sync.WaitGroup
	for k := range 6 {
		started.Add(1)
		go outer[k%2](new(int), func(i *int) {
			inner[k%3](i, func(*int) {
				started.Done()
				time.Sleep(time.Hour)
			})
		})
	}
	started.Wait()
	time.Sleep(100 * time.Millisecond) // until all of them sleep
	runtime.GC()
	runtime.GC() // The second one records the waiting goroutines, with the time of the first one.
	outer[1](new(int), func(i *int) {
		inner[2](i, func(*int) {
			fmt.Println("ready")
			var b [1]byte
			syscall.Read(0, b[:]) // on a thread
			syscall.Pause()
		})
	})
}
