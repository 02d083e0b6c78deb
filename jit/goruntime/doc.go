// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package goruntime makes generated code known to the Go runtime of the program. Importing it
// is enough:
//
//	import _ "github.com/clewdev/clew/jit/goruntime"
//
// Functions that [jit.Publish] publishes then have names, files and lines in runtime.Callers,
// runtime.FuncForPC, panics, fatal signals, runtime.Stack, CPU profiles of runtime/pprof and
// execution traces, which continue to the Go caller. Generated code may call Go functions on the
// goroutine's stack: the stack can grow, garbage can be collected, and a panic can pass the code
// to a recover in its caller. Without this package, each of these ends the program with
// "unexpected return pc". Package examples/call calls such code, and Go from it.
//
// The package adds modules to the runtime's list, in the form that the linker of the Go release
// writes (runtime.moduledata). It needs no cgo and no flag of the linker. It was tested with the
// releases that [Releases] returns, on linux/amd64 and linux/arm64, and checks the program's own
// module before it adds any. In other programs it registers nothing, and Publish returns an
// error that wraps [ErrVersion] and names the version.
//
// # Promises
//
// Publish checks the unwind table, but cannot check the code. The author of the code promises:
//
//   - The unwind table is right at every instruction, as package check can prove.
//   - No pointer to Go's heap is only in the frame of a function or in a register during a call of
//     Go, except in words of the frame that [jit.Function].Pointers lists. These contain a
//     pointer or nil during each call. The garbage collector and the growth of the stack read them,
//     and no other words.
//   - No address of the goroutine's stack is in other words of the frame during a call of Go, apart
//     from the saved frame pointer. When the stack moves, only the words of Pointers and the saved
//     frame pointer are adjusted.
//   - The code does not store pointers of Go to Go's heap, which needs a write barrier.
//   - The frame pointer (rbp, x29) has the caller's value, or leads to a saved one, when the code
//     calls Go: the execution tracer follows it.
//   - The code calls Go through a function in assembly that has a frame, keeps the arguments and
//     declares NO_LOCAL_POINTERS, as examples/call does. So does the function that calls the code.
//   - The stack is large enough, because generated code does not check it: see package jit. A
//     garbage collection can shrink it while the code calls Go. So the function that the code
//     calls grows it again before it returns, as examples/call does.
//   - A call is not the last instruction before another function or the end of a page, because
//     its return address would be there. A trap or padding after the call is enough.
//   - No thread runs the code, and no frame of it is on a stack, when it is withdrawn.
//
// Code is never preempted. The garbage collector waits until it returns or calls Go. So can Publish
// and Withdraw, which stop the world at times: code must not wait for them.
//
// # Frames
//
// Go's runtime computes the caller's frame from the stack pointer alone. Publish computes the
// distance at each instruction from the unwind table, and refuses a function by a
// [jit.FunctionError] that wraps [ErrFrame] if
//
//   - it has no unwind table, switches stacks, or signs return addresses;
//   - its CFA is not relative to the stack pointer. On amd64 it may be rbp+16, if the code
//     changes the stack pointer only in the prologue and the epilogues;
//   - it lists a word in Pointers that is not in its frame, or is the saved frame pointer or the
//     return address;
//   - it saves the frame pointer elsewhere than below the return address (amd64: CFA-16) or in
//     the highest word of its frame (arm64: CFA-8). The runtime adjusts this word when the stack moves;
//   - on arm64, its return address is not at the stack pointer while it has a frame, as
//     Go's is: str x30, [sp, #-Size]!, but not stp x29, x30, [sp, #-Size]!. The runtime always
//     reads the word at the stack pointer, so no table can describe the latter. The highest word
//     of the frame belongs to the caller, which may have saved a frame pointer there.
//
// A walk stops in code where the return address is in a register though it is not a leaf's, such
// as a prologue of arm64 before the store. Such code must not call Go.
//
// # Names
//
// Tracebacks omit names without a dot. So a function "answer" is called jit.answer, and
// runtime.answer is called jit.runtime.answer. Addresses between functions in 4096 bytes of code
// have the name runtime._ExternalCode, as code that Go's profiles do not know.
//
// Inlined calls ([jit.Line].Inlined) are frames. Go's tables name the file and line of an inlined
// call by an address in the outer function. Publish uses an instruction with this file and line. If
// there is none, it uses an address in the middle of an instruction on amd64. On arm64 it omits the
// call: the frame then has the name of the outer function, and the file and line of the inlined one.
//
// # Withdrawal
//
// The runtime does not know a function after it was withdrawn. A CPU profile gets its names when
// it ends, not when it takes a sample: withdraw code that it has sampled after
// [runtime/pprof.StopCPUProfile]. Otherwise its frames have no names ("<unknown>"), or
// runtime._ExternalCode if other functions are in the same 4096 bytes, or the names of functions
// that were published at the same addresses since. An execution trace needs
// the names for a second after the event. A runtime.Func of a withdrawn function stays usable, but
// may describe another function.
//
// The runtime reads its list without a lock. The memory of withdrawn code is reused after the
// world was stopped twice, once for every 1024 pieces. Names of functions and files are never freed,
// and each takes memory once. The tables of all functions that were ever published have at most
// 4 GiB. Beyond that, Publish returns [ErrMemory].
//
// # Cost
//
// Functions in pages of 4096 bytes that follow each other are found together, whether they were
// published in one batch or one at a time: with 100,000 of them a look-up takes as long as with
// a few. The runtime searches the list in order, and each range of pages apart from the others takes
// some 5 ns: allocate the memory of functions in large pieces. Functions of Go itself are
// found first.
package goruntime
