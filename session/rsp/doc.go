// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package rsp lets gdb and lldb debug a session as if it were a program of its
// own, through the GDB remote serial protocol:
//
//	(gdb) target remote 127.0.0.1:1234
//
//	(lldb) target create PROGRAM
//	(lldb) settings set plugin.jit-loader.gdb.enable on
//	(lldb) gdb-remote 1234
//
// The server names the program's executable to gdb, which reads it through the
// connection; lldb 14 wants to be told. The images of the session are put into the
// list of the GDB JIT interface ([github.com/clewdev/clew/jit/gdb]) where they are
// not in it, so that a debugger has the symbols, lines and unwind tables of both.
// A program linked with -ldflags=-s has no symbol by which debuggers find that
// list. Images that come later are shown when the client next continues or the
// program next calls, or at [Server.Update].
//
// # What a debugger sees
//
// One process with one thread: the worker. The program's other threads, the Go
// runtime's, run on whatever the debugger does.
//
// The program calls functions through the server, with [Server.Call]. While a
// client is attached, the stops of such a call are the client's, and Call returns
// at its end. A client that comes in the middle of a call stops it. One that comes
// while nothing is called sees the worker in a function called clew_idle, where it
// can look around, set breakpoints and call functions; when it goes on, it waits
// for the program's next call, and stepi stops that before its first instruction.
// A client that has the worker stopped holds the program: Call waits.
//
// A function that returns is not the end of the process: the client goes on to
// wait for the next call. It sees the return where it asked for a stop: "finish"
// and "step" out of the function that was called lead to session.return, which
// every call returns to, and from there on "continue" lets Call return. The process
// ends for the client when the code ends it (exit_group), or with [Server.Close].
//
// No signal is ever delivered. A fault stops the worker; a client that goes on,
// with the signal or without, has the instruction executed again, so that what
// was repaired is done, and what was not stops again. SIGKILL and SIGTERM abort
// the call, as "kill" does; the program gets session.Aborted and lives.
//
// When a client detaches or its connection ends, however it does, its breakpoints
// are removed and the call goes on to its end. Stops that come later are returned
// by Call, as without a client.
//
// # Functions that a debugger calls
//
// lldb compiles most expressions. Memory for them comes from the server, 64 MiB at
// the most: what lldb asks to be writable and executable it can write, and the code
// cannot. It is given back when the client goes, or else when the call is over that
// may be using it. gdb wants the program itself to have malloc where an expression
// needs memory, as a string does: it finds that of package session/hosted, where its
// image is one of the session's.
//
// A function that lldb calls returns to the program's entry, where it has a
// breakpoint. The server makes that a real one for as long as such a function may
// return, which takes a debug register. The call of the program's is aborted where
// the client goes away meanwhile.
//
// # Breakpoints
//
// Breakpoints in the session's images are trap instructions, of which any number
// can be set; conditions that gdb sends along ("set breakpoint condition-evaluation
// auto") are evaluated by the server. A breakpoint elsewhere takes one of the
// machine's few debug registers, as "hbreak" does, since the program itself runs
// that code too; where there is none left it cannot be inserted. Breakpoints that
// debuggers set for themselves, to learn of new symbols or libraries, are accepted
// and take nothing.
//
// The session must not be made with Options.Locked. While there is a server the
// program calls functions and removes images through it alone.
//
// A client can do all that the program can, and the protocol has no authentication:
// package socket's listeners admit only clients of the program's own user.
package rsp
