// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

// func clone(number, a1, a2, a3, a4, a5, parent uintptr) (pid uintptr, errno unix.Errno)
TEXT ·clone(SB), NOSPLIT|NOFRAME, $0-72
	MOVD	number+0(FP), R8
	MOVD	a1+8(FP), R0
	MOVD	a2+16(FP), R1
	MOVD	a3+24(FP), R2
	MOVD	a4+32(FP), R3
	MOVD	a5+40(FP), R4
	MOVD	parent+48(FP), R19
	SVC
	CBZ	R0, child
	TBNZ	$63, R0, failed
	MOVD	R0, pid+56(FP)
	MOVD	ZR, errno+64(FP)
	RET
failed:
	NEG	R0, R0
	MOVD	ZR, pid+56(FP)
	MOVD	R0, errno+64(FP)
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
