// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

#include "funcdata.h"
#include "textflag.h"

// func Code(code, argument uintptr) uintptr
TEXT ·Code(SB), 0, $65536-24
	NO_LOCAL_POINTERS
	MOVQ code+0(FP), AX
	MOVQ argument+8(FP), DI
	ADJSP $-65024
	CALL AX
	ADJSP $65024
	MOVQ AX, ret+16(FP)
	RET

// func host()
//
// The stack does not grow here, because that would lose the argument, but in goHost.
TEXT ·host(SB), NOSPLIT, $16-0
	NO_LOCAL_POINTERS
	MOVQ DI, 0(SP)
	CALL ·goHost(SB)
	MOVQ 8(SP), AX
	RET

// func HostAddress() uintptr
TEXT ·HostAddress(SB), NOSPLIT, $0-8
	LEAQ ·host(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func reserve()
TEXT ·reserve(SB), 0, $65536-0
	NO_LOCAL_POINTERS
	RET
