// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Maps its whole file as data, directly below and directly above the program, as
// programs do that read their own debugging information, then pauses.

#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "ready.h"

extern char __executable_start[], _end[];

NOINLINE long innermost(long n)
{
	ready();
	for (;;)
		pause();
	return n;
}

NOINLINE long outer(long n) { return after(innermost(n + 1)) + n; }

int main(void)
{
	struct stat st;
	int fd = open("/proc/self/exe", O_RDONLY);
	if (fd < 0 || fstat(fd, &st) != 0)
		return 1;
	unsigned long size = (st.st_size + 4095) & ~4095ul;
	unsigned long above = ((unsigned long)_end + 4095) & ~4095ul;
	if (mmap(__executable_start - size, size, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0) == MAP_FAILED)
		return 2;
	mmap((void *)above, size, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
	return (int)after(outer(1));
}
