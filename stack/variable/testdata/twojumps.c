// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

int over(int n, int (*visit)(void));

static __attribute__((noinline)) int stop(void)
{
	__builtin_trap();
}

int main(int argc, char **argv)
{
	return over(argc, stop) + 1;
}
