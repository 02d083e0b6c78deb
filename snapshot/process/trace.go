// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls here are raw, because they do not block, and the Go scheduler must
// not take the thread's processor away while a target stands still.

func ptrace(request, tid int, addr, data uintptr) unix.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	return errno
}

// include/uapi/linux/elf.h: the general registers, those of floating point, and arm64's
// thread pointer.
const (
	ntPRStatus = 1
	ntPRFPReg  = 2
	ntARMTLS   = 0x401
)

// registerSet reads a register set of a stopped thread and returns its size.
func registerSet(tid, set int, buffer []byte) (int, unix.Errno) {
	v := unix.Iovec{Base: &buffer[0]}
	v.SetLen(len(buffer))
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(tid), uintptr(set), uintptr(unsafe.Pointer(&v)), 0, 0)
	runtime.KeepAlive(buffer)
	return int(v.Len), errno
}

// waitInfo is the layout of siginfo_t for waitid(2). The union after the first three words
// has the alignment of a pointer.
type waitInfo struct {
	Signal, Errno, Code int32
	_                   [unsafe.Sizeof(uintptr(0)) / 8]int32
	PID                 int32
	UID                 uint32
	Status              int32
	_                   [104]byte
}

// si_code of SIGCHLD, include/uapi/asm-generic/siginfo.h.
const (
	childExited = 1 + iota
	childKilled
	childDumped
	childTrapped
	childStopped
)

func (w *waitInfo) exited() bool { return w.Code >= childExited && w.Code <= childDumped }

// stop returns the reason of a thread's stop.
func (w *waitInfo) stop() stop { return stop(w.Status) }

// stop is the status of a ptrace stop: a signal in the low byte, and above it the number of
// an event, or 0 for a signal-delivery-stop (ptrace(2), "Stopped states").
type stop int32

func (s stop) signal() syscall.Signal { return syscall.Signal(s & 0xff) }
func (s stop) event() int             { return int(s >> 8) }

// eventStop is the stop of PTRACE_INTERRUPT and of a new thread.
const eventStop = stop(unix.PTRACE_EVENT_STOP<<8 | int32(unix.SIGTRAP))

// delivery returns the signal that is about to be delivered in a
// signal-delivery-stop, 0 in every other stop.
func (s stop) delivery() syscall.Signal {
	if s.event() == 0 {
		return s.signal()
	}
	return 0
}

// peek sets info to the next event of a traced thread, without consuming it and without
// waiting; info.PID is 0 if there is none. If a signal-delivery-stop were consumed and this
// process killed before it detaches, the signal would be lost: the kernel clears the status
// that it has reported (wait_task_stopped, WNOWAIT).
func peek(tid int, info *waitInfo) unix.Errno {
	*info = waitInfo{}
	const options = unix.WSTOPPED | unix.WEXITED | unix.WNOHANG | unix.WNOWAIT | unix.WALL | unix.WNOTHREAD
	_, _, errno := unix.RawSyscall6(unix.SYS_WAITID, unix.P_PID, uintptr(tid), uintptr(unsafe.Pointer(info)), options, 0, 0)
	return errno
}

// reap consumes the end of a traced thread. It must not be the first thread of its process,
// because the end of the process belongs to its parent.
func reap(tid int) {
	unix.RawSyscall6(unix.SYS_WAIT4, uintptr(tid), 0, unix.WNOHANG|unix.WALL|unix.WNOTHREAD, 0, 0, 0)
}

// pause lets other threads run for a while, which grows with the number of attempts.
func pause(attempt int) {
	if attempt < 64 {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		return
	}
	t := unix.Timespec{Nsec: 50_000}
	if attempt > 256 {
		t.Nsec = 500_000
	}
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}

// hurry gives this thread the highest ordinary priority, if permitted, until restore is
// called: on a busy machine the target stands still while this thread waits for a processor.
// If the priority cannot be restored, *unclean is set so that the thread ends.
func hurry(unclean *bool) (restore func()) {
	before, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil || unix.Setpriority(unix.PRIO_PROCESS, 0, -20) != nil {
		return func() {}
	}
	return func() {
		// The system call, unlike the C library's, returns 20 - nice.
		if unix.Setpriority(unix.PRIO_PROCESS, 0, 20-before) != nil {
			*unclean = true
		}
	}
}

// onTracerThread calls f on an OS thread, which becomes the tracer of the threads that f
// attaches to. If f returns false, the thread ends. The kernel then releases all threads that
// it still traces (exit_ptrace), also those that are not stopped and cannot be detached.
func onTracerThread(f func() (clean bool)) { <-startTracerThread(f) }

// startTracerThread is onTracerThread for a caller that continues meanwhile. The channel is
// closed when f has returned.
func startTracerThread(f func() (clean bool)) (returned <-chan struct{}) {
	done := make(chan struct{})
	go tracerThread(f, done)
	return done
}

func tracerThread(f func() bool, done chan<- struct{}) {
	runtime.LockOSThread()
	// The process's first thread must not end, and a thread with children would receive
	// their events. While this goroutine is locked to it, the scheduler takes another one.
	if unix.Gettid() == unix.Getpid() || readLine("/proc/thread-self/children") != "" {
		onTracerThread(f)
		runtime.UnlockOSThread()
		close(done)
		return
	}
	defer close(done)
	if f() {
		runtime.UnlockOSThread()
	}
}
