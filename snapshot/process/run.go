// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/sigchld"
	"github.com/clewdev/clew/snapshot"
)

// Reason says why Run took a snapshot.
type Reason struct {
	Thread  int            // the thread that the signal is for
	Signal  syscall.Signal // about to be delivered
	Code    int32          // si_code of the signal, sigaction(2)
	Address uint64         // si_addr: of SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGTRAP that the processor raised
	Crash   bool           // the signal ends the command; false for a request by SIGQUIT
}

func (r Reason) String() string {
	if !r.Crash {
		return "asked by " + unix.SignalName(r.Signal)
	}
	s := fmt.Sprintf("thread %d dies of %s", r.Thread, unix.SignalName(r.Signal))
	if r.faulted() {
		s += fmt.Sprintf(" at address %#x", r.Address)
	}
	return s
}

const siKernel = 0x80 // include/uapi/asm-generic/siginfo.h

// faulted reports whether Address has a meaning: a positive code below
// SI_KERNEL is that of a fault.
func (r Reason) faulted() bool {
	switch r.Signal {
	case unix.SIGSEGV, unix.SIGBUS, unix.SIGILL, unix.SIGFPE, unix.SIGTRAP:
		return r.Code > 0 && r.Code < siKernel
	}
	return false
}

// Run starts cmd, and returns when the command has ended. It calls on with a
// snapshot each time the command is about to die of a signal for a fault or an
// abort, and each time it gets SIGQUIT (Ctrl-\). The error is that of cmd.Wait,
// and cmd.ProcessState has the exit status; or the error says why the command
// could not be started or traced, or why a snapshot failed. errors.As finds an
// *exec.ExitError in it.
//
// A crash is a signal whose default action is to dump core (SIGSEGV, SIGABRT,
// SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGXCPU, SIGXFSZ) and that the
// command does not handle. Run calls on while the command stands still, before
// it delivers the signal, so its whole memory is readable. Then the command dies
// of the signal as usual, core included. Signals that the command handles are
// passed on.
//
// SIGQUIT is a request for stacks. The command goes on after the snapshot. It
// gets the signal too if it has a handler (Go programs, the JVM), and is not
// killed by it without one. Run calls on while the command runs again, on
// another goroutine, one call at a time. A SIGQUIT during a call takes no
// snapshot.
//
// Only the command itself is traced, through its execs, with all its threads;
// processes that it starts are not. Only signals and starting a thread cost it
// time. While Run runs, SIGINT, SIGQUIT, SIGTERM and SIGHUP do not end this
// program: a terminal sends them to the command too, and one that was sent to
// this process only is passed on to it. Job control (Ctrl-Z, fg, bg) works. If
// this program is killed the command goes on. As under any tracer, a
// set-user-ID command does not gain privileges (execve(2)).
//
// Run keeps an OS thread for itself. No other goroutine may call cmd.Wait, nor
// any wait for all children (wait4(-1)): it would take the stops.
func Run(cmd *exec.Cmd, on func(*snapshot.Snapshot, Reason)) error {
	var err error
	onTracerThread(func() bool {
		err = run(cmd, on)
		// Whatever should still be attached is let go with the thread.
		return false
	})
	return err
}

// runner follows a command. It lives on the tracer thread.
type runner struct {
	pid     int
	on      func(*snapshot.Snapshot, Reason)
	signals forwarder
	asking  chan struct{} // holds a token while on runs for a SIGQUIT
	err     error         // why the first snapshot that failed could not be taken
}

func run(cmd *exec.Cmd, on func(*snapshot.Snapshot, Reason)) error {
	r := &runner{on: on, asking: make(chan struct{}, 1)}
	r.signals.catch()
	defer r.signals.release()
	if err := r.start(cmd); err != nil {
		return err
	}
	go r.signals.forward(cmd.Process)
	r.follow()
	err := cmd.Wait()
	r.asking <- struct{}{} // the last call of on is over
	return errors.Join(err, r.err)
}

// runOptions are the trace options of every thread: trace new threads, and report an exec. They
// omit PTRACE_O_EXITKILL, so that the command outlives this program.
const runOptions = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC

