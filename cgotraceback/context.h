// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#ifndef CLEW_CONTEXT_H
#define CLEW_CONTEXT_H

#include "tables.h"

// clew_saved_context is where C code called Go: the registers after the call of the context
// function returns, in a function of runtime/cgo that returns before Go runs. So its part of
// the stack is copied. The frames of its callers stay.
struct clew_saved_context {
	uint64_t pc, sp;
	uint64_t reg[11]; // rbx, rbp, r12 to r15; x19 to x29
	uint64_t copy[27];
	uint64_t copied;     // bytes of copy: fewer at the end of a stack
	uint32_t next;       // the next free one, plus 1
	uint32_t generation; // odd while it is used
};

CLEW_HIDDEN const struct clew_saved_context *clew_saved_context(uintptr_t context);

#endif
