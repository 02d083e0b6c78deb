// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// sigreturn is the code of a signal trampoline and where, from the stack
// pointer that it runs with, the kernel has saved the interrupted registers.
type sigreturn struct {
	machine elf.Machine
	class   elf.Class
	// code is the trampoline as it lies in memory. Of machines whose instructions
	// have the order of data, and of which both orders exist, it is as it lies in
	// little-endian memory.
	code string
	// context is the offset of the first saved register, in bytes; columns
	// are those of the words from there on, -1 for words that are none.
	context uint64
	columns []int8
	pc      uint64 // offset of the program counter from the first saved register, in bytes

	// pointer is the offset from the stack pointer of a pointer to the structure that
	// context is an offset in; 0 where that is an offset from the stack pointer.
	pointer uint64

	width uint64 // bytes of a word; 0 stands for the machine's RegisterSize
	abi2  bool   // for MIPS n32, not o32
}

// sigreturns are by machine. Trampolines with call frame information do not
// need them: these are of Go's runtime, musl, emulators and others that have none,
// and of the machines of probesSigreturn.
var sigreturns = []sigreturn{
	// mov $__NR_rt_sigreturn,%rax; syscall. struct ucontext with its
	// sigcontext at 40: arch/x86/include/uapi/asm/sigcontext.h.
	{machine: elf.EM_X86_64, class: elf.ELFCLASS64, code: "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", context: 40, columns: sigcontextX8664, pc: 16 * 8},
	// mov x8,#__NR_rt_sigreturn; svc #0. siginfo of 128 bytes, then struct
	// ucontext with its sigcontext at 176, whose first word is the fault
	// address: arch/arm64/include/uapi/asm/sigcontext.h.
	{machine: elf.EM_AARCH64, class: elf.ELFCLASS64, code: "\x68\x11\x80\xd2\x01\x00\x00\xd4", context: 128 + 176 + 8, columns: sigcontextARM64, pc: 32 * 8},
	// pop %eax; mov $__NR_sigreturn,%eax; int $0x80. The signal's number, then
	// struct sigcontext_32, whose first four words are segments:
	// arch/x86/include/asm/sigframe.h, sigframe_ia32.
	{machine: elf.EM_386, class: elf.ELFCLASS32, code: "\x58\xb8\x77\x00\x00\x00\xcd\x80", context: 4 + 16, columns: sigcontextI386, pc: 10 * 4},
	// mov $__NR_rt_sigreturn,%eax; int $0x80. The number, two pointers, siginfo,
	// struct ucontext_ia32 with its sigcontext at 20: rt_sigframe_ia32.
	{machine: elf.EM_386, class: elf.ELFCLASS32, code: "\xb8\xad\x00\x00\x00\xcd\x80", context: 12 + 128 + 20 + 16, columns: sigcontextI386, pc: 10 * 4},
	// mov r7,#__NR_sigreturn; svc 0, as ARM code and as Thumb. struct ucontext
	// with its sigcontext at 20, whose first three words are no registers:
	// arch/arm/include/asm/ucontext.h, struct sigframe.
	{machine: elf.EM_ARM, class: elf.ELFCLASS32, code: "\x77\x70\xa0\xe3\x00\x00\x00\xef", context: 20 + 12, columns: sigcontextARM, pc: 15 * 4},
	{machine: elf.EM_ARM, class: elf.ELFCLASS32, code: "\x77\x27\x00\xdf", context: 20 + 12, columns: sigcontextARM, pc: 15 * 4},
	{machine: elf.EM_ARM, class: elf.ELFCLASS32, code: "\x4f\xf0\x77\x07\x00\xdf", context: 20 + 12, columns: sigcontextARM, pc: 15 * 4},
	// The same with __NR_rt_sigreturn and after siginfo: struct rt_sigframe.
	{machine: elf.EM_ARM, class: elf.ELFCLASS32, code: "\xad\x70\xa0\xe3\x00\x00\x00\xef", context: 128 + 20 + 12, columns: sigcontextARM, pc: 15 * 4},
	{machine: elf.EM_ARM, class: elf.ELFCLASS32, code: "\xad\x27\x00\xdf", context: 128 + 20 + 12, columns: sigcontextARM, pc: 15 * 4},
	{machine: elf.EM_ARM, class: elf.ELFCLASS32, code: "\x4f\xf0\xad\x07\x00\xdf", context: 128 + 20 + 12, columns: sigcontextARM, pc: 15 * 4},
	// li a7,__NR_rt_sigreturn; ecall. siginfo, then struct ucontext with its
	// sigcontext at 176: arch/riscv/include/uapi/asm/ucontext.h.
	{machine: elf.EM_RISCV, class: elf.ELFCLASS64, code: "\x93\x08\xb0\x08\x73\x00\x00\x00", context: 128 + 176, columns: sigcontextRISCV},
	// addi r1,r1,__SIGNAL_FRAMESIZE; li r0,__NR_rt_sigreturn; sc. struct
	// ucontext at 128, in it the sigcontext at 168, in that gp_regs at 64:
	// arch/powerpc/kernel/signal_64.c.
	{machine: elf.EM_PPC64, class: elf.ELFCLASS64, code: "\x80\x00\x21\x38\xac\x00\x00\x38\x02\x00\x00\x44", context: 128 + 168 + 64, columns: sigcontextPower, pc: 32 * 8},
	// qemu-user's lacks the addition, and has 16 bytes more in between.
	{machine: elf.EM_PPC64, class: elf.ELFCLASS64, code: "\xac\x00\x00\x38\x02\x00\x00\x44", context: 128 + 16 + 168 + 64, columns: sigcontextPower, pc: 32 * 8},
	// li r0,__NR_sigreturn; sc. The caller's 64 bytes, then struct sigcontext of
	// 32 and mcontext, which starts with gp_regs: arch/powerpc/kernel/signal_32.c.
	{machine: elf.EM_PPC, class: elf.ELFCLASS32, code: "\x77\x00\x00\x38\x02\x00\x00\x44", context: 64 + 32, columns: sigcontextPower, pc: 32 * 4},
	// li r0,__NR_rt_sigreturn; sc. 16 bytes more, siginfo, struct ucontext with its
	// mcontext at 192.
	{machine: elf.EM_PPC, class: elf.ELFCLASS32, code: "\xac\x00\x00\x38\x02\x00\x00\x44", context: 64 + 16 + 128 + 192, columns: sigcontextPower, pc: 32 * 4},
	// svc __NR_sigreturn. The caller's 160 bytes, the signal mask and a pointer
	// to the registers, which follow: arch/s390/kernel/signal.c, struct sigframe.
	{machine: elf.EM_S390, class: elf.ELFCLASS64, code: "\x0a\x77", context: 160 + 16, columns: sigcontextS390X, pc: 8},
	// svc __NR_rt_sigreturn. The caller's 160 bytes, the call itself, siginfo,
	// struct ucontext with its registers at 40: struct rt_sigframe.
	{machine: elf.EM_S390, class: elf.ELFCLASS64, code: "\x0a\xad", context: 160 + 8 + 128 + 40, columns: sigcontextS390X, pc: 8},
	// The same of 31 bits, where the caller has 96 bytes and the PSW is aligned to
	// eight: arch/s390/kernel/compat_signal.c, sigframe32 and rt_sigframe32.
	{machine: elf.EM_S390, class: elf.ELFCLASS32, code: "\x0a\x77", context: 96 + 16, columns: sigcontextS390, pc: 4},
	{machine: elf.EM_S390, class: elf.ELFCLASS32, code: "\x0a\xad", context: 96 + 8 + 128 + 24, columns: sigcontextS390, pc: 4},
	// li v0,__NR_sigreturn; syscall, of o32. 24 bytes, then struct sigcontext, where
	// the pc and the registers have eight bytes each: arch/mips/kernel/signal.c,
	// struct sigframe, and arch/mips/include/uapi/asm/sigcontext.h.
	{machine: elf.EM_MIPS, class: elf.ELFCLASS32, code: "\x17\x10\x02\x24\x0c\x00\x00\x00", context: 24 + 8, columns: sigcontextMIPS, width: 8},
	// li v0,__NR_rt_sigreturn; syscall. siginfo, struct ucontext with its sigcontext
	// at 24: struct rt_sigframe.
	{machine: elf.EM_MIPS, class: elf.ELFCLASS32, code: "\x61\x10\x02\x24\x0c\x00\x00\x00", context: 24 + 128 + 24 + 8, columns: sigcontextMIPS, width: 8},
	// The same of n64, whose sigcontext is at 40 and starts with the registers, and
	// has the pc after the floating-point ones, hi and lo; and of n32.
	{machine: elf.EM_MIPS, class: elf.ELFCLASS64, code: "\x5b\x14\x02\x24\x0c\x00\x00\x00", context: 24 + 128 + 40, columns: sigcontextMIPS[1:], pc: 72 * 8},
	{machine: elf.EM_MIPS, class: elf.ELFCLASS32, abi2: true, code: "\x43\x18\x02\x24\x0c\x00\x00\x00", context: 24 + 128 + 24, columns: sigcontextMIPS[1:], pc: 72 * 8},
	// mov __NR_rt_sigreturn,%g1; ta 0x6d. Above the bias a register window, which is
	// the interrupted one, 64 bytes, siginfo, pt_regs: arch/sparc/kernel/signal_64.c,
	// struct rt_signal_frame.
	{machine: elf.EM_SPARCV9, class: elf.ELFCLASS64, code: "\x82\x10\x20\x65\x91\xd0\x20\x6d", context: 2047, columns: sigcontextSPARC64, pc: 128 + 64 + 128 + 17*8},
	// moveq #__NR_sigreturn,%d0; trap #0. The return has taken the first word of
	// struct sigframe, the fourth one leads to struct sigcontext, which begins with the
	// mask. Registers that it lacks the handler has preserved:
	// arch/m68k/kernel/signal.c. (qemu-user's lacks the code on the stack.)
	{machine: elf.EM_68K, class: elf.ELFCLASS32, code: "\x70\x77\x4e\x40", pointer: 8, context: 4, columns: []int8{15, 0, 1, 8, 9}, pc: 22},
	// moveq #~__NR_rt_sigreturn,%d0; not.b %d0; trap #0. The fourth word of struct
	// rt_sigframe leads to struct ucontext, whose registers are at 24.
	{machine: elf.EM_68K, class: elf.ELFCLASS32, code: "\x70\x52\x46\x00\x4e\x40", pointer: 8, context: 24, columns: sigcontextM68K, pc: 16 * 4},
}

