// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Functions with nothing around them, to be compiled (-c -ffreestanding) for
// machines whose C library isn't here. With clang -g
// -fno-asynchronous-unwind-tables they get a .debug_frame with CIE version 4.

long opaque(long *values, long n);

long saved(long a, long b, long c)
{
	long values[4] = {a, b, c, a + b};
	return opaque(values, 4) + a * b + c;
}

long aligned(long n)
{
	long values[8] __attribute__((aligned(64))) = {n};
	return opaque(values, 8) + values[n & 7];
}

long dynamic(long n)
{
	long values[n + 1];
	values[0] = n;
	return opaque(values, n) + values[n];
}

long large(long n)
{
	long values[20000] = {n};
	return opaque(values, 20000) + values[n & 7];
}

long leaf(long a, long b)
{
	return a * b + 1;
}
