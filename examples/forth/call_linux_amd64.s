// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "go_asm.h"
#include "textflag.h"

// Words run on the goroutine's stack, inside the frame of call: its prologue has
// made room for all of it, and nothing that runs on top of it can be stopped to
// move the stack. The stack pointer goes up by what ADJSP says, which the
// assembler notes for Go's own tables, so that they still find call's caller.
#define room (262144-512)	// that words may use
#define reserve 8192		// of it, below the lowest first instruction of a word

// func call(s *state, code uint64)
TEXT ·call(SB), 0, $262144-16
	MOVQ	s+0(FP), R12
	MOVQ	code+8(FP), CX
	LEAQ	·pause(SB), DX
	MOVQ	DX, state_pause(R12)
	LEAQ	reserve(SP), DX
	MOVQ	DX, state_stackLimit(R12)
	ADJSP	$-room
	LEAQ	-8(SP), DX	// where the return address comes to be
	MOVQ	DX, state_sp(R12)
	MOVQ	state_dsp(R12), BX
	MOVQ	state_tos(R12), AX
	MOVQ	state_data(R12), R13
	CALL	CX
	MOVQ	BX, state_dsp(R12)
	MOVQ	AX, state_tos(R12)
	ADJSP	$room
	RET

// func pause()
//
// It is called by words. It writes the notice, waits until a byte or the end
// of the file comes, and keeps rax, which is the top of the data stack; the
// kernel changes rcx and r11 besides. It has a frame, and so a frame pointer, for
// those who walk a Go program that is linked without call frame information.
TEXT ·pause(SB), NOSPLIT, $8
	MOVQ	AX, state_tos(R12)
	MOVL	$1, AX	// write
	MOVQ	state_paused(R12), DI
	MOVQ	state_notice(R12), SI
	MOVQ	state_noticeSize(R12), DX
	SYSCALL
again:
	MOVL	$0, AX	// read
	MOVQ	state_resume(R12), DI
	LEAQ	state_resumeByte(R12), SI
	MOVL	$1, DX
	SYSCALL
	CMPQ	AX, $-4	// EINTR
	JEQ	again
	MOVQ	state_tos(R12), AX
	RET
