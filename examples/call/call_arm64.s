// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

#include "textflag.h"

// func Code(code, argument uintptr) uintptr
//
// The ADD to the stack pointer is recorded in Go's tables. For them the return address is at the
// stack pointer.
TEXT ·Code(SB), 0, $65536-24
	MOVD code+0(FP), R9
	MOVD argument+8(FP), R0
	MOVD 0(RSP), R10
	ADD $65024, RSP
	MOVD R10, 0(RSP)
	CALL (R9)
	SUB $65024, RSP
	MOVD R0, ret+16(FP)
	RET
