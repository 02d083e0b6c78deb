// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

#include "textflag.h"

// Debuggers put a breakpoint on the first byte of this function, and find both
// symbols by their names.
TEXT __jit_debug_register_code(SB), NOSPLIT|NOFRAME, $0-0
	RET

// version 1, action 0, relevant_entry and first_entry nil.
DATA __jit_debug_descriptor+0(SB)/8, $1
DATA __jit_debug_descriptor+8(SB)/8, $0
DATA __jit_debug_descriptor+16(SB)/8, $0
GLOBL __jit_debug_descriptor(SB), NOPTR, $24

// func callRegister()
TEXT ·callRegister(SB), NOSPLIT, $0-0
	CALL __jit_debug_register_code(SB)
	RET

// func ownDescriptor() *nativeDescriptor
TEXT ·ownDescriptor(SB), NOSPLIT, $0-8
	LEAQ __jit_debug_descriptor(SB), AX
	MOVQ AX, ret+0(FP)
	RET
