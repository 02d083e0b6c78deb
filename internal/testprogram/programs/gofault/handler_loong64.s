// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

TEXT ·handlerPC(SB),NOSPLIT,$0-8
	MOVV	$·handler(SB), R4
	MOVV	R4, ret+0(FP)
	RET

TEXT ·handler(SB),NOSPLIT,$16-0
	CALL	·crash(SB)
	RET

TEXT ·crash(SB),NOSPLIT,$16-0
	MOVV	R0, R4
	MOVV	(R4), R5
	MOVV	R5, 8(R3)
	RET
