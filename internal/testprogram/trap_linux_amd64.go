// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TrapCore ends the process while one of its threads loops, and returns the core that the
// kernel writes. The thread is one for whose next instruction at returns true. No handler of
// the program runs: the signal of the trap is blocked, and so the kernel ends the process.
func (p *Process) TrapCore(t testing.TB, at func(pc uint64) bool) string {
	t.Helper()
	where := corePattern(t)
	unlimited := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(p.PID, unix.RLIMIT_CORE, &unlimited, nil); err != nil {
		t.Fatalf("RLIMIT_CORE: %v", err)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.PID))
		if err != nil || len(tasks) == 0 || time.Now().After(end) {
			t.Fatalf("no thread of process %d was found in its loop (%v)", p.PID, err)
		}
		for _, task := range tasks {
			var tid int
			fmt.Sscan(filepath.Base(task), &tid)
			trapped, err := trap(tid, at)
			if err != nil {
				t.Fatalf("thread %d: %v", tid, err)
			}
			if trapped {
				<-p.exited
				return findCore(t, p.cmd, where)
			}
		}
	}
}

// trap stops a thread and resumes it. If at returns true, it first blocks the thread's signals
// and sets the trap flag.
func trap(tid int, at func(pc uint64) bool) (trapped bool, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.PtraceSeize(tid); err != nil {
		if err == unix.ESRCH {
			err = nil // it has ended
		}
		return false, err
	}
	if err := unix.PtraceInterrupt(tid); err != nil {
		return false, err
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(tid, &status, unix.WALL, nil); err != nil || !status.Stopped() {
		return false, err
	}
	// A stop for a signal passes it on.
	signal := status.StopSignal()
	if status.TrapCause() == unix.PTRACE_EVENT_STOP {
		signal = 0
	}
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return false, err
	}
	var next [3]byte
	if _, err := unix.PtracePeekText(tid, uintptr(regs.Rip), next[:]); err != nil {
		return false, err
	}
	if trapped = signal == 0 && at(regs.Rip) && !leaves(next); trapped {
		all := ^uint64(0)
		if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SETSIGMASK, uintptr(tid), unsafe.Sizeof(all), uintptr(unsafe.Pointer(&all)), 0, 0); errno != 0 {
			return false, errno
		}
		const trapFlag = 1 << 8 // of EFLAGS: trap after the next instruction
		regs.Eflags |= trapFlag
		if err := unix.PtraceSetRegs(tid, &regs); err != nil {
			return false, err
		}
	}
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(tid), 0, uintptr(signal), 0, 0); errno != 0 {
		return false, errno
	}
	return trapped, nil
}

// leaves reports whether an instruction may leave its function. The trap comes after the
// instruction, when a called function has no frame yet.
func leaves(code [3]byte) bool {
	op, modrm := code[0], code[1]
	if op>>4 == 4 { // REX
		op, modrm = code[1], code[2]
	}
	switch op {
	case 0xc2, 0xc3, 0xe8: // RET, CALL; a JMP can be a whole loop
		return true
	case 0xff: // CALL is /2 and /3, JMP /4 and /5
		return modrm>>3&7 >= 2 && modrm>>3&7 <= 5
	}
	return false
}
