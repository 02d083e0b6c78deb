// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

#include "textflag.h"

// func semihost(operation uintptr, block *[4]uintptr) uintptr
TEXT ·semihost(SB), NOSPLIT, $0-24
	MOVD operation+0(FP), R0
	MOVD block+8(FP), R1
	WORD $0xd45e0000	// hlt #0xf000
	MOVD R0, ret+16(FP)
	RET
