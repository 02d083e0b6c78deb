// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

// func clone3(args *cloneArgs, size, parent uintptr) (pid uintptr, errno unix.Errno)
TEXT ·clone3(SB), NOSPLIT|NOFRAME, $0-40
	MOVQ	args+0(FP), DI
	MOVQ	size+8(FP), SI
	MOVQ	parent+16(FP), R12
	MOVQ	$435, AX	// clone3
	SYSCALL
	TESTQ	AX, AX
	JZ	child
	JS	failed
	MOVQ	AX, pid+24(FP)
	MOVQ	$0, errno+32(FP)
	RET
failed:
	NEGQ	AX
	MOVQ	$0, pid+24(FP)
	MOVQ	AX, errno+32(FP)
	RET
child:
	JMP	·pause(SB)

// func clone(flags, stack uintptr, pidfd *int32, tls, parent uintptr) (pid uintptr, errno unix.Errno)
TEXT ·clone(SB), NOSPLIT|NOFRAME, $0-56
	MOVQ	flags+0(FP), DI
	MOVQ	stack+8(FP), SI
	MOVQ	pidfd+16(FP), DX
	MOVQ	$0, R10
	MOVQ	tls+24(FP), R8
	MOVQ	parent+32(FP), R12
	MOVQ	$56, AX	// clone
	SYSCALL
	TESTQ	AX, AX
	JZ	child
	JS	failed
	MOVQ	AX, pid+40(FP)
	MOVQ	$0, errno+48(FP)
	RET
failed:
	NEGQ	AX
	MOVQ	$0, pid+40(FP)
	MOVQ	AX, errno+48(FP)
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
