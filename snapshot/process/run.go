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

// Run starts cmd, and returns when the command has ended. It calls on with a snapshot each time
// the command is about to die of a signal for a fault or an abort, and each time it gets
// SIGQUIT (Ctrl-\). The error is the error of cmd.Wait, or says why the command could not be
// started or traced, or why a snapshot failed. cmd.ProcessState has the exit status, and
// errors.As finds an *exec.ExitError.
//
// A crash is a signal whose default action is to dump core (SIGSEGV, SIGABRT,
// SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGXCPU, SIGXFSZ) and that the
// command does not handle. Run calls on while the command stands still, before
// it delivers the signal, so its whole memory is readable. Then the command dies
// of the signal as usual, core included. Signals that the command handles are
// passed on.
//
// SIGQUIT is a request for stacks. The command continues after the snapshot. It
// gets the signal too if it has a handler (Go programs, the JVM), and is not
// killed by it without one. Run calls on while the command runs again, on
// another goroutine, one call at a time. A SIGQUIT during a call takes no
// snapshot.
//
// Run traces only the command itself, through its execs, with all its threads, and not
// the processes that it starts. Only signals and starting a thread cost it time. While Run
// runs, SIGINT, SIGQUIT, SIGTERM and SIGHUP do not end this program: a terminal sends them
// to the command too, and Run passes on those that were sent only to this process. Job
// control (Ctrl-Z, fg, bg) works. If this program is killed, the command continues. As
// under any tracer, a set-user-ID command does not gain privileges (execve(2)).
//
// Run uses an OS thread of its own. No other goroutine may call cmd.Wait or wait for all
// children (wait4(-1)), because it would receive the stops.
func Run(cmd *exec.Cmd, on func(*snapshot.Snapshot, Reason)) error {
	var err error
	onTracerThread(func() bool {
		err = run(cmd, on)
		return false // the end of the thread detaches from all threads
	})
	return err
}

// runner follows a command. It runs on the tracer thread.
type runner struct {
	pid     int
	on      func(*snapshot.Snapshot, Reason)
	signals forwarder
	asking  chan struct{} // holds a token while on runs for a SIGQUIT
	err     error         // of the first snapshot that failed
	exiting func()        // called when the first thread ends; nil if that is of no interest
}

func run(cmd *exec.Cmd, on func(*snapshot.Snapshot, Reason)) error {
	r := &runner{on: on, asking: make(chan struct{}, 1)}
	r.signals.catch()
	defer r.signals.release()
	if err := r.start(cmd); err != nil {
		return err
	}
	return r.finish(cmd)
}

// finish follows the started command to its end.
func (r *runner) finish(cmd *exec.Cmd) error {
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
// PTRACE_TRACEME is the only way to stop a process at its exec without another program in
// between, but such a thread cannot be interrupted or left stopped (PTRACE_INTERRUPT and
// PTRACE_LISTEN need PTRACE_SEIZE). So start detaches from it with SIGSTOP, seizes it while
// it is stopped, and continues it. If this program is killed in between, the death signal
// SIGCONT continues the command.
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
	options := uintptr(runOptions)
	if r.exiting != nil {
		options |= unix.PTRACE_O_TRACEEXIT
	}
	errno := ptrace(unix.PTRACE_SEIZE, r.pid, 0, options)
	unix.Kill(r.pid, unix.SIGCONT)
	if errno == 0 {
		return nil
	}
	if s := threadState(r.pid, r.pid); s == 'Z' || s == 'X' {
		return nil
	}
	// It runs but cannot be traced.
	err := explainSeize(r.pid, r.pid, errno)
	return errors.Join(err, cmd.Wait())
}

// follow handles the command's stops until it has ended, and leaves its exit
// status for cmd.Wait.
func (r *runner) follow() {
	for {
		// The command is the only child of this thread, and only its threads are traced.
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

// wait waits for a stop or an end without consuming it (see peek). It returns false if there
// is nothing to wait for.
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

// handle continues a stopped thread in the way that its stop requires.
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
	case unix.PTRACE_EVENT_EXIT:
		if tid == r.pid {
			r.exiting()
		}
		ptrace(unix.PTRACE_CONT, tid, 0, 0)
	default: // a thread was started, or the program replaced
		ptrace(unix.PTRACE_CONT, tid, 0, 0)
	}
}

// begin continues a new or interrupted thread. The kernel also attaches to a process that was
// started by clone with an exit signal other than SIGCHLD; begin detaches from it.
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
		r.signals.seen[signal].Store(time.Now().UnixNano())
	}
	switch {
	case r.on == nil:
	case signal == unix.SIGQUIT:
		s, err := readStatus(r.pid)
		r.asked(tid, signal)
		if err == nil && s.hasDefaultAction(signal) {
			return 0
		}
	case dumpsCore(signal):
		if s, err := readStatus(r.pid); err == nil && s.hasDefaultAction(signal) {
			if c, snap := r.capture(); snap != nil {
				c.finish(snap)
				c.tasks.close()
				snap.Live = false
				line, _ := os.ReadFile("/proc/" + strconv.Itoa(r.pid) + "/cmdline")
				snap.Command = strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
				r.on(snap, r.reason(tid, signal, true))
				// follow continues the threads that capture interrupted.
			}
		}
	}
	return signal
}

// passedOn reports whether this program sent the signal of a stopped thread.
func (r *runner) passedOn(tid int) bool {
	var info faultInfo
	if ptrace(unix.PTRACE_GETSIGINFO, tid, 0, uintptr(unsafe.Pointer(&info))) != 0 || info.Code != 0 { // SI_USER
		return false
	}
	sender := *(*int32)(unsafe.Pointer(&info.Address)) // si_pid is where si_addr is
	return int(sender) == os.Getpid()
}

// dumpsCore reports whether a signal's default action is to dump core (signal(7)), except for
// SIGQUIT.
func dumpsCore(signal syscall.Signal) bool {
	switch signal {
	case unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV,
		unix.SIGXCPU, unix.SIGXFSZ, unix.SIGSYS:
		return true
	}
	return false
}

// asked takes a snapshot for a SIGQUIT, unless the call for an earlier one still runs.
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
		// follow handles all other stops.
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

// capture stops the other threads of the command too, and copies their registers and stacks.
// It does not release them, and leaves the task directory open.
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

// reason describes the signal of a stopped thread.
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

// faultInfo is the layout of siginfo_t for a fault.
type faultInfo struct {
	Signal, Errno, Code int32
	_                   [unsafe.Sizeof(uintptr(0)) / 8]int32
	Address             uintptr
	_                   [104]byte
}
