// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package worker

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Worker is one worker. All methods except Interrupt and Kill must be called on the thread that
// called Start, which must be locked (runtime.LockOSThread).
type Worker struct {
	// Pass is called on machines where a debug register matches before the access. Normally the
	// worker then executes one instruction before Wait reports the match. If Pass returns true, the
	// worker gets the registers that Pass has changed, and runs to a trap instruction instead. This
	// is for code in which a step would change the result.
	Pass func(*General) bool

	pid     int
	pidfd   int
	memory  memory
	signals sync.Mutex // guards pidfd and gone
	gone    bool       // reaped
	place   placement
	watchState
	request int // ptrace request of the last resume
}

// memory is the memory of a worker: guard, stack, guard, thread-local storage.
type memory struct {
	base          unsafe.Pointer
	size          uintptr
	low, high     uint64 // the stack
	threadPointer uint64
}

const guardSize = 1 << 20 // larger than most frames, so that few skip it; it uses no memory

func newMemory(stack int) (m memory, err error) {
	page := os.Getpagesize()
	round := func(n int) uintptr { return uintptr((n + page - 1) &^ (page - 1)) }
	size := round(stack)
	tls := round(TLSBelow + TLSAbove + page)
	m.size = guardSize + size + guardSize + tls
	m.base, err = unix.MmapPtr(-1, 0, nil, m.size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err == nil {
		base := uintptr(m.base)
		m.low, m.high = uint64(base+guardSize), uint64(base+guardSize+size)
		m.threadPointer = m.high + guardSize + TLSBelow
		err = errors.Join(unprotect(base+guardSize, size), unprotect(base+guardSize+size+guardSize, tls))
	}
	if err != nil {
		m.close()
		return m, fmt.Errorf("memory for a stack of %d bytes: %w", stack, err)
	}
	return m, nil
}

func unprotect(address, size uintptr) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_MPROTECT, address, size, unix.PROT_READ|unix.PROT_WRITE); errno != 0 {
		return errno
	}
	return nil
}

func (m *memory) close() error {
	if m.base == nil {
		return nil
	}
	err := unix.MunmapPtr(m.base, m.size)
	m.base = nil
	return err
}

// cloneArgs is struct clone_args of linux/sched.h, its first version.
type cloneArgs struct {
	flags, pidfd          uint64
	_                     [3]uint64 // child_tid, parent_tid, exit_signal
	stack, stackSize, tls uint64
}

// Flags of clone (linux/sched.h).
const (
	cloneFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SYSVSEM | unix.CLONE_SETTLS | unix.CLONE_UNTRACED | unix.CLONE_PIDFD
	// clone3 only. Otherwise this program's signal handlers would run in the worker.
	cloneClearSighand = 0x100000000
)

// Start starts a worker and leaves it stopped. The calling goroutine must be locked to its thread,
// and the thread must live as long as the worker: the system kills the worker when the thread ends.
func Start(o Options) (*Worker, error) {
	w := &Worker{pidfd: -1}
	w.place.init()
	var err error
	if w.memory, err = newMemory(o.StackSize); err != nil {
		return nil, err
	}
	if err := w.start(); err != nil {
		return nil, errors.Join(err, w.memory.close())
	}
	return w, nil
}

func (w *Worker) start() error {
	initThread(&w.memory)
	pid, fd, err := w.clone()
	if err != nil {
		return &PermissionError{Call: "clone", Err: err}
	}
	w.pid, w.pidfd = pid, fd
	if err := w.trace(); err != nil {
		w.Kill()
		w.reap()
		return err
	}
	return nil
}

