// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

// Generated code runs on the goroutine's stack, in 64 KiB that the prologue has checked
// for. ADD keeps the unwind table of this function correct: the table has the return
// address at the stack pointer.

// func call(code, argument uintptr) uintptr
TEXT ·call(SB), 0, $65536-24
	MOVD code+0(FP), R9
	MOVD argument+8(FP), R0
	MOVD 0(RSP), R10
	ADD $65024, RSP
	MOVD R10, 0(RSP)
	CALL (R9)
	SUB $65024, RSP
	MOVD R0, ret+16(FP)
	RET