// start starts the command and attaches to it before its first instruction.
//
// PTRACE_TRACEME is the one way to hold a process at its exec without a
// program in between, but a thread traced so can't be interrupted or left
// stopped (PTRACE_INTERRUPT and PTRACE_LISTEN want PTRACE_SEIZE). So it is
// detached from with SIGSTOP, seized while it is stopped, and continued. Should
// this program be killed in between, the kernel continues it in its place: that
// is what the death signal is for.
func (r *runner) start(cmd *exec.Cmd) error {
	attributes := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attributes = *cmd.SysProcAttr
	}
	attributes.Ptrace = true
	if attributes.Pdeathsig == 0 {
		attributes.Pdeathsig = unix.SIGCONT
	}
	cmd.SysProcAttr = &attributes
	if err := cmd.Start(); err != nil {
		return err
	}
	r.pid = cmd.Process.Pid
	var info waitInfo
	if !r.wait(unix.P_PID, r.pid, &info) || info.exited() {
		return nil // killed at its exec
	}
	ptrace(unix.PTRACE_DETACH, r.pid, 0, uintptr(unix.SIGSTOP))
	if !r.wait(unix.P_PID, r.pid, &info) || info.exited() {
		return nil
	}
	errno := ptrace(unix.PTRACE_SEIZE, r.pid, 0, runOptions)
	unix.Kill(r.pid, unix.SIGCONT)
	if errno == 0 {
		return nil
	}
	if s := threadState(r.pid, r.pid); s == 'Z' || s == 'X' {
		return nil
	}
	// It runs, and is waited for, but can't be traced.
	err := explainSeize(r.pid, r.pid, errno)
	return errors.Join(err, cmd.Wait())
}

// follow handles the command's stops until it has ended, and leaves its exit
// status for cmd.Wait.
func (r *runner) follow() {
	for {
		// Waits for traced threads and children of this thread: the command
		// is all of them.
		var info waitInfo
		if !r.wait(unix.P_ALL, 0, &info) {
			return
		}
		switch tid := int(info.PID); {
		case !info.exited():
			r.handle(tid, info.stop())
		case tid == r.pid:
			return
		default:
			reap(tid)
		}
	}
}

// wait waits for a stop or an end without consuming it, see peek, and reports
// whether there was anything to wait for.
func (r *runner) wait(kind, id int, info *waitInfo) bool {
	for {
		*info = waitInfo{}
		const options = unix.WSTOPPED | unix.WEXITED | unix.WNOWAIT | unix.WALL | unix.WNOTHREAD
		_, _, errno := unix.Syscall6(unix.SYS_WAITID, uintptr(kind), uintptr(id), uintptr(unsafe.Pointer(info)), options, 0, 0)
		if errno != unix.EINTR {
			return errno == 0
		}
	}
}

// handle lets a stopped thread go on, as its stop asks for.
func (r *runner) handle(tid int, s stop) {
	switch s.event() {
	case 0:
		ptrace(unix.PTRACE_CONT, tid, 0, uintptr(r.deliver(tid, s.signal())))
	case unix.PTRACE_EVENT_STOP:
		switch s.signal() {
		case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
			// Its process is stopped and stays so until SIGCONT.
			ptrace(unix.PTRACE_LISTEN, tid, 0, 0)
		default:
			r.begin(tid)
		}
	default: // a thread was started, or the program replaced
		ptrace(unix.PTRACE_CONT, tid, 0, 0)
	}
}

// begin continues a new thread, or one that was interrupted. The kernel also
// attaches to a process that was made by clone with another exit signal than
// SIGCHLD; that one is let go.
func (r *runner) begin(tid int) {
	if _, err := os.Lstat("/proc/" + strconv.Itoa(r.pid) + "/task/" + strconv.Itoa(tid)); err != nil {
		ptrace(unix.PTRACE_DETACH, tid, 0, 0)
		return
	}
	ptrace(unix.PTRACE_CONT, tid, 0, 0)
}

