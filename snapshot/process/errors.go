// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Kinds of failure, for errors.Is.
var (
	ErrNoProcess    = errors.New("no such process")
	ErrNoThread     = errors.New("no such thread")
	ErrPermission   = errors.New("permission denied")
	ErrTraced       = errors.New("already traced")
	ErrKernelThread = errors.New("kernel thread")
	ErrSelf         = errors.New("is this process itself")
	ErrNoProcfs     = errors.New("procfs is not mounted at /proc")
)

// Error says why a process cannot be examined, and what to do about it.
type Error struct {
	PID    int
	Kind   error  // one of the Err variables of this package
	Reason string // what was found; "" if Kind says it all
	Advice string // what to do next; may be ""
	Err    error  // the kernel's error, or nil
}

func (e *Error) Error() string {
	s := fmt.Sprintf("process %d: %v", e.PID, e.Kind)
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// Unwrap returns Kind and Err.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// check returns an error for a process that obviously cannot be examined, before an attempt.
func check(pid int) error {
	if pid <= 0 {
		return &Error{PID: pid, Kind: ErrNoProcess}
	}
	s, err := readStatus(pid)
	if err != nil {
		return noProcess(pid, err)
	}
	switch {
	case s.TGID == os.Getpid():
		return &Error{PID: pid, Kind: ErrSelf, Reason: "a process cannot stop and examine itself",
			Advice: "use runtime.Stack, or another process"}
	case s.Kernel:
		return &Error{PID: pid, Kind: ErrKernelThread, Reason: fmt.Sprintf("[%s] has no user-space stack", s.Name),
			Advice: fmt.Sprintf("its kernel stack is in /proc/%d/stack", pid)}
	case s.TGID != pid:
		return &Error{PID: pid, Kind: ErrNoProcess, Reason: fmt.Sprintf("it is a thread of process %d", s.TGID),
			Advice: fmt.Sprintf("ask for process %d, thread %d", s.TGID, pid)}
	case (s.State == 'Z' || s.State == 'X') && liveThread(pid) == 0:
		return exited(pid)
	case s.TracerPID != 0:
		return traced(pid, s.TracerPID, nil)
	}
	return nil
}

// noProcess returns an *Error for a failure that means that the process does not exist. If its
// first thread is a zombie, its other threads ended after check had counted them.
func noProcess(pid int, err error) error {
	e := &Error{PID: pid, Kind: ErrNoProcess, Err: err}
	switch s := threadState(pid, pid); {
	case s == 'Z' || s == 'X':
		e.Reason = "it has exited"
	case s != 0:
	case !isProcfs("/proc"):
		e.Kind, e.Advice = ErrNoProcfs, "mount it (mount -t proc proc /proc): processes are read there"
	case unix.Kill(pid, 0) != unix.ESRCH && threadState(pid, pid) == 0:
		e.Kind, e.Reason = ErrPermission, "it exists, but /proc does not show it"
		e.Advice = "/proc is mounted with hidepid, or for another PID namespace: see findmnt /proc"
	}
	return e
}

func isProcfs(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Type == unix.PROC_SUPER_MAGIC
}

func exited(pid int) error {
	return &Error{PID: pid, Kind: ErrNoProcess, Reason: "it has exited"}
}

// traced returns the error for a process with a tracer, which is a thread ID.
func traced(pid, tracer int, err error) error {
	if s, err := readStatus(tracer); err == nil {
		tracer = s.TGID
	}
	name := readLine("/proc/" + strconv.Itoa(tracer) + "/comm")
	return &Error{PID: pid, Kind: ErrTraced, Err: err,
		Reason: fmt.Sprintf("process %d (%s) traces it, and there can be only one tracer", tracer, name),
		Advice: "detach that tracer first"}
}

// explainOpen returns an *Error for a failure to open a file under /proc/PID, or the failure
// itself if it says nothing about the process.
func explainOpen(pid int, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
		return noProcess(pid, err)
	case errors.Is(err, fs.ErrPermission):
		return denied(pid, err)
	}
	return err
}

// explainSeize returns the error for a failed PTRACE_SEIZE of a thread.
func explainSeize(pid, tid int, errno unix.Errno) error {
	if errno != unix.EPERM {
		return fmt.Errorf("process %d: PTRACE_SEIZE of thread %d: %w", pid, tid, errno)
	}
	if s, err := readStatus(tid); err == nil && s.TracerPID != 0 {
		return traced(pid, s.TracerPID, errno)
	}
	return denied(pid, errno)
}

