// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

// Command engine runs generated code on a stack of its own, as a WebAssembly engine does. The
// code calls the host on the goroutine's stack, leaves the engine to make its stack grow, and
// leaves it for good by a trap. With the argument "wait" the host waits in the first call, with
// "spin" the engine does so on its own stack; with "crash" the host crashes.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/examples/call"
	"github.com/clewdev/clew/jit"
	_ "github.com/clewdev/clew/jit/gdb"
	_ "github.com/clewdev/clew/jit/perf/environment"
)

// The words of the context, to which r15 or x19 points.
const (
	hostSP   = 0  // of enter, on the goroutine's stack
	hostFP   = 8  // likewise, the frame pointer
	top      = 16 // of the engine's stack
	engineSP = 24 // of a function that has left the engine for a while
	reason   = 32 // why it has left
	callSP   = 40 // of callHost, on the engine's stack
	hostCode = 48 // the function that callHost calls
	trap     = 56 // 1 if inner is to leave for good
	start    = 64 // the function that enter calls
	wait     = 72 // 1 if the host's function, or spin, is to wait
	crash    = 80 // 1 if the host's function is to crash
)

func hostAddress() uintptr

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// memory returns memory outside of Go's heap.
func memory(size int) []byte {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	check(err)
	return b
}

func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// engine is generated code, its context, and its stack.
type engine struct {
	code    uint64
	context []byte
	stack   []byte
}

func (e *engine) set(word int, v uint64) { binary.LittleEndian.PutUint64(e.context[word:], v) }
func (e *engine) get(word int) uint64    { return binary.LittleEndian.Uint64(e.context[word:]) }

// run runs the engine until its function returns, or leaves it for good.
//
//go:noinline
func (e *engine) run() (grown int, trapped bool) {
	argument := uintptr(address(e.context))
	e.set(top, address(e.stack)+uint64(len(e.stack)))
	e.set(reason, 0)
	call.Code(uintptr(e.code), argument) // enter
	for e.get(reason) == 1 {
		e.set(reason, 0)
		e.grow()
		grown++
		call.Code(uintptr(e.code+resumeAt), argument) // resume
	}
	return grown, e.get(reason) == 2
}

// grow moves the stack to a larger one.
func (e *engine) grow() {
	used := address(e.stack) + uint64(len(e.stack)) - e.get(engineSP)
	larger := memory(2 * len(e.stack))
	copy(larger[uint64(len(larger))-used:], e.stack[uint64(len(e.stack))-used:])
	check(unix.Munmap(e.stack))
	e.stack = larger
	e.set(engineSP, address(larger)+uint64(len(larger))-used)
}

// announce prints "ready" once the code has written a word of the context, which it does some instructions
// before it waits.
func (e *engine) announce(word int) {
	for e.get(word) == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond)
	fmt.Println("ready")
}

// withoutHandler makes a signal end the program, without Go's handler.
func withoutHandler(signal unix.Signal) {
	var action [4]uint64 // SIG_DFL
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	if errno != 0 {
		check(errno)
	}
}

func main() {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))) // announce runs beside code that the scheduler cannot stop
	m, err := jit.NewMemory(4096)
	check(err)
	code := text()
	copy(m.Bytes(), code)
	check(m.Seal())
	description := jit.Code{Name: "engine", Address: uint64(m.Address()), Text: m.Bytes()[:len(code)], Functions: functions()}
	_, err = jit.Publish(&description)
	check(err)
	e := engine{code: uint64(m.Address()), context: memory(4096), stack: memory(1 << 14)}
	e.set(hostCode, uint64(hostAddress()))
	e.set(start, e.code+outerAt)
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	switch mode {
	case "crash":
		e.set(crash, 1)
		withoutHandler(unix.SIGSEGV)
	case "spin":
		e.set(start, e.code+spinAt)
		e.set(wait, 1)
		go e.announce(hostSP)
	case "wait":
		e.set(wait, 1)
		go e.announce(callSP)
	}
	for _, traps := range []uint64{1, 0} {
		e.set(trap, traps)
		grown, trapped := e.run()
		fmt.Printf("grown %d times, trapped %v\n", grown, trapped)
	}
}
