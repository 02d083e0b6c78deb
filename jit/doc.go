// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package jit describes machine code that a program generated at run time, and
// publishes it to tools: debuggers, profilers, and the unwinders of C runtimes.
//
// A Code is a batch of functions: their addresses, names, unwind tables and source
// lines. A Publisher makes a batch known to one tool, and returns a Registration
// that withdraws it. Each publisher is a package. A program uses the publishers
// that it imports, and [Publish] calls all of them. The failure of one does not affect the
// others: see [Publication.Failed].
//
//	import (
//		"github.com/clewdev/clew/jit"
//		_ "github.com/clewdev/clew/jit/gdb"              // gdb, lldb
//		_ "github.com/clewdev/clew/jit/perf/environment" // perf, if the environment asks for it
//	)
//
// # The life of generated code
//
//  1. [NewMemory] returns writable memory. Write the code to it.
//  2. Memory.Seal makes it executable. Calls before Seal, and writes after it, fault.
//  3. Describe the code by a Code, and publish it.
//  4. Call it.
//  5. When no thread runs it any more, withdraw it, and then close its memory.
//
// The example of Publish shows all steps.
//
// # The cost of publishing
//
// [Listening] reports whether anybody will look. Names and lines can be functions
// ([Code].NameOf and LinesOf), which run only if a publisher needs them. A debugger may attach
// at any time, so jit/gdb describes all code at once, unless gdb.Publisher.OnDemand is set:
// then code costs less than 50 ns a function until a debugger attaches.
//
// One function at fault does not cost its batch: [Publication.Rejected] lists the functions
// that Publish left out.
//
// # Code that moves, and code caches
//
// A description does not depend on addresses, except for Address and those of Ranges. When code
// moves, withdraw it, set these to the new memory, and publish the same Code again.
//
// [Code.AppendBinary] serialises everything else for a cache, and [Code.UnmarshalBinary] reads
// it in a later process. It refuses the form of another version ([ErrVersion]).
//
// # Calling generated code
//
// Go can call machine code only from a function in assembly, such as that of examples/call, which
// the example of Publish uses. If the code runs on a goroutine's stack, that function must
// declare a frame that is large enough for all of the generated code, because nothing else
// makes the stack grow. The stack may have moved when that function starts, so arguments must
// point to memory outside of the stack. See examples/forth for a compiler that does this on amd64
// and arm64.
//
// # What Go does with generated code
//
// Go's runtime does not know generated code, unless package jit/goruntime publishes it:
//
//   - A CPU profile of runtime/pprof shows it as runtime._ExternalCode, without callers. perf
//     and clew record show its functions.
//   - A fault in it ends the program with "unexpected return pc for runtime.sigpanic", whatever
//     the program recovers. (A fault can be recovered only with jit/goruntime, or in a
//     function that has not moved the stack pointer and that Go called itself.) GOTRACEBACK=crash clew stack -- ./prog shows
//     the whole stack, through the generated code to main.
//   - A call of Go from it ends the program if the stack must grow or be scanned.
//   - A goroutine that runs it is not preempted, also with jit/goruntime. A garbage collection, and everything else
//     that stops the world, waits until the code returns or calls Go.
//
// # Stacks that are switched
//
// An engine can run its code on a stack of its own, and call the host on the goroutine's. The
// functions that change stacks need two things:
//
//   - an unwind table in which the caller's frame is found by a saved pointer, not by the stack
//     pointer: a preset.Range from the instruction after the switch up to the one after the
//     switch back. A frame that is given up, as by a trap, is a Range with Left.
//   - [Function].SwitchesStack
//
// Tools then walk through them in both directions, and show their names:
//
//   - gdb walks to a frame further down the stack only from a function called __morestack, as
//     libgcc's is, or from a signal frame, which it prints as <signal handler called>. The symbol
//     file therefore gives a function with SwitchesStack a second symbol of that name.
//     Backtraces show the function's own name, and break finds it. Only info symbol shows
//     __morestack.
//   - lldb and the unwinders of libgcc and libunwind need the table only.
//   - Clew needs the table only if the Range reads a pointer from memory. For a frame pointer
//     that points to the other stack it needs SwitchesStack too.
//   - perf follows frame pointers from one stack to the other on amd64, and omits functions
//     without one. On arm64 the kernel stops where they lead down. A stack copy holds one
//     stack only: the walk stops at the function that changes stacks. clew record continues
//     there by frame pointers, and says that callers may be missing.
//
// An engine that moves its stack to a larger one must correct the frame pointers in it, or use
// tables without a frame pointer: preset.Fixed or preset.Sized.
//
// The program jit/gdb/testdata/engine shows all of it, on amd64 and arm64: an entry, calls of
// the host, growth of the stack, and a trap.
//
// # Names
//
// Any name without NUL works. gdb reads a dot in an expression as a member: break wasm.add and
// list wasm.add find the function, but print and disassemble need quotes: print 'wasm.add'. It
// prints wasm.add for a function with lines; of one without lines it knows only the symbol,
// which it takes for another language's and prints as wasm[add].
//
// # Space between functions
//
// perf 6.1 unwinds through a function of a jitdump only if memory after the function stays
// unused: perf.SpaceAfter bytes, mostly 80 and some padding. A compiler that wants complete
// stacks in perf without frame pointers leaves them free. Nothing else needs them.
//
// Package jit does not generate code, and does not know the format of any tool.
package jit
