// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package process takes snapshots of live Linux processes: the registers and
// stacks of all threads at the same time, the mappings, and a reader of the rest
// of the memory. It also runs a command and takes its snapshot when it crashes.
//
// # Never harm the target
//
// The target is attached to by PTRACE_SEIZE, which sends it no signal, stopped
// by PTRACE_INTERRUPT, and detached from when the registers and stacks are
// copied. The target runs again before the caller uses the snapshot.
// Nothing is ever written to the target: no register, no byte of memory. A
// signal that arrives meanwhile is delivered once, and a target that was
// stopped (by SIGSTOP or Ctrl-Z) stays stopped. Should this process be killed
// at any moment, SIGKILL included, the kernel detaches and the target runs on;
// PTRACE_O_EXITKILL is never set, and a signal that a thread is stopped for is
// looked at without being consumed, so that it is not lost then either.
//
// A target can notice a snapshot as it can notice SIGSTOP and SIGCONT, or
// strace -p (signal(7), "Interruption of system calls and library functions by
// stop signals"): the kernel restarts an interrupted system call, except that
// epoll_wait, semop, sigtimedwait and socket calls with a timeout set return
// EINTR; so do some more on old kernels.
//
// One limit: where a stack's pages are provided by another thread of the same
// target (userfaultfd), its copy waits for a thread that stands still, until
// this process is killed.
//
// # Not in this package
//
// The package does not unwind, name or print frames.
package process