func (w *Worker) clone() (pid, pidfd int, err error) {
	fd := new(int32)
	*fd = -1
	args := &cloneArgs{
		flags: cloneFlags | cloneClearSighand, pidfd: uint64(uintptr(unsafe.Pointer(fd))),
		stack: w.memory.low, stackSize: w.memory.high - w.memory.low, tls: w.memory.threadPointer,
	}
	// The worker inherits the mask, so that no signal to this program's process group runs a
	// handler of Go's runtime in it.
	var all, old [8]byte
	for i := range all {
		all[i] = 0xff
	}
	setMask(&all, &old)
	parent := uintptr(os.Getpid())
	n, errno := clone(unix.SYS_CLONE3, uintptr(unsafe.Pointer(args)), unsafe.Sizeof(*args), 0, 0, 0, parent)
	switch errno {
	case unix.ENOSYS, unix.EPERM, unix.EINVAL:
		// Seccomp filters cannot check the arguments of clone3 and refuse it, and kernels before
		// 5.5 do not support CLEAR_SIGHAND.
		a4, a5 := uintptr(0), uintptr(w.memory.threadPointer) // child_tid and tls
		if tlsBeforeChild {
			a4, a5 = a5, a4
		}
		n, errno = clone(unix.SYS_CLONE, cloneFlags, uintptr(w.memory.high), uintptr(unsafe.Pointer(fd)), a4, a5, parent)
	}
	setMask(&old, nil)
	runtime.KeepAlive(fd)
	runtime.KeepAlive(args)
	if errno != 0 {
		return 0, -1, errno
	}
	return int(n), int(*fd), nil
}

func setMask(set, old *[8]byte) {
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
}

// clone calls clone or clone3. It is in assembly because the worker leaves it on its own stack, where no
// Go code may run. The worker asks the kernel to kill it with its parent, checks that the parent is
// still the same, and pauses.
func clone(number, a1, a2, a3, a4, a5, parent uintptr) (pid uintptr, errno unix.Errno)

// exitThread ends a thread or process that the worker's code has created.
func exitThread()

const traceOptions = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC

// trace seizes the worker and stops it.
func (w *Worker) trace() error {
	if err := w.ptrace(unix.PTRACE_SEIZE, 0, traceOptions); err != nil {
		return &PermissionError{Call: "ptrace", Err: err}
	}
	if err := w.ptrace(unix.PTRACE_INTERRUPT, 0, 0); err != nil {
		return fmt.Errorf("stopping the worker: %w", err)
	}
	status, err := w.wait()
	if err != nil {
		return err
	}
	if !status.Stopped() {
		return fmt.Errorf("starting the worker: %w", ErrGone)
	}
	return nil
}

// PID returns the worker's process ID.
func (w *Worker) PID() int { return w.pid }

// Stack returns the address range of the worker's stack.
func (w *Worker) Stack() (low, high uint64) { return w.memory.low, w.memory.high }

// ThreadPointer returns the worker's thread pointer. The worker owns TLSBelow bytes below and
// TLSAbove bytes above it.
func (w *Worker) ThreadPointer() uint64 { return w.memory.threadPointer }

func (w *Worker) ptrace(request int, address, data uintptr) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(w.pid), address, data, 0, 0)
	return ptraceError(errno)
}

// ptracePointer converts data to an integer only in the arguments of the system call, because a
// growing stack moves the data.
func (w *Worker) ptracePointer(request int, address uintptr, data unsafe.Pointer) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(w.pid), address, uintptr(data), 0, 0)
	return ptraceError(errno)
}

func ptraceError(errno unix.Errno) error {
	switch errno {
	case 0:
		return nil
	case unix.ESRCH:
		return ErrGone // killed from outside; Wait reports that
	}
	return errno
}

// restart resumes the worker with w.request. All resumes end here.
func (w *Worker) restart() error {
	w.follow()
	return w.ptrace(w.request, 0, 0)
}

// Interrupt stops a running worker: Wait then returns a SIGSTOP. It may be called from any goroutine.
func (w *Worker) Interrupt() error { return w.signal(unix.SIGSTOP) }

// Kill ends the worker: Wait then returns Killed. It may be called from any goroutine.
func (w *Worker) Kill() error { return w.signal(unix.SIGKILL) }

func (w *Worker) signal(number unix.Signal) error {
	w.signals.Lock()
	defer w.signals.Unlock()
	if w.gone {
		return ErrGone
	}
	if w.pidfd >= 0 {
		err := unix.PidfdSendSignal(w.pidfd, number, nil, 0)
		if err == nil || err == unix.ESRCH {
			return err
		}
	}
	return unix.Kill(w.pid, number) // not reaped yet, so no other process can have the ID
}