// denied returns an *Error that names the rule of ptrace(2), "Ptrace access mode checking",
// that denies access.
func denied(pid int, err error) error {
	e := &Error{PID: pid, Kind: ErrPermission, Err: err}
	self, err1 := readStatus(os.Getpid())
	target, err2 := readStatus(pid)
	if err1 != nil || err2 != nil {
		return e
	}
	a := access{self: self, target: target, dumpable: true, scope: -1, outside: isOutside(pid), filtered: isFiltered()}
	var st unix.Stat_t
	// The kernel gives the files of a process that is not dumpable to root
	// (task_dump_owner).
	if unix.Stat("/proc/"+strconv.Itoa(pid)+"/maps", &st) == nil {
		a.dumpable = st.Uid == target.UID[1]
	}
	if v, err := strconv.Atoi(readLine("/proc/sys/kernel/yama/ptrace_scope")); err == nil {
		a.scope = v
	}
	e.Reason, e.Advice = a.explain()
	return e
}

// access has the facts that decide on ptrace access to a process.
type access struct {
	self, target *status
	dumpable     bool // root's processes always seem to be
	scope        int  // kernel.yama.ptrace_scope, -1 without Yama
	outside      bool // this process is in a user namespace, and the target seems to be in another
	filtered     bool // a seccomp filter denies ptrace
}

// isOutside reports whether this process is in a user namespace other than the initial one,
// and a process is not in the same one or cannot be checked.
func isOutside(pid int) bool {
	users, err := os.ReadFile("/proc/self/uid_map")
	if err != nil || strings.Join(strings.Fields(string(users)), " ") == "0 0 4294967295" {
		return false
	}
	own, err1 := os.Readlink("/proc/self/ns/user")
	other, err2 := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/user")
	return err1 != nil || err2 != nil || own != other
}

// isFiltered reports whether a seccomp filter denies ptrace. The ID is above the highest
// pid_max (1<<22), so the kernel itself returns ESRCH.
func isFiltered() bool {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, 1<<30, 0, 0, 0, 0)
	return filters(errno)
}

// filters reports whether ptrace's error for a process that does not exist is that of a
// seccomp filter: EPERM from container engines, ENOSYS from systemd and gVisor, EACCES from
// others.
func filters(errno unix.Errno) bool {
	return errno == unix.EPERM || errno == unix.ENOSYS || errno == unix.EACCES
}

const capSysPtrace = 19 // include/uapi/linux/capability.h

// explain returns the first rule that denies access, in the kernel's order
// (__ptrace_may_access, then the security modules), and a way around it.
func (a *access) explain() (reason, advice string) {
	asRoot := "run clew as root or with CAP_SYS_PTRACE"
	capable := hasBit(a.self.Effective, capSysPtrace)
	// The file system user of the calling process decides.
	uid := a.self.UID[3]
	if uid == 0 {
		asRoot = "give clew the capability CAP_SYS_PTRACE, which this root lacks (in a container: --cap-add=SYS_PTRACE)"
	}
	same := a.target.UID[0] == uid && a.target.UID[1] == uid && a.target.UID[2] == uid
	switch {
	case a.filtered:
		return "a seccomp filter denies ptrace to clew", "allow ptrace in the filter (in a container: --cap-add=SYS_PTRACE, or a seccomp profile with ptrace)"
	case a.scope == 3:
		return "kernel.yama.ptrace_scope is 3: no process may trace another", "only a reboot with another setting changes that"
	case a.scope == 2 && !capable:
		return "kernel.yama.ptrace_scope is 2: only CAP_SYS_PTRACE may trace", asRoot
	case a.outside && (capable || same):
		return "clew runs in a user namespace, and the process outside it", "run clew outside the namespace"
	case capable:
		return "CAP_SYS_PTRACE does not suffice", "the process may be in another user namespace, or a security module or seccomp filter denies it: see the kernel's log"
	case !same && uid == 0:
		return fmt.Sprintf("it runs as user %d, and clew as root without CAP_SYS_PTRACE", a.target.UID[1]), asRoot
	case !same:
		return fmt.Sprintf("it runs as user %d, clew as user %d", a.target.UID[1], uid),
			fmt.Sprintf("run clew as user %d or as root", a.target.UID[1])
	case !a.dumpable:
		return "the process is not dumpable (prctl PR_SET_DUMPABLE, or it changed its user or has file capabilities)", asRoot
	case a.target.Permitted&^a.self.Permitted != 0:
		return fmt.Sprintf("it has capabilities that clew lacks (%#x)", a.target.Permitted&^a.self.Permitted), asRoot
	case a.scope == 1:
		return "kernel.yama.ptrace_scope is 1: only its ancestors may trace a process",
			asRoot + ", start the program with clew stack -- COMMAND, or set kernel.yama.ptrace_scope to 0"
	}
	return "a security module denies it", "see the kernel's log, or in a container add the capability SYS_PTRACE"
}
