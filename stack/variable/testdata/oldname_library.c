// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

static __attribute__((noinline)) int hold(int n)
{
	__builtin_trap();
}

int advance(int n) // glibc has one, advance@GLIBC_2.2.5
{
	return hold(n + 1); // jumps
}
