// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// sigreturn is the code of a signal trampoline and where, from the stack
// pointer that it runs with, the kernel has saved the interrupted registers.
type sigreturn struct {
	machine elf.Machine
	class   elf.Class
	code    string // as it lies in memory
	// context is the offset of the first saved register, in bytes; columns
	// are those of the words from there on, -1 for words that are none.
	context uint64
	columns []int8
	pc      int // which of the words is the program counter
}

// sigreturns are by machine. Trampolines with call frame information do not
// need them: these are of Go's runtime, musl, emulators and others that have none.
var sigreturns = []sigreturn{
	// mov $__NR_rt_sigreturn,%rax; syscall. struct ucontext with its
	// sigcontext at 40: arch/x86/include/uapi/asm/sigcontext.h.
	{elf.EM_X86_64, elf.ELFCLASS64, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 40, sigcontextX8664, 16},
	// mov x8,#__NR_rt_sigreturn; svc #0. siginfo of 128 bytes, then struct
	// ucontext with its sigcontext at 176, whose first word is the fault
	// address: arch/arm64/include/uapi/asm/sigcontext.h.
	{elf.EM_AARCH64, elf.ELFCLASS64, "\x68\x11\x80\xd2\x01\x00\x00\xd4", 128 + 176 + 8, sigcontextARM64, 32},
	// pop %eax; mov $__NR_sigreturn,%eax; int $0x80. The signal's number, then
	// struct sigcontext_32, whose first four words are segments:
	// arch/x86/include/asm/sigframe.h, sigframe_ia32.
	{elf.EM_386, elf.ELFCLASS32, "\x58\xb8\x77\x00\x00\x00\xcd\x80", 4 + 16, sigcontextI386, 10},
	// mov $__NR_rt_sigreturn,%eax; int $0x80. The number, two pointers, siginfo,
	// struct ucontext_ia32 with its sigcontext at 20: rt_sigframe_ia32.
	{elf.EM_386, elf.ELFCLASS32, "\xb8\xad\x00\x00\x00\xcd\x80", 12 + 128 + 20 + 16, sigcontextI386, 10},
	// mov r7,#__NR_sigreturn; svc 0, as ARM code and as Thumb. struct ucontext
	// with its sigcontext at 20, whose first three words are no registers:
	// arch/arm/include/asm/ucontext.h, struct sigframe.
	{elf.EM_ARM, elf.ELFCLASS32, "\x77\x70\xa0\xe3\x00\x00\x00\xef", 20 + 12, sigcontextARM, 15},
	{elf.EM_ARM, elf.ELFCLASS32, "\x77\x27\x00\xdf", 20 + 12, sigcontextARM, 15},
	{elf.EM_ARM, elf.ELFCLASS32, "\x4f\xf0\x77\x07\x00\xdf", 20 + 12, sigcontextARM, 15},
	// The same with __NR_rt_sigreturn and behind siginfo: struct rt_sigframe.
	{elf.EM_ARM, elf.ELFCLASS32, "\xad\x70\xa0\xe3\x00\x00\x00\xef", 128 + 20 + 12, sigcontextARM, 15},
	{elf.EM_ARM, elf.ELFCLASS32, "\xad\x27\x00\xdf", 128 + 20 + 12, sigcontextARM, 15},
	{elf.EM_ARM, elf.ELFCLASS32, "\x4f\xf0\xad\x07\x00\xdf", 128 + 20 + 12, sigcontextARM, 15},
	// li a7,__NR_rt_sigreturn; ecall. siginfo, then struct ucontext with its
	// sigcontext at 176: arch/riscv/include/uapi/asm/ucontext.h.
	{elf.EM_RISCV, elf.ELFCLASS64, "\x93\x08\xb0\x08\x73\x00\x00\x00", 128 + 176, sigcontextRISCV, 0},
	// addi r1,r1,__SIGNAL_FRAMESIZE; li r0,__NR_rt_sigreturn; sc. struct
	// ucontext at 128, in it the sigcontext at 168, in that gp_regs at 64:
	// arch/powerpc/kernel/signal_64.c.
	{elf.EM_PPC64, elf.ELFCLASS64, "\x80\x00\x21\x38\xac\x00\x00\x38\x02\x00\x00\x44", 128 + 168 + 64, sigcontextPPC64, 32},
	// qemu-user's lacks the addition, and has 16 bytes more in between.
	{elf.EM_PPC64, elf.ELFCLASS64, "\xac\x00\x00\x38\x02\x00\x00\x44", 128 + 16 + 168 + 64, sigcontextPPC64, 32},
	// svc __NR_sigreturn. The caller's 160 bytes, the signal mask and a pointer
	// to the registers, which follow: arch/s390/kernel/signal.c, struct sigframe.
	{elf.EM_S390, elf.ELFCLASS64, "\x0a\x77", 160 + 16, sigcontextS390X, 1},
	// svc __NR_rt_sigreturn. The caller's 160 bytes, the call itself, siginfo,
	// struct ucontext with its registers at 40: struct rt_sigframe.
	{elf.EM_S390, elf.ELFCLASS64, "\x0a\xad", 160 + 8 + 128 + 40, sigcontextS390X, 1},
}

