// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package process takes snapshots of live Linux processes: the registers and
// stacks of all threads at the same time, the mappings, and a reader of the rest
// of the memory. It also runs a command and takes its snapshot when it crashes.
//
// # Never harm the target
//
// The package attaches by PTRACE_SEIZE, which sends no signal, stops threads by
// PTRACE_INTERRUPT, and detaches once the registers and stacks are copied. The target
// runs again before the caller uses the snapshot. Nothing is ever written to the target:
// no register, no byte of memory. A signal that arrives meanwhile is delivered once, and a
// target that was stopped (by SIGSTOP or Ctrl-Z) stays stopped. If this process is killed at
// any time, even by SIGKILL, the kernel detaches and the target continues:
// PTRACE_O_EXITKILL is never set, and the signal of a stopped thread is read without
// consuming it, so it is not lost.
//
// A target can notice a snapshot in the same way as SIGSTOP and SIGCONT, or strace -p
// (signal(7), "Interruption of system calls and library functions by stop signals"). The kernel
// restarts most interrupted system calls. But epoll_wait, semop, sigtimedwait and socket calls
// with a timeout return EINTR, and on old kernels some others do too.
//
// One limit: if another thread of the target provides the pages of a stack (userfaultfd),
// copying the stack blocks until this process is killed, because that thread stands still.
//
// # Not in this package
//
// The package does not unwind, name or print frames.
package process
