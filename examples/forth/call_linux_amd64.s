// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "go_asm.h"
#include "textflag.h"

// Words run on the goroutine's stack, in the frame of call. The prologue has grown the stack for the
// whole frame, and a goroutine that runs words cannot be stopped to move the stack. The assembler
// records ADJSP in Go's tables, so that they still find call's caller.
#define wordStack (262144-512)	// bytes for words
#define reserve 8192		// part of wordStack below the lowest stack pointer at the start of a word

// func call(s *state, code uint64)
TEXT ·call(SB), 0, $262144-16
	MOVQ	s+0(FP), R12
	MOVQ	code+8(FP), CX
	LEAQ	·pause(SB), DX
	MOVQ	DX, state_pause(R12)
	LEAQ	reserve(SP), DX
	MOVQ	DX, state_stackLimit(R12)
	ADJSP	$-wordStack
	LEAQ	-8(SP), DX	// address of the return address
	MOVQ	DX, state_sp(R12)
	MOVQ	state_dsp(R12), BX
	MOVQ	state_tos(R12), AX
	MOVQ	state_data(R12), R13
	CALL	CX
	MOVQ	BX, state_dsp(R12)
	MOVQ	AX, state_tos(R12)
	ADJSP	$wordStack
	RET

// func pause()
//
// Words call it. It writes the notice and waits for a byte or the end of the file. It preserves rax, the
// top of the data stack; the kernel also changes rcx and r11. Its frame has a frame pointer, for
// unwinders of Go programs without call frame information.
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
