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
.type clew_context, %function
clew_context:
	.cfi_startproc
	hint #34 // bti c
	stp x29, x30, [sp, #-128]!
	.cfi_def_cfa_offset 128
	.cfi_offset 29, -128
	.cfi_offset 30, -120
	add x2, sp, #128
	stp x2, x30, [sp, #16]
	stp x19, x20, [sp, #32]
	stp x21, x22, [sp, #48]
	stp x23, x24, [sp, #64]
	stp x25, x26, [sp, #80]
	stp x27, x28, [sp, #96]
	str x29, [sp, #112]
	add x1, sp, #16
	mov x29, sp
	bl clew_save_context
	ldp x29, x30, [sp], #128
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
.size clew_context, .-clew_context

	.section .note.GNU-stack, "", %progbits
