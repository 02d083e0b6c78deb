// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

#include "textflag.h"

// func Code(code, argument uintptr) uintptr
TEXT ·Code(SB), 0, $65536-24
	MOVQ code+0(FP), AX
	MOVQ argument+8(FP), DI
	ADJSP $-65024
	CALL AX
	ADJSP $65024
	MOVQ AX, ret+16(FP)
	RET
