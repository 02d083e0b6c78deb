// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Runs code for x86-64 that it generates at a fixed address. Argument: a name for the code, which goes to
// the process's perf map; "" writes none.

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ready.h"

NOINLINE void enter(void (*code)(long))
{
	for (int i = 0; i < 100; i++) {
		code(1000000);
		after(i);
	}
}

int main(int argc, char **argv)
{
	static const unsigned char loop[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3}; // dec %rdi; jnz .-3; ret
	void *code = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (argc != 2 || code == MAP_FAILED)
		return 2;
	memcpy(code, loop, sizeof loop);
	if (argv[1][0]) {
		char path[64];
		snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
		FILE *map = fopen(path, "w");
		if (!map)
			return 1;
		fprintf(map, "%lx %zx %s\n", (unsigned long)code, sizeof loop, argv[1]);
		fclose(map);
	}
	enter((void (*)(long))code);
	return 0;
}
