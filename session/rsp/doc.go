// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package rsp lets gdb and lldb debug a session like a program, through the GDB remote serial protocol:
//
//	(gdb) target remote 127.0.0.1:1234
//
//	(lldb) target create PROGRAM
//	(lldb) settings set plugin.jit-loader.gdb.enable on
//	(lldb) gdb-remote 1234
//
// The server sends gdb the path of the program's executable, and gdb reads it through the connection.
// lldb 14 must get the path as above. If the program has not done so, the server adds the images of the
// session to the list of the GDB JIT interface (github.com/clewdev/clew/jit/gdb). A debugger then has
// the symbols, lines and unwind tables of the program and of the images. Debuggers find the list by a
// symbol, which a program linked with -ldflags=-s does not have. A client learns of later images when
// it next continues or the program next calls, or at [Server.Update].
//
// # What a debugger sees
//
// A debugger sees one process with one thread: the worker. The program's other threads (the threads of
// the Go runtime) always run.
//
// The program calls functions through the server, with [Server.Call]. While a client is attached, it
// handles the stops of the call, and Call returns at the end of the call. A client that attaches during
// a call stops it. If it attaches while nothing is called, it sees the worker in a function called
// clew_idle. There it can set breakpoints, read memory and call functions. When it continues, it waits
// for the program's next call; stepi stops that before its first instruction. While the client has
// stopped the worker, Call waits.
//
// The process does not end when a function returns: the client waits for the next call. It sees the
// return if it asked for a stop there: "finish" and "step" out of the called function lead to
// session.return, to which every call returns, and "continue" from there lets Call return. For the
// client, the process ends when the code ends it (exit_group), or with [Server.Close].
//
// The worker never receives a signal. A fault stops it. When the client continues, with the signal or
// without, the worker executes the instruction again: it faults again unless the client has repaired
// the cause. SIGKILL and SIGTERM abort the call, as "kill" does; the program gets session.Aborted and
// continues.
//
// When a client detaches or its connection ends, its breakpoints are removed and the call continues.
// Call returns later stops, as without a client.
//
// # Functions that a debugger calls
//
// lldb compiles most expressions. It gets memory for them from the server, at most 64 MiB. lldb can
// write memory that it has requested as writable and executable; the code cannot. The memory is freed
// when the client is gone and no call can be using it. gdb calls the program's own malloc when an
// expression needs memory, as a string does. It finds the malloc of package session/hosted if the
// session has its image.
//
// While the program's call is stopped, a function that the debugger calls is nested in it: gdb shows
// "<function called from gdb>" between the two. "finish", "return" and "set unwindonsignal on" lead back
// to the call. On arm64 gdb's "return" fails there, because gdb then sets the program counter to the
// program's entry point, which the session refuses.
//
// A function that lldb calls returns to the program's entry point, where lldb has a breakpoint. While
// such a function may return, the server sets a hardware breakpoint there. If the client detaches
// meanwhile, the program's call is aborted.
//
// # Breakpoints
//
// Breakpoints in the session's images are trap instructions; their number is not limited. The server
// evaluates conditions that gdb sends ("set breakpoint condition-evaluation auto"). A breakpoint
// elsewhere is a hardware breakpoint, like one set by "hbreak", because the program itself runs that
// code too. It takes one of the machine's few debug registers, and cannot be inserted if none is left.
// The server accepts the breakpoints with which debuggers learn of new symbols or libraries, but does
// not set them.
//
// The session must not be made with Options.Locked. Until [Server.Close], the program must call
// functions and remove images only through the server.
//
// A client has all rights of the program, and the protocol has no authentication: the listeners of
// package socket admit only clients of the program's own user.
package rsp
