// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

// host is called by generated code, on the goroutine's stack. R19 is the context. It returns
// when its word wait is 0, and crashes if its word crash is not.
TEXT ·host(SB), NOSPLIT|NOFRAME, $0
wait:
	MOVD 72(R19), R9
	CBNZ R9, wait
	MOVD 80(R19), R9
	CBZ R9, done
	MOVD ZR, R9
	MOVD ZR, (R9)
done:
	RET

// func hostAddress() uintptr
TEXT ·hostAddress(SB), NOSPLIT, $0-8
	MOVD $·host(SB), R0
	MOVD R0, ret+0(FP)
	RET
