// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watchState is the state of a worker's debug registers. The processor reports an access after the
// instruction, and a breakpoint once.
type watchState struct {
	watches int    // number of debug registers in use
	matched uint32 // a bit for each
}

// absorb does nothing: every stop is reported.
func (*Worker) absorb(*Event) (bool, error) { return false, nil }

// Breaks returns false twice: the processor itself passes a breakpoint that it has reported.
func (*Worker) Breaks(uint64) (met, left bool) { return false, false }

// Moved does nothing.
func (*Worker) Moved() {}

// Continue resumes the worker.
func (w *Worker) Continue() error {
	w.request = unix.PTRACE_CONT
	return w.restart()
}

// Step resumes the worker for one instruction.
func (w *Worker) Step() error {
	w.request = unix.PTRACE_SINGLESTEP
	return w.restart()
}

// MaxWatches is the number of debug registers.
const MaxWatches = 4

// The debug registers are at u_debugreg of struct user (sys/user.h): user_regs (27 words), u_fpvalid,
// user_fpregs (512 bytes), 6 words, 32 bytes of u_comm, two words.
const debugRegisters = 848

func (w *Worker) debugRegister(n int) (v uint64, err error) {
	// The system call stores the value; only glibc's function returns it.
	err = w.ptracePointer(unix.PTRACE_PEEKUSR, debugRegisters+uintptr(n)*8, unsafe.Pointer(&v))
	return v, err
}

func (w *Worker) setDebugRegister(n int, v uint64) error {
	return w.ptrace(unix.PTRACE_POKEUSR, debugRegisters+uintptr(n)*8, uintptr(v))
}

// SetWatches sets the debug registers. The error is ErrWatches for more than MaxWatches.
func (w *Worker) SetWatches(list []Watch) error {
	if len(list) > MaxWatches {
		return ErrWatches
	}
	// DR7: Intel SDM volume 3, 17.2.4. It is cleared first because the kernel checks an address
	// against the current control word.
	if err := w.setDebugRegister(7, 0); err != nil {
		return err
	}
	w.watches, w.matched = 0, 0
	control := uint64(0)
	for n, watch := range list {
		if err := w.setDebugRegister(n, watch.Address); err != nil {
			return fmt.Errorf("debug register for %#x: %w", watch.Address, err)
		}
		kind := map[WatchAccess]uint64{Execute: 0, Write: 1, ReadWrite: 3}[watch.Access]
		length := map[int]uint64{1: 0, 2: 1, 4: 3, 8: 2}[watch.Size]
		control |= 1<<(2*n) | kind<<(16+4*n) | length<<(18+4*n)
	}
	if len(list) == 0 {
		return nil
	}
	if err := w.setDebugRegister(7, control); err != nil {
		return fmt.Errorf("debug control register %#x: %w", control, err)
	}
	w.watches = len(list)
	return nil
}

// IsWatch reports whether debug registers have matched, and records them for Matches.
func (w *Worker) IsWatch(e *Event) bool {
	if w.watches == 0 || e.Signal != int(unix.SIGTRAP) {
		return false
	}
	status, err := w.debugRegister(6)
	matched := uint32(status) & (1<<w.watches - 1)
	if err != nil || matched == 0 {
		return false
	}
	w.setDebugRegister(6, 0)
	w.matched |= matched
	return true
}
