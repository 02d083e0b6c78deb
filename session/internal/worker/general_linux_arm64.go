// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// General are the general registers: struct user_pt_regs of asm/ptrace.h.
type General struct {
	x              [31]uint64
	sp, pc, pstate uint64
}

// Names are the general registers in gdb's order.
var Names = func() []Name {
	var names []Name
	for n := range 31 {
		names = append(names, Name{fmt.Sprintf("x%d", n), unsafe.Offsetof(General{}.x) + uintptr(n)*8, 8, n})
	}
	return append(names,
		Name{"sp", unsafe.Offsetof(General{}.sp), 8, 31},
		Name{"pc", unsafe.Offsetof(General{}.pc), 8, 32},
		Name{"cpsr", unsafe.Offsetof(General{}.pstate), 4, -1})
}()

const (
	x29 = 29 // the frame pointer
	x30 = 30 // the link register
)

// Register sets of elf.h.
const (
	ntPRStatus = 1
	ntPRFPReg  = 2
	ntARMTLS   = 0x401
	ntHWBreak  = 0x402
	ntHWWatch  = 0x403
)

// Registers reads the general registers.
func (w *Worker) Registers(r *General) error {
	_, err := w.getSet(ntPRStatus, unsafe.Pointer(r), unsafe.Sizeof(*r))
	w.debug.pc = r.pc
	return err
}

// SetRegisters sets the general registers.
func (w *Worker) SetRegisters(r *General) error {
	w.debug.pc = r.pc
	return w.setSet(ntPRStatus, unsafe.Pointer(r), unsafe.Sizeof(*r))
}

// PC returns the address of the next instruction.
func (r *General) PC() uint64 { return r.pc }

// SetPC sets the address of the next instruction.
func (r *General) SetPC(pc uint64) { r.pc = pc }

// SP returns the stack pointer.
func (r *General) SP() uint64 { return r.sp }

// SetSP sets the stack pointer.
func (r *General) SetSP(sp uint64) { r.sp = sp }

// Enter sets the program counter, so that the kernel does not restart a system call in which the
// worker was interrupted. The kernel moves the program counter back to svc before the stop
// (arch/arm64/kernel/signal.c, do_signal).
func (r *General) Enter(pc uint64) { r.pc = pc }

// Bits of pstate (Arm ARM C5.2) that belong to the thread: SSBS.
const threadState = 1 << 12

// Reset prepares the registers for a call: all become 0 except those of the thread.
func (r *General) Reset() { *r = General{pstate: r.pstate & threadState} }

// wordRegisters is the number of registers with integer arguments (AAPCS64 6.8.2).
const wordRegisters = 8

// SetWord sets the n-th integer argument of a call. It returns false if the argument belongs on the
// stack.
func (r *General) SetWord(n int, v uint64) bool {
	if n >= wordRegisters {
		return false
	}
	r.x[n] = v
	return true
}

// Word returns the n-th integer argument of a call, and false if it is on the stack.
func (r *General) Word(n int) (uint64, bool) {
	if n >= wordRegisters {
		return 0, false
	}
	return r.x[n], true
}

// StackWord returns the address of the n-th integer argument on the stack, at the first instruction of
// a function.
func (r *General) StackWord(n int) uint64 { return r.sp + uint64(n-wordRegisters)*8 }

// SetVectors does nothing: the callee knows how many vector registers hold arguments.
func (r *General) SetVectors(int) {}

// Result returns the two registers of integer results.
func (r *General) Result() (uint64, uint64) { return r.x[0], r.x[1] }

// SetResult sets the register of integer results.
func (r *General) SetResult(v uint64) { r.x[0] = v }

// SetReturn sets the return address of a call. If the machine keeps it on the stack, SetReturn moves
// the stack pointer and returns the address at which the caller must store it, otherwise 0.
func (r *General) SetReturn(address uint64) (slot uint64) {
	r.x[x30] = address
	return 0
}

// initThread does nothing: only glibc uses the two words of a thread's block, and its stack
// protector's number is a variable.
func initThread(*memory) {}

// HideTrapFlag does nothing: programs cannot see the state of single steps.
func (r *General) HideTrapFlag() {}

// TrapFlag returns false: there is no such flag.
func (r *General) TrapFlag() bool { return false }

// ClearTrapFlag does nothing.
func (r *General) ClearTrapFlag() {}

// InSystemCall reports whether the kernel moves the program counter back to a system call when the
// worker resumes. Here the kernel moves it before the stop: see Enter.
func (r *General) InSystemCall() bool { return false }

// TrapAdvance is the program counter after a trap instruction minus the instruction's address.
const TrapAdvance = 0

// Codes of a SIGTRAP (asm-generic/siginfo.h).
const (
	trapBreakpoint = 1 // TRAP_BRKPT
	trapTrace      = 2 // TRAP_TRACE
	trapHardware   = 4 // TRAP_HWBKPT
)

// IsTrapInstruction reports whether the worker has executed a trap instruction.
func (e *Event) IsTrapInstruction() bool {
	return e.Signal == int(unix.SIGTRAP) && e.Code == trapBreakpoint
}

// IsStep reports whether the worker has finished a single step. After a step over a system call the
// code and PID are 0 (linux/ptrace.h, user_single_step_report).
func (e *Event) IsStep() bool {
	return e.Signal == int(unix.SIGTRAP) && (e.Code == trapTrace || e.Code == 0 && e.PID == 0)
}
