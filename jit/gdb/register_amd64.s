// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

#include "textflag.h"

// Debuggers put a breakpoint on the first byte of this function, and find both
// symbols by their names.
TEXT __jit_debug_register_code(SB), NOSPLIT|NOFRAME, $0-0
	RET

// version 1, action 0, relevant_entry and first_entry nil.
DATA __jit_debug_descriptor+0(SB)/8, $1
DATA __jit_debug_descriptor+8(SB)/8, $0
DATA __jit_debug_descriptor+16(SB)/8, $0
GLOBL __jit_debug_descriptor(SB), NOPTR, $24

// All signals except those that an instruction raises itself: SIGILL, SIGTRAP,
// SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS.
DATA blocked<>+0(SB)/8, $0xffffffffbffffb07
GLOBL blocked<>(SB), NOPTR|RODATA, $8

// func change(place *uintptr, value uintptr) (before, after uint32)
//
// The call blocks signals. A debugger takes longer than the 10 ms after which Go's
// scheduler preempts a goroutine by a signal (SIGURG). The signal then arrives each
// time that gdb 13 steps over its breakpoint; gdb runs the handler and steps again,
// so that one call takes half a minute. There is no system call between the two reads
// of the code, because a debugger that attaches stops most threads in one.
TEXT ·change(SB), NOSPLIT, $8-24
	MOVL $14, AX // rt_sigprocmask
	MOVL $0, DI  // SIG_BLOCK
	LEAQ blocked<>(SB), SI
	LEAQ old-8(SP), DX
	MOVL $8, R10 // size of a signal set
	SYSCALL
	MOVQ AX, BX
	MOVQ place+0(FP), DI
	MOVQ value+8(FP), SI
	LEAQ __jit_debug_register_code(SB), R8
	MOVL (R8), R9
	XCHGQ SI, (DI)
	CALL __jit_debug_register_code(SB)
	MOVL (R8), R10
	MOVL R9, before+16(FP)
	MOVL R10, after+20(FP)
	TESTQ BX, BX
	JNE  done // no signals were blocked
	MOVL $14, AX
	MOVL $2, DI  // SIG_SETMASK
	LEAQ old-8(SP), SI
	XORL DX, DX
	MOVL $8, R10
	SYSCALL
done:
	RET

// func ownDescriptor() *nativeDescriptor
TEXT ·ownDescriptor(SB), NOSPLIT, $0-8
	LEAQ __jit_debug_descriptor(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func ownRegister() uintptr
TEXT ·ownRegister(SB), NOSPLIT, $0-8
	LEAQ __jit_debug_register_code(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func registerCode() *uint32
TEXT ·registerCode(SB), NOSPLIT, $0-8
	LEAQ __jit_debug_register_code(SB), AX
	MOVQ AX, ret+0(FP)
	RET
