// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

// The code runs in this frame: the prologue has grown the stack.
// func Call(code uint64, a0, a1, a2, a3 uint64) uint64
TEXT ·Call(SB), 0, $65536-48
	MOVQ	code+0(FP), AX
	MOVQ	a0+8(FP), DI
	MOVQ	a1+16(FP), SI
	MOVQ	a2+24(FP), DX
	MOVQ	a3+32(FP), CX
	MOVQ	SP, BX	// the callee saves it
	LEAQ	60000(SP), R10
	ANDQ	$~15, R10
	MOVQ	R10, SP
	CALL	AX
	MOVQ	BX, SP
	MOVQ	AX, ret+40(FP)
	RET
