// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Sonic publishes and runs generated code beside code of the loader of github.com/bytedance/sonic,
// which adds modules to the same list. It is a separate module, so that Clew's does not need the loader.
// Build it with -ldflags=-checklinkname=0.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/bytedance/sonic/loader"
	"github.com/clewdev/clew/jit/goruntime/testdata/exercise"
)

// code is a function of type function for amd64: see programs/loaded in Clew's internal/testprogram.
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

// pointers is the pointer map of a function (runtime/symtab.go, stackmap).
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

func load(module string) function {
	size := uint32(len(code))
	f := loader.Load(code, []loader.Func{{
		Name: module + ".f", ArgsSize: 16, TextSize: size,
		Pcsp:            &loader.Pcdata{{PC: 4, Val: 0}, {PC: size - 1, Val: 24}, {PC: size, Val: 0}},
		Pcline:          &loader.Pcdata{{PC: size, Val: 1}},
		Pcfile:          &loader.Pcdata{{PC: size, Val: 0}},
		PcUnsafePoint:   &loader.Pcdata{{PC: size, Val: loader.PCDATA_UnsafePointUnsafe}},
		PcStackMapIndex: &loader.Pcdata{{PC: size, Val: 0}},
		ArgsPointerMaps: pointers{2, true}, LocalsPointerMaps: pointers{2, false},
	}}, module, []string{"/src/" + module + ".jit"})
	return *(*function)(unsafe.Pointer(&f[0]))
}

// beside loads a module of the loader's, and walks through it and the published code below.
func beside() {
	n++
	module := fmt.Sprintf("sonic%d", n)
	i := 21
	names := ""
	got := load(module)(&i, func(*int) {
		runtime.GC()
		pcs := make([]uintptr, 50)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
		for {
			f, more := frames.Next()
			if f.Function == module+".f" || f.Function == "engine.inner" || f.Function == "jit.outer" {
				names += f.Function + " "
			}
			if !more {
				break
			}
		}
		i = 22
	})
	if want := module + ".f engine.inner jit.outer "; got != 43 || names != want {
		panic(fmt.Sprintf("%d, %q, expected %q", got, names, want))
	}
}

var n int

func main() {
	load("before")
	var modules sync.WaitGroup
	modules.Go(func() { // at the same time as the first publication
		for k := range 200 {
			load(fmt.Sprintf("same%d", k))
		}
	})
	err := exercise.Run(beside, len(os.Args) > 1)
	modules.Wait()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ok")
}
