// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

// func clone(number, a1, a2, a3, a4, a5, parent uintptr) (pid uintptr, errno unix.Errno)
TEXT ·clone(SB), NOSPLIT|NOFRAME, $0-72
	MOVQ	number+0(FP), AX
	MOVQ	a1+8(FP), DI
	MOVQ	a2+16(FP), SI
	MOVQ	a3+24(FP), DX
	MOVQ	a4+32(FP), R10
	MOVQ	a5+40(FP), R8
	MOVQ	parent+48(FP), R12
	SYSCALL
	TESTQ	AX, AX
	JZ	child
	JS	failed
	MOVQ	AX, pid+56(FP)
	MOVQ	$0, errno+64(FP)
	RET
failed:
	NEGQ	AX
	MOVQ	$0, pid+56(FP)
	MOVQ	AX, errno+64(FP)
	RET
child:
	JMP	·pause(SB)

// pause is the only code of a worker. R12 has the process ID of its parent.
TEXT ·pause(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ	$157, AX	// prctl
	MOVQ	$1, DI	// PR_SET_PDEATHSIG
	MOVQ	$9, SI	// SIGKILL
	SYSCALL
	MOVQ	$110, AX	// getppid
	SYSCALL
	CMPQ	AX, R12
	JNE	orphan
again:
	MOVQ	$34, AX	// pause
	SYSCALL
	JMP	again
orphan:
	JMP	·exitThread(SB)

// func exitThread()
TEXT ·exitThread(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ	$60, AX	// exit
	MOVQ	$0, DI
	SYSCALL
	INT	$3
