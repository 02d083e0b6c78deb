// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

// host is called by generated code, on the goroutine's stack. R15 is the context. It returns
// when its word wait is 0, and crashes if its word crash is not.
TEXT ·host(SB), NOSPLIT|NOFRAME, $0
wait:
	CMPQ 72(R15), $0
	JEQ done
	PAUSE
	JMP wait
done:
	CMPQ 80(R15), $0
	JEQ 2(PC)
	MOVQ $0, 0
	RET

// func hostAddress() uintptr
TEXT ·hostAddress(SB), NOSPLIT, $0-8
	LEAQ ·host(SB), AX
	MOVQ AX, ret+0(FP)
	RET
