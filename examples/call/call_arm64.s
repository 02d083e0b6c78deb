// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

#include "funcdata.h"
#include "textflag.h"

// func Code(code, argument uintptr) uintptr
//
// The ADD to the stack pointer is recorded in Go's tables. For them the return address is at the
// stack pointer. When the code calls Go, and the stack moves, nothing below the stack pointer is
// kept. So the return address and the caller's frame pointer are stored again afterwards.
TEXT ·Code(SB), 0, $65536-24
	NO_LOCAL_POINTERS
	MOVD code+0(FP), R9
	MOVD argument+8(FP), R0
	MOVD 0(RSP), R10
	ADD $65024, RSP
	MOVD R10, 0(RSP)
	CALL (R9)
	MOVD 0(RSP), R10
	SUB $65024, RSP
	MOVD R10, 0(RSP)
	MOVD $code+0(FP), R10
	SUB $16, R10
	MOVD R10, -8(RSP)
	MOVD R0, ret+16(FP)
	RET

// func host()
//
// The stack does not grow here, because that would lose the argument, but in goHost.
TEXT ·host(SB), NOSPLIT, $24-0
	NO_LOCAL_POINTERS
	MOVD R0, 8(RSP)
	CALL ·goHost(SB)
	MOVD 16(RSP), R0
	RET

// func HostAddress() uintptr
TEXT ·HostAddress(SB), NOSPLIT, $0-8
	MOVD $·host(SB), R0
	MOVD R0, ret+0(FP)
	RET

// func reserve()
TEXT ·reserve(SB), 0, $65536-0
	NO_LOCAL_POINTERS
	RET
