// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

#include "textflag.h"

// Debuggers put a breakpoint on the first instruction of this function, and find
// both symbols by their names.
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
// The call blocks signals: see register_amd64.s.
TEXT ·change(SB), NOSPLIT, $16-24
	MOVD $135, R8 // rt_sigprocmask
	MOVD $0, R0   // SIG_BLOCK
	MOVD $blocked<>(SB), R1
	MOVD $old-8(SP), R2
	MOVD $8, R3   // size of a signal set
	SVC
	MOVD R0, R4
	MOVD place+0(FP), R5
	MOVD value+8(FP), R6
	MOVD $__jit_debug_register_code(SB), R7
	MOVWU (R7), R9
	STLR R6, (R5)
	CALL __jit_debug_register_code(SB)
	MOVWU (R7), R10
	MOVW R9, before+16(FP)
	MOVW R10, after+20(FP)
	CBNZ R4, done // no signals were blocked
	MOVD $135, R8
	MOVD $2, R0   // SIG_SETMASK
	MOVD $old-8(SP), R1
	MOVD $0, R2
	MOVD $8, R3
	SVC
done:
	RET

// func ownDescriptor() *nativeDescriptor
TEXT ·ownDescriptor(SB), NOSPLIT, $0-8
	MOVD $__jit_debug_descriptor(SB), R0
	MOVD R0, ret+0(FP)
	RET

// func ownRegister() uintptr
TEXT ·ownRegister(SB), NOSPLIT, $0-8
	MOVD $__jit_debug_register_code(SB), R0
	MOVD R0, ret+0(FP)
	RET

// func registerCode() *uint32
TEXT ·registerCode(SB), NOSPLIT, $0-8
	MOVD $__jit_debug_register_code(SB), R0
	MOVD R0, ret+0(FP)
	RET
