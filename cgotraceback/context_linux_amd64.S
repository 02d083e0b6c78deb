// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android

// clew_context calls clew_save_context with the registers of its caller. It is not in context.c,
// because assembly there has no source lines: runtime/pprof then takes no name of the program as
// known, and go tool pprof replaces them by those that it finds itself, without inlined calls.

.text
.globl clew_context
.hidden clew_context
.type clew_context, @function
clew_context:
	.cfi_startproc
	endbr64
	subq $104, %rsp
	.cfi_adjust_cfa_offset 104
	leaq 112(%rsp), %rax
	movq %rax, (%rsp)
	movq 104(%rsp), %rax
	movq %rax, 8(%rsp)
	movq %rbx, 16(%rsp)
	movq %rbp, 24(%rsp)
	movq %r12, 32(%rsp)
	movq %r13, 40(%rsp)
	movq %r14, 48(%rsp)
	movq %r15, 56(%rsp)
	movq %rsp, %rsi
	call clew_save_context
	addq $104, %rsp
	.cfi_adjust_cfa_offset -104
	ret
	.cfi_endproc
.size clew_context, .-clew_context

	.section .note.GNU-stack, "", @progbits

