// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

// The sequence that Arm ARM requires after code is written (Concurrent modification and
// execution of instructions), for any number of cache lines. A line has
// 4<<CTR_EL0.DminLine bytes of data or 4<<CTR_EL0.IminLine of instructions.

// func flushInstructions(address, size uintptr)
TEXT ·flushInstructions(SB), NOSPLIT, $0-16
	MOVD	address+0(FP), R0
	MOVD	size+8(FP), R1
	ADD	R0, R1, R1
	MRS	CTR_EL0, R2
	MOVD	$4, R3
	UBFX	$16, R2, $4, R4
	LSL	R4, R3, R4	// bytes of a line of data
	AND	$15, R2, R5
	LSL	R5, R3, R5	// bytes of a line of instructions

	SUB	$1, R4, R6
	BIC	R6, R0, R7
data:
	WORD	$0xd50b7b27	// DC CVAU, R7
	ADD	R4, R7
	CMP	R1, R7
	BLO	data
	DSB	$11	// ISH

	SUB	$1, R5, R6
	BIC	R6, R0, R7
instructions:
	WORD	$0xd50b7527	// IC IVAU, R7
	ADD	R5, R7
	CMP	R1, R7
	BLO	instructions
	DSB	$11	// ISH
	ISB	$15	// SY
	RET
