// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// General are the general registers: struct user_regs_struct of sys/user.h.
type General struct {
	r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi uint64
	origRAX, rip, cs, eflags, rsp, ss, fsBase, gsBase, ds, es, fs, gs       uint64
}

// Names are the general registers in gdb's order.
var Names = []Name{
	{"rax", unsafe.Offsetof(General{}.rax), 8, 0},
	{"rbx", unsafe.Offsetof(General{}.rbx), 8, 3},
	{"rcx", unsafe.Offsetof(General{}.rcx), 8, 2},
	{"rdx", unsafe.Offsetof(General{}.rdx), 8, 1},
	{"rsi", unsafe.Offsetof(General{}.rsi), 8, 4},
	{"rdi", unsafe.Offsetof(General{}.rdi), 8, 5},
	{"rbp", unsafe.Offsetof(General{}.rbp), 8, 6},
	{"rsp", unsafe.Offsetof(General{}.rsp), 8, 7},
	{"r8", unsafe.Offsetof(General{}.r8), 8, 8},
	{"r9", unsafe.Offsetof(General{}.r9), 8, 9},
	{"r10", unsafe.Offsetof(General{}.r10), 8, 10},
	{"r11", unsafe.Offsetof(General{}.r11), 8, 11},
	{"r12", unsafe.Offsetof(General{}.r12), 8, 12},
	{"r13", unsafe.Offsetof(General{}.r13), 8, 13},
	{"r14", unsafe.Offsetof(General{}.r14), 8, 14},
	{"r15", unsafe.Offsetof(General{}.r15), 8, 15},
	{"rip", unsafe.Offsetof(General{}.rip), 8, 16},
	{"eflags", unsafe.Offsetof(General{}.eflags), 4, 49},
	{"cs", unsafe.Offsetof(General{}.cs), 4, 51},
	{"ss", unsafe.Offsetof(General{}.ss), 4, 52},
	{"ds", unsafe.Offsetof(General{}.ds), 4, 53},
	{"es", unsafe.Offsetof(General{}.es), 4, 50},
	{"fs", unsafe.Offsetof(General{}.fs), 4, 54},
	{"gs", unsafe.Offsetof(General{}.gs), 4, 55},
	{"fs_base", unsafe.Offsetof(General{}.fsBase), 8, 58},
	{"gs_base", unsafe.Offsetof(General{}.gsBase), 8, 59},
	{"orig_rax", unsafe.Offsetof(General{}.origRAX), 8, -1},
}

// Registers reads the general registers.
func (w *Worker) Registers(r *General) error {
	return w.ptracePointer(unix.PTRACE_GETREGS, 0, unsafe.Pointer(r))
}

// SetRegisters sets the general registers.
func (w *Worker) SetRegisters(r *General) error {
	return w.ptracePointer(unix.PTRACE_SETREGS, 0, unsafe.Pointer(r))
}

// PC returns the address of the next instruction.
func (r *General) PC() uint64 { return r.rip }

// SetPC sets the address of the next instruction. The kernel may still restart a system call: see
// Enter.
func (r *General) SetPC(pc uint64) { r.rip = pc }

// SP returns the stack pointer.
func (r *General) SP() uint64 { return r.rsp }

// SetSP sets the stack pointer.
func (r *General) SetSP(sp uint64) { r.rsp = sp }

// noSystemCall in orig_rax prevents the kernel from restarting an interrupted system call.
const noSystemCall = ^uint64(0)

// Enter sets the program counter, so that the kernel does not restart a system call in which the
// worker was interrupted.
func (r *General) Enter(pc uint64) {
	r.rip = pc
	r.origRAX = noSystemCall
}

const trapFlag = 0x100 // TF of eflags: Intel SDM volume 1, 3.4.3.3

// Reset prepares the registers for a call: all become 0 except those of the thread.
func (r *General) Reset() {
	*r = General{cs: r.cs, ss: r.ss, ds: r.ds, es: r.es, fs: r.fs, gs: r.gs, fsBase: r.fsBase, gsBase: r.gsBase,
		origRAX: noSystemCall, eflags: 0x202} // IF, and the bit that is always set
}

// words returns the registers of integer arguments (psABI amd64, 3.2.3).
func (r *General) words() [6]*uint64 {
	return [...]*uint64{&r.rdi, &r.rsi, &r.rdx, &r.rcx, &r.r8, &r.r9}
}

// SetWord sets the n-th integer argument of a call. It returns false if the argument belongs on the
// stack.
func (r *General) SetWord(n int, v uint64) bool {
	words := r.words()
	if n >= len(words) {
		return false
	}
	*words[n] = v
	return true
}

// Word returns the n-th integer argument of a call, and false if it is on the stack.
func (r *General) Word(n int) (uint64, bool) {
	words := r.words()
	if n >= len(words) {
		return 0, false
	}
	return *words[n], true
}

// SetVectors sets the number of vector registers with arguments (psABI amd64, 3.2.3).
func (r *General) SetVectors(n int) { r.rax = uint64(n) }

// Result returns the two registers of integer results.
func (r *General) Result() (uint64, uint64) { return r.rax, r.rdx }

// SetResult sets the register of integer results.
func (r *General) SetResult(v uint64) { r.rax = v }

// initThread prepares a worker's thread block (psABI amd64, 3.4.6): the first word
// is its own address; glibc's stack protector reads the sixth.
func initThread(m *memory) {
	block := (*[6]uint64)(unsafe.Add(m.base, m.threadPointer-uint64(uintptr(m.base))))
	block[0] = m.threadPointer
	block[5] = 0x9e3779b97f4a7c00 // its lowest byte is 0, as glibc's
}

// SetReturn sets the return address of a call. If the machine keeps it on the stack, SetReturn moves
// the stack pointer and returns the address at which the caller must store it, otherwise 0.
func (r *General) SetReturn(uint64) (slot uint64) {
	r.rsp -= 8
	return r.rsp
}

// StackWord returns the address of the n-th integer argument on the stack, at the first instruction of
// a function.
func (r *General) StackWord(n int) uint64 { return r.rsp + 8 + uint64(n-6)*8 }

// HideTrapFlag clears the flag of single steps in the flags that the syscall instruction has saved.
func (r *General) HideTrapFlag() { r.r11 &^= trapFlag }

// TrapFlag reports whether the code has set TF itself: the kernel hides the flag of its own steps.
func (r *General) TrapFlag() bool { return r.eflags&trapFlag != 0 }

// ClearTrapFlag clears TF.
func (r *General) ClearTrapFlag() { r.eflags &^= trapFlag }

// InSystemCall reports whether the kernel moves the program counter back to a system call when the
// worker resumes: its result is ERESTARTSYS or a similar one (linux/errno.h).
func (r *General) InSystemCall() bool {
	if int64(r.origRAX) < 0 {
		return false
	}
	switch int64(r.rax) {
	case -512, -513, -514, -516:
		return true
	}
	return false
}

// TrapAdvance is the program counter after a trap instruction minus the instruction's address.
const TrapAdvance = 1

// siKernel is the code of int3's SIGTRAP (SI_KERNEL of asm-generic/siginfo.h).
const siKernel = 0x80

// IsTrapInstruction reports whether the worker has executed a trap instruction.
func (e *Event) IsTrapInstruction() bool {
	return e.Signal == int(unix.SIGTRAP) && e.Code == siKernel
}

// IsStep reports whether the worker has finished a single step.
func (e *Event) IsStep() bool {
	return e.Signal == int(unix.SIGTRAP) && e.Code > 0 && !e.IsTrapInstruction()
}
