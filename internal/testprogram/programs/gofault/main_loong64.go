// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command gofault reads address 0. Its argument names the signal's handler: "runtime" for
// Go's, which prints a traceback, "default" for none, so that the kernel writes a core,
// and "handler" for one that reads address 0 as well.
package main

import (
	"os"
	"syscall"
	"unsafe"
)

// handlerPC returns the address of the handler.
func handlerPC() uintptr

//go:noinline
func fault(p *int) int { return *p + 1 }

//go:noinline
func inner(p *int) int { return fault(p) + 2 }

//go:noinline
func outer(p *int) int { return inner(p) + 3 }

// sigaction is struct sigaction of the kernel, which lacks a trampoline on this machine.
type sigaction struct {
	handler     uintptr
	flags, mask uint64
}

func handle(handler uintptr) {
	const siginfo, onStack = 4, 0x08000000
	action := sigaction{handler: handler, flags: siginfo | onStack}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGSEGV), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	if errno != 0 {
		panic(errno)
	}
}

func main() {
	switch os.Args[1] {
	case "default":
		handle(0)
	case "handler":
		handle(handlerPC())
	}
	println(outer(nil))
}