func (w *Worker) wait() (status unix.WaitStatus, err error) {
	if w.waitBriefly(&status) {
		return status, nil
	}
	err = unix.EINTR
	for err == unix.EINTR {
		_, err = unix.Wait4(w.pid, &status, unix.WALL, nil)
	}
	if err != nil {
		return 0, fmt.Errorf("waiting for the worker: %w", err)
	}
	return status, nil
}

// reaped records that the process is gone. Another process may have its ID now.
func (w *Worker) reaped() {
	w.signals.Lock()
	defer w.signals.Unlock()
	w.gone = true
	if w.pidfd >= 0 {
		unix.Close(w.pidfd)
		w.pidfd = -1
	}
}

// reap waits for the end of a killed worker.
func (w *Worker) reap() {
	for {
		status, err := w.wait()
		if err != nil || status.Exited() || status.Signaled() {
			w.reaped()
			return
		}
	}
}

// Wait waits until the worker stops or ends.
func (w *Worker) Wait() (Event, error) {
	for {
		status, err := w.wait()
		if err != nil {
			return Event{}, err
		}
		switch {
		case status.Exited():
			w.reaped()
			return Event{Kind: Exited, Code: status.ExitStatus()}, nil
		case status.Signaled():
			w.reaped()
			return Event{Kind: Killed, Signal: int(status.Signal())}, nil
		}
		switch cause := int(status) >> 16; cause {
		case 0:
			e, err := w.stopEvent(status)
			if err != nil {
				return e, err
			}
			absorbed, err := w.absorb(&e)
			if errors.Is(err, ErrGone) {
				continue // the next wait returns its end
			}
			if err != nil || !absorbed {
				return e, err
			}
			continue
		case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE:
			w.endChild()
		case unix.PTRACE_EVENT_EXEC:
			w.Kill()
			w.reap()
			return Event{Kind: Replaced}, nil
		}
		// PTRACE_EVENT_STOP: a stop of the whole process group.
		if err := w.restart(); err != nil && err != ErrGone {
			return Event{}, fmt.Errorf("resuming the worker: %w", err)
		}
	}
}

// siginfo is the beginning of the kernel's siginfo_t on 64-bit machines.
type siginfo struct {
	signo, errno, code, _ int32
	field                 uint64 // si_addr, or si_pid and si_uid
	_                     [104]byte
}

func (w *Worker) stopEvent(status unix.WaitStatus) (Event, error) {
	e := Event{Kind: Stopped, Signal: int(status.StopSignal())}
	var info siginfo
	if err := w.ptracePointer(unix.PTRACE_GETSIGINFO, 0, unsafe.Pointer(&info)); err != nil {
		if err == ErrGone {
			return e, nil // the next Wait reports that
		}
		return e, fmt.Errorf("reading the worker's signal: %w", err)
	}
	e.Code = int(info.code)
	if info.code > 0 { // from the kernel: sigaction(2)
		e.Addr = info.field
	} else {
		e.PID = int(int32(info.field))
	}
	return e, nil
}

// endChild ends the thread or process that the worker has just created, before that runs anything.
// The worker's code sees it exit with code 0.
func (w *Worker) endChild() {
	var id uint64
	if w.ptracePointer(unix.PTRACE_GETEVENTMSG, 0, unsafe.Pointer(&id)) != nil {
		return
	}
	child := &Worker{pid: int(id), pidfd: -1, place: placement{here: -1}}
	for {
		status, err := child.wait()
		if err != nil || !status.Stopped() {
			return
		}
		// The child must exit by itself: a signal that ends a thread also ends the worker.
		var r General
		if child.Registers(&r) == nil {
			r.Enter(functionAddress(exitThread))
			child.SetRegisters(&r)
		}
		child.Continue()
	}
}

// functionAddress returns the address of an assembly function's code.
func functionAddress(f func()) uint64 { return uint64(**(**uintptr)(unsafe.Pointer(&f))) }

// Close kills the worker, waits for its end, and frees its memory.
func (w *Worker) Close() error {
	w.signals.Lock()
	gone := w.gone
	w.signals.Unlock()
	if !gone {
		w.Kill()
		w.reap()
	}
	return w.memory.close()
}
