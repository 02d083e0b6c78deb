// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Waits in a function that is called by code at a known address, which is in no file. With
// "mutated DUMP" it maps a jitdump as perf requires. Tests change the data that Clew reads
// while the program waits.

#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include "ready.h"

enum { SIZE = 8192 };
#define PLACE ((char *)0x10000000)

struct list {
	struct list *next;
	const char *name;
	double values[3];
};

NOINLINE long innermost(struct list *list, int n, const char *text)
{
	ready();
	for (;;)
		pause();
	return n + text[0] + list->name[0];
}

NOINLINE long called(void)
{
	struct list last = {0, "last", {1, 2, 3}}, first = {&last, "first", {4, 5, 6}};
	return after(innermost(&first, 13, "some text"));
}

#if defined(__x86_64__)
// push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#elif defined(__aarch64__)
// stp x29,x30,[sp,#-16]!; mov x29,sp; blr x0; ldp x29,x30,[sp],#16; ret
static const unsigned code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif

int main(int argc, char **argv)
{
	if (argc > 1) {
		int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
		if (fd < 0 || ftruncate(fd, 4096) != 0 || mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			return 1;
	}
	char *at = mmap(PLACE, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (at != PLACE)
		return 1;
	memcpy(at, code, sizeof code);
	__builtin___clear_cache(at, at + SIZE);
	return after(((long (*)(long (*)(void)))at)(called));
}
