// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Computes in a function below three others, partly in the kernel. Its code has frame pointers and no
// unwind tables. Built for x86-64 by
// gcc -O2 -static -nostdlib -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -Wl,--build-id -o deferred deferred.c
// and recorded with Linux 7.3.4 (Debian) by clew record --deferred -F 199 --duration 2s --raw deferred.data -- /deferred

static char buffer[1 << 16];

static long call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

__attribute__((noipa)) long inner(int file)
{
	long sum = 0;

	for (int i = 0; i < 20; i++) {
		call(8, file, 0, 0);                              // lseek
		sum += call(0, file, (long)buffer, sizeof buffer); // read
	}
	for (int i = 0; i < 200000; i++)
		__asm__ volatile("" : "+r"(sum));
	return sum;
}

__attribute__((noipa)) long middle(int file)
{
	return inner(file) + 1;
}

__attribute__((noipa)) long outer(int file)
{
	return middle(file) + 1;
}

void _start(void)
{
	int file = call(2, (long)"/proc/self/exe", 0, 0); // open

	for (;;)
		outer(file);
}
