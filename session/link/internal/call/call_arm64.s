// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

// The code runs in this frame: the prologue has grown the stack.
// func Call(code uint64, a0, a1, a2, a3 uint64) uint64
TEXT ·Call(SB), 0, $65536-48
	MOVD	code+0(FP), R9
	MOVD	a0+8(FP), R0
	MOVD	a1+16(FP), R1
	MOVD	a2+24(FP), R2
	MOVD	a3+32(FP), R3
	MOVD	RSP, R19	// the callee saves it
	MOVD	$60000, R10
	ADD	R10, R19, R10
	MOVD	R10, RSP
	BL	(R9)
	MOVD	R19, RSP
	MOVD	R0, ret+40(FP)
	RET
