// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "go_asm.h"
#include "textflag.h"

// Words run on the goroutine's stack, inside the frame of call: its prologue has
// made room for all of it, and nothing that runs on top of it can be stopped to
// move the stack. The stack pointer goes up by an ADD, which the assembler notes
// for Go's own tables, so that they still find call's caller: the return address
// is at the stack pointer for them, wherever that is.
#define room 0x3f000	// that words may use, an immediate of one ADD
#define reserve 8192	// of it, below the lowest first instruction of a word

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
	ADD	$room, RSP
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
	SUB	$room, RSP
	RET

// func pause()
//
// It is called by words. It writes the notice, waits until a byte or the end
// of the file comes, and keeps x0, which is the top of the data stack, and which
// alone the kernel changes of what words use. It has a frame, and so a frame
// pointer, for those who walk a Go program that is linked without call frame
// information: one of its own, since what the assembler makes ends with x29 a
// word below the caller's stack pointer, which is where Go functions have it,
// but not words.
TEXT ·pause(SB), NOSPLIT|NOFRAME, $0
	MOVD	R30, -32(RSP)	// Go's tables have it there from the next instruction on
	SUB	$32, RSP	// which they know of, unlike MOVD.W
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