// deliver handles a signal-delivery-stop and returns the signal to deliver.
func (r *runner) deliver(tid int, signal syscall.Signal) (pass syscall.Signal) {
	if slices.Contains(forwarded, os.Signal(signal)) && !r.passedOn(tid) {
		r.signals.seen.now(signal)
	}
	switch {
	case signal == unix.SIGQUIT:
		s, err := readStatus(r.pid)
		r.asked(tid, signal)
		if err == nil && !s.catches(signal) && !s.ignores(signal) {
			return 0
		}
	case dumpsCore(signal):
		if s, err := readStatus(r.pid); err == nil && !s.catches(signal) && !s.ignores(signal) {
			if c, snap := r.capture(); snap != nil {
				c.finish(snap)
				c.tasks.close()
				snap.Live = false
				line, _ := os.ReadFile("/proc/" + strconv.Itoa(r.pid) + "/cmdline")
				snap.Command = strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
				r.on(snap, r.reason(tid, signal, true))
				// Threads that were interrupted for it are still stopped,
				// and are continued as their stops are seen.
			}
		}
	}
	return signal
}

// passedOn reports whether the signal that a thread is stopped for comes from this
// program.
func (r *runner) passedOn(tid int) bool {
	var info faultInfo
	if ptrace(unix.PTRACE_GETSIGINFO, tid, 0, uintptr(unsafe.Pointer(&info))) != 0 || info.Code != 0 { // SI_USER
		return false
	}
	sender := *(*int32)(unsafe.Pointer(&info.Address)) // si_pid is where si_addr is
	return int(sender) == os.Getpid()
}

// dumpsCore reports whether a signal's default action is to dump core
// (signal(7)), SIGQUIT aside.
func dumpsCore(signal syscall.Signal) bool {
	switch signal {
	case unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV,
		unix.SIGXCPU, unix.SIGXFSZ, unix.SIGSYS:
		return true
	}
	return false
}

// asked takes a snapshot for a SIGQUIT, unless one is being looked at.
func (r *runner) asked(tid int, signal syscall.Signal) {
	select {
	case r.asking <- struct{}{}:
	default:
		return
	}
	c, snap := r.capture()
	if snap == nil {
		<-r.asking
		return
	}
	for i := range c.tracees {
		// The others' stops are left to follow, which knows what to do.
		if t := &c.tracees[i]; t.state == stopped && t.tid != tid && t.stop == eventStop {
			r.begin(t.tid)
		}
	}
	snap.Pause = time.Since(c.started)
	c.finish(snap)
	c.tasks.close()
	reason := r.reason(tid, signal, false)
	go func() {
		r.on(snap, reason)
		<-r.asking
	}()
}

// capture stops the other threads of the command too and copies what they
// hold. They are not released, nor is what lists them.
func (r *runner) capture() (*capture, *snapshot.Snapshot) {
	c, snap, err := prepare(r.pid, &Options{Vectors: true})
	if err != nil {
		if r.err == nil {
			r.err = fmt.Errorf("stacks of %d: %w", r.pid, err)
		}
		return nil, nil
	}
	c.traced = true
	if _, err := c.attach(); err != nil {
		c.tasks.close()
		return nil, nil
	}
	c.stacks.prepare(len(c.tracees))
	defer sigchld.Quiet()()
	c.stop()
	c.copy()
	snap.Pause = time.Since(c.started)
	return c, snap
}

// reason asks the kernel about a signal.
func (r *runner) reason(tid int, signal syscall.Signal, crash bool) Reason {
	var info faultInfo
	reason := Reason{Thread: tid, Signal: signal, Crash: crash}
	if ptrace(unix.PTRACE_GETSIGINFO, tid, 0, uintptr(unsafe.Pointer(&info))) == 0 {
		reason.Code = info.Code
		if reason.faulted() {
			reason.Address = uint64(info.Address)
		}
	}
	return reason
}

// faultInfo is siginfo_t as a fault fills it.
type faultInfo struct {
	Signal, Errno, Code int32
	_                   [unsafe.Sizeof(uintptr(0)) / 8]int32
	Address             uintptr
	_                   [104]byte
}
