// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Nested functions that end in pause, for i386 without its C library. Build with
// -m32 -O2 -g -nostdlib -static -fno-pic -no-pie -fasynchronous-unwind-tables.

#define NOINLINE __attribute__((noinline, noipa))

static inline long call(long number, long a, long b, long c)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "0"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

NOINLINE long innermost(long n)
{
	call(27, 600, 0, 0);           // alarm
	call(4, 1, (long)"ready\n", 6); // write
	for (;;)
		call(29, 0, 0, 0); // pause
	return n;
}

NOINLINE long inner(long n)
{
	char local[64] __attribute__((aligned(64)));
	__asm__ volatile("" : : "r"(local) : "memory");
	long r = innermost(n + 1);
	__asm__ volatile("" : "+r"(r) : "r"(local) : "memory");
	return r + n;
}

NOINLINE long outer(long n)
{
	long r = inner(n + 1);
	__asm__ volatile("" : "+r"(r));
	return r + n;
}

__attribute__((noreturn, used)) void begin(void)
{
	outer(1);
	for (;;)
		call(1, 0, 0, 0); // exit
}

__asm__(".globl _start\n_start:\n\t.cfi_startproc\n\t.cfi_undefined %eip\n"
	"\txor %ebp, %ebp\n\tcall begin\n\thlt\n\t.cfi_endproc\n");
