// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"bytes"
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// sigreturn is the code of a signal trampoline and where, from the stack
// pointer that it runs with, the kernel has saved the interrupted registers.
type sigreturn struct {
	code []byte
	// context is the offset of the first saved register, in bytes; columns
	// are those of the words from there on, -1 for words that are none.
	context uint64
	columns []int8
	pc      int // which of the words is the program counter
}

// sigreturns are by machine. Trampolines with call frame information do not
// need them: these are of Go's runtime, musl and others that have none.
var sigreturns = map[elf.Machine]sigreturn{
	// mov $__NR_rt_sigreturn,%rax; syscall. struct ucontext with its
	// sigcontext at 40: arch/x86/include/uapi/asm/sigcontext.h.
	elf.EM_X86_64: {
		code:    []byte{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05},
		context: 40,
		columns: []int8{8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16},
		pc:      16,
	},
	// mov x8,#__NR_rt_sigreturn; svc #0. siginfo of 128 bytes, then struct
	// ucontext with its sigcontext at 176, whose first word is the fault
	// address: arch/arm64/include/uapi/asm/sigcontext.h.
	elf.EM_AARCH64: {
		code:    []byte{0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4},
		context: 128 + 176 + 8,
		columns: []int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
			21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, -1},
		pc: 32,
	},
}

// atSigreturn reports whether the code at an address is a signal trampoline.
func (w *Walker) atSigreturn(pc uint64) bool {
	t, ok := sigreturns[w.Machine.ELF]
	if !ok || w.Machine.AddressSize != 8 {
		return false
	}
	b := w.word[:len(t.code)]
	read := w.readMemory
	if m, ok := w.Memory.(CodeMemory); ok {
		read = m.ReadCode
	}
	return read(b, pc) == nil && bytes.Equal(b, t.code)
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
	t := sigreturns[w.Machine.ELF]
	sp, _ := w.Register(uint64(w.Machine.StackPointer))
	w.fresh = w.fresh[:0]
	var pc uint64
	next := sp
	for i, column := range t.columns {
		v, err := w.read(sp + t.context + 8*uint64(i))
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
	return w.commit(pc, next, sp)
}
