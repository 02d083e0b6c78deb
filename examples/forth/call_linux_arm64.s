// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "go_asm.h"
#include "textflag.h"

// Words run on the goroutine's stack, in the frame of call. The prologue has grown the stack for the
// whole frame, and a goroutine that runs words cannot be stopped to move the stack. The ADD to the
// stack pointer is recorded in Go's tables, so that they still find call's caller: for them the return
// address is at the stack pointer.
#define wordStack 0x3f000	// bytes for words, an immediate of one ADD
#define reserve 8192	// part of wordStack below the lowest stack pointer at the start of a word

// func call(s *state, code uint64)
TEXT ·call(SB), 0, $262144-16
	MOVD	s+0(FP), R20
	MOVD	code+8(FP), R16
	MOVD	$·pause(SB), R9
	MOVD	R9, state_pause(R20)
	MOVD	$reserve, R9
	MOVD	RSP, R10
	ADD	R9, R10
	MOVD	R10, state_stackLimit(R20)
	MOVD	0(RSP), R9
	ADD	$wordStack, RSP
	MOVD	R9, 0(RSP)
	MOVD	RSP, R10
	MOVD	R10, state_sp(R20)
	ADR	back, R10
	MOVD	R10, state_ra(R20)
	MOVD	state_dsp(R20), R19
	MOVD	state_tos(R20), R0
	MOVD	state_data(R20), R21
	BL	(R16)
back:
	MOVD	R19, state_dsp(R20)
	MOVD	R0, state_tos(R20)
	SUB	$wordStack, RSP
	RET

// func pause()
//
// Words call it. It writes the notice and waits for a byte or the end of the file. It preserves x0, the
// top of the data stack, the only register of words that the kernel changes. Its frame has a frame
// pointer, for unwinders of Go programs without call frame information. The assembler's own prologue
// would store x29 a word below the caller's stack pointer, as in Go functions but not in words.
TEXT ·pause(SB), NOSPLIT|NOFRAME, $0
	MOVD	R30, -32(RSP)	// Go's tables expect it there after the next instruction
	SUB	$32, RSP	// recorded in these tables, unlike MOVD.W
	MOVD	R29, -8(RSP)
	SUB	$8, RSP, R29
	MOVD	R0, state_tos(R20)
	MOVD	$64, R8	// write
	MOVD	state_paused(R20), R0
	MOVD	state_notice(R20), R1
	MOVD	state_noticeSize(R20), R2
	SVC
again:
	MOVD	$63, R8	// read
	MOVD	state_resume(R20), R0
	ADD	$state_resumeByte, R20, R1
	MOVD	$1, R2
	SVC
	CMN	$4, R0	// EINTR
	BEQ	again
	MOVD	state_tos(R20), R0
	MOVD	-8(RSP), R29
	MOVD	0(RSP), R30
	ADD	$32, RSP
	RET