// probesSigreturn reports whether a machine's trampolines are told by their code
// even where there are rules. On MIPS the vDSO's have rules that say nothing of the
// registers; on SPARC the one of the C library is taken for the end of the function
// before it; the kernel's for m68k, and for others before they had a vDSO, are on
// the stack.
func probesSigreturn(machine elf.Machine) bool {
	switch machine {
	case elf.EM_MIPS, elf.EM_SPARCV9, elf.EM_68K, elf.EM_PPC:
		return true
	}
	return false
}

var (
	sigcontextX8664 = []int8{8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16}
	sigcontextARM64 = []int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
		21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}
	sigcontextI386  = []int8{7, 6, 5, 4, 3, 2, 1, 0, -1, -1, 8}
	sigcontextARM   = []int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	sigcontextRISCV = []int8{-1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}
	// r0 to r31, nip, msr, orig_r3, ctr, link, xer, ccr.
	sigcontextPower = []int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, -1, -1, -1, 66, 65, 76, 70}
	// The PSW's mask and address, r0 to r15, a0 to a15 of four bytes each, fpc,
	// and f0 to f15, in which functions save general registers.
	sigcontextS390X = []int8{64, 65, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		-1, -1, -1, -1, -1, -1, -1, -1, -1, 16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31}
	// The same words as far as a15.
	sigcontextS390 = []int8{64, 65, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63}
	// The pc, r0 to r31.
	sigcontextMIPS = []int8{-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}
	// l0 to l7, i0 to i7; eight words of the caller's and 16 of siginfo; g0 to g7,
	// o0 to o7.
	sigcontextSPARC64 = []int8{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	sigcontextM68K = []int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
)

