// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Generates as many functions as the second argument says, describes them in a
// jitdump in the directory of the first argument, and spins in some of them. Each
// spins, and calls its argument without a frame pointer: its unwind table gives the
// place of the return address.

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SLOT = 256 };

// void f(long n, void (**next)(long, void *)): sub $0x18,%rsp; test %rsi,%rsi; je 1f;
// add $8,%rsi; mov -8(%rsi),%rax; test %rax,%rax; je 1f; call *%rax; jmp 2f;
// 1: dec %rdi; jnz 1b; 2: add $0x18,%rsp; ret
static const unsigned char code[] = {
	0x48, 0x83, 0xec, 0x18, 0x48, 0x83, 0xc6, 0x08, 0x48, 0x8b, 0x46, 0xf8, 0x48, 0x85, 0xc0, 0x74, 0x04,
	0xff, 0xd0, 0xeb, 0x05, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x48, 0x83, 0xc4, 0x18, 0xc3,
};

// A CIE and an FDE: the CFA is rsp+8, from offset 4 on rsp+32, at 30 rsp+8 again.
static const unsigned char frames[] = {
	0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	0x1c, 0, 0, 0, 0x1c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0x44, 0x0e, 32, 0x5a, 0x0e, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

struct prefix {
	uint32_t id, size;
	uint64_t time;
};

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	long count = atol(argv[2]);
	static char path[4096];
	snprintf(path, sizeof path, "%s/jit-%d.dump", argv[1], getpid());
	FILE *out = fopen(path, "w+");
	if (!out)
		return 1;
	struct {
		uint32_t magic, version, size, machine, pad, pid;
		uint64_t time, flags;
	} header = { 0x4a695444, 1, 40, EM_X86_64, 0, getpid(), now(), 0 };
	fwrite(&header, sizeof header, 1, out);
	fflush(out);
	if (mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(out), 0) == MAP_FAILED)
		return 1;
	unsigned char *all = mmap(0, count * SLOT, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return 1;
	for (long i = 0; i < count; i++) {
		unsigned char *at = all + i * SLOT;
		memset(at, 0xcc, SLOT);
		memcpy(at, code, sizeof code);
		uint32_t size = 192;
		struct {
			struct prefix prefix;
			uint64_t size, header, mapped;
		} unwinding = { { 4, sizeof unwinding + sizeof frames, now() }, sizeof frames, 0, 0 };
		unsigned char table[sizeof frames];
		memcpy(table, frames, sizeof frames);
		int32_t start = -(int32_t)(size + 32); // from the FDE's pointer to the code, which ends where the table begins
		memcpy(table + 32, &start, 4);
		memcpy(table + 36, &size, 4);
		fwrite(&unwinding, sizeof unwinding, 1, out);
		fwrite(table, sizeof table, 1, out);
		char name[32];
		int n = snprintf(name, sizeof name, "generated_%ld", i) + 1;
		struct {
			struct prefix prefix;
			uint32_t pid, tid;
			uint64_t vma, address, size, index;
		} load = { { 0, sizeof load + n + size, now() }, getpid(), getpid(), (uint64_t)at, (uint64_t)at, size, i };
		fwrite(&load, sizeof load, 1, out);
		fwrite(name, n, 1, out);
		fwrite(at, size, 1, out);
	}
	fflush(out);
	for (int i = 0; i < 300; i++) {
		void *next[8];
		for (int k = 0; k < 7; k++)
			next[k] = all + (count * (k + 1) / 8 + i) % count * SLOT;
		next[7] = 0;
		((void (*)(long, void **))all)(1000000, next);
	}
	return 0;
}
