// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

// func clone3(args *cloneArgs, size, parent uintptr) (pid uintptr, errno unix.Errno)
TEXT ·clone3(SB), NOSPLIT|NOFRAME, $0-40
	MOVD	args+0(FP), R0
	MOVD	size+8(FP), R1
	MOVD	parent+16(FP), R19
	MOVD	$435, R8	// clone3
	SVC
	CBZ	R0, child
	TBNZ	$63, R0, failed
	MOVD	R0, pid+24(FP)
	MOVD	ZR, errno+32(FP)
	RET
failed:
	NEG	R0, R0
	MOVD	ZR, pid+24(FP)
	MOVD	R0, errno+32(FP)
	RET
child:
	JMP	·pause(SB)

// func clone(flags, stack uintptr, pidfd *int32, tls, parent uintptr) (pid uintptr, errno unix.Errno)
TEXT ·clone(SB), NOSPLIT|NOFRAME, $0-56
	MOVD	flags+0(FP), R0
	MOVD	stack+8(FP), R1
	MOVD	pidfd+16(FP), R2
	MOVD	tls+24(FP), R3
	MOVD	ZR, R4
	MOVD	parent+32(FP), R19
	MOVD	$220, R8	// clone
	SVC
	CBZ	R0, child
	TBNZ	$63, R0, failed
	MOVD	R0, pid+40(FP)
	MOVD	ZR, errno+48(FP)
	RET
failed:
	NEG	R0, R0
	MOVD	ZR, pid+40(FP)
	MOVD	R0, errno+48(FP)
	RET
child:
	JMP	·pause(SB)

// pause is the only code of a worker. R19 has the process ID of its parent.
TEXT ·pause(SB), NOSPLIT|NOFRAME, $0-0
	MOVD	$167, R8	// prctl
	MOVD	$1, R0	// PR_SET_PDEATHSIG
	MOVD	$9, R1	// SIGKILL
	SVC
	MOVD	$173, R8	// getppid
	SVC
	CMP	R0, R19
	BNE	orphan
again:
	MOVD	$73, R8	// ppoll, of no files: arm64 has no pause
	MOVD	ZR, R0
	MOVD	ZR, R1
	MOVD	ZR, R2	// without a time limit
	MOVD	ZR, R3
	MOVD	ZR, R4
	SVC
	JMP	again
orphan:
	JMP	·exitThread(SB)

// func exitThread()
TEXT ·exitThread(SB), NOSPLIT|NOFRAME, $0-0
	MOVD	$93, R8	// exit
	MOVD	ZR, R0
	SVC
	BRK