// atSigreturn reports whether the code at an address is a signal trampoline.
func (w *Walker) atSigreturn(pc uint64) bool { return w.sigreturnAt(pc) != nil }

// sigreturnAt returns the signal trampoline whose code is at an address, nil where
// there is none.
func (w *Walker) sigreturnAt(pc uint64) *sigreturn {
	for i := range sigreturns {
		t := &sigreturns[i]
		if t.machine != w.Machine.ELF || t.class != w.Machine.Class ||
			t.machine == elf.EM_MIPS && t.abi2 != (t.class == elf.ELFCLASS32 && w.Machine.RegisterSize == 8) {
			continue
		}
		if b := w.word[:len(t.code)]; w.readCode(b, pc) == nil && t.is(b, w.Machine) {
			return t
		}
	}
	return nil
}

// is reports whether b is the trampoline's code.
func (t *sigreturn) is(b []byte, m *arch.Machine) bool {
	switch t.machine {
	case elf.EM_PPC64, elf.EM_PPC, elf.EM_MIPS:
		if m.Order == binary.BigEndian {
			for i := range b {
				if b[i] != t.code[i^3] {
					return false
				}
			}
			return true
		}
	}
	return string(b) == t.code
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
	m := w.Machine
	sp, _ := w.Register(uint64(m.StackPointer))
	w.fresh = w.fresh[:0]
	width := cmp.Or(t.width, uint64(m.RegisterSize))
	base := sp
	var err error
	if t.pointer != 0 {
		base, err = w.read(sp + t.pointer)
	}
	context := base + t.context
	if m.Order == binary.BigEndian {
		context += width - uint64(m.RegisterSize)
	}
	var pc uint64
	if err == nil {
		pc, err = w.read(context + t.pc)
	}
	next := sp
	for i, column := range t.columns {
		if column < 0 || err != nil {
			continue
		}
		var v uint64
		if v, err = w.read(context + width*uint64(i)); err != nil {
			break
		}
		w.fresh = append(w.fresh, columnValue{uint64(column), v, true})
		if int(column) == m.StackPointer {
			next = v
		}
	}
	if err != nil {
		return w.end(UnreadableMemory, fmt.Errorf("the signal context of the frame at %#x: %w", w.regs.PC, err))
	}
	return w.commit(pc, next, sp, false)
}
