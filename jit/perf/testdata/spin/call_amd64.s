// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include "textflag.h"

// func call(address, count uint64)
//
// The frame is space for the frames of the code.
TEXT ·call(SB), 0, $256-16
	MOVQ address+0(FP), AX
	MOVQ count+8(FP), CX
	CALL AX
	RET