var (
	sigcontextX8664 = []int8{8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16}
	sigcontextARM64 = []int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
		21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, -1}
	sigcontextI386  = []int8{7, 6, 5, 4, 3, 2, 1, 0, -1, -1, 8}
	sigcontextARM   = []int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -1}
	sigcontextRISCV = []int8{-1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}
	// r0 to r31, nip, msr, orig_r3, ctr, link, xer, ccr.
	sigcontextPPC64 = []int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, -1, -1, -1, 66, 65, 76, 70}
	// The PSW's mask and address, r0 to r15, a0 to a15 of four bytes each, fpc,
	// and f0 to f15, in which functions save general registers.
	sigcontextS390X = []int8{64, 65, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		-1, -1, -1, -1, -1, -1, -1, -1, -1, 16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31}
)

// atSigreturn reports whether the code at an address is a signal trampoline.
func (w *Walker) atSigreturn(pc uint64) bool { return w.sigreturnAt(pc) != nil }

// sigreturnAt returns the signal trampoline whose code is at an address, nil where
// there is none.
func (w *Walker) sigreturnAt(pc uint64) *sigreturn {
	for i := range sigreturns {
		t := &sigreturns[i]
		if t.machine != w.Machine.ELF || t.class != w.Machine.Class {
			continue
		}
		read := w.readMemory
		if m, ok := w.Memory.(CodeMemory); ok {
			read = m.ReadCode
		}
		if b := w.word[:len(t.code)]; read(b, pc) == nil && string(b) == t.code {
			return t
		}
	}
	return nil
}

// CodeMemory is memory that wants to know which reads are only of the code that
// a frame runs: they add nothing to the registers of its caller. A Walker whose
// Memory implements it reads code with ReadCode.
type CodeMemory interface {
	cfi.Memory
	ReadCode(p []byte, addr uint64) error // as ReadMemory
}

// sigreturn leaves a signal trampoline that no rules cover.
func (w *Walker) sigreturn() bool {
	t := w.sigreturnAt(w.regs.PC)
	if t == nil {
		return w.end(UnreadableMemory, fmt.Errorf("the signal trampoline at %#x: it changed", w.regs.PC))
	}
	sp, _ := w.Register(uint64(w.Machine.StackPointer))
	w.fresh = w.fresh[:0]
	var pc uint64
	next := sp
	for i, column := range t.columns {
		v, err := w.read(sp + t.context + uint64(w.Machine.RegisterSize*i))
		if err != nil {
			return w.end(UnreadableMemory, fmt.Errorf("the signal context of the frame at %#x: %w", w.regs.PC, err))
		}
		if i == t.pc {
			pc = v
		}
		if column >= 0 {
			w.fresh = append(w.fresh, columnValue{uint64(column), v, true})
		}
		if int(column) == w.Machine.StackPointer {
			next = v
		}
	}
	return w.commit(pc, next, sp, false)
}
