// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Maps a file without a name twice, once writable and once executable, as JIT compilers do
// to avoid memory that is both, and waits in a function that the code there calls.
// "memfd" makes the file with memfd_create, "file PATH" at a path, and "library PATH" loads
// a library from a memfd,
// to which it copies the library.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "ready.h"

enum { SIZE = 8192, START = 0x40 };

NOINLINE long wait(void)
{
	ready();
	for (;;)
		pause();
}

#if defined(__x86_64__)
// push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#elif defined(__aarch64__)
// stp x29,x30,[sp,#-16]!; mov x29,sp; blr x0; ldp x29,x30,[sp],#16; ret
static const unsigned code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif

NOINLINE static long generated(int fd)
{
	if (ftruncate(fd, SIZE) != 0)
		return 1;
	char *write = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char *run = mmap(0, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	if (write == MAP_FAILED || run == MAP_FAILED)
		return 1;
	memcpy(write + START, code, sizeof code);
	__builtin___clear_cache(run, run + SIZE);
	return after(((long (*)(long (*)(void)))(run + START))(wait));
}

NOINLINE static long library(const char *path)
{
	char buffer[4096];
	ssize_t n;
	int from = open(path, O_RDONLY), fd = memfd_create("library", 0);
	while ((n = read(from, buffer, sizeof buffer)) > 0)
		if (write(fd, buffer, n) != n)
			return 1;
	snprintf(buffer, sizeof buffer, "/proc/self/fd/%d", fd);
	void *loaded = dlopen(buffer, RTLD_NOW);
	long (*call)(long (*)(void)) = loaded ? dlsym(loaded, "call") : 0;
	return call ? after(call(wait)) : 1;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "library") == 0)
		return library(argv[2]);
	int fd = argc == 3 ? open(argv[2], O_RDWR | O_CREAT, 0600) : memfd_create("jit", 0);
	if (argc == 3)
		unlink(argv[2]);
	return generated(fd);
}
