// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// The program of `clew demo`: somebody goes into a labyrinth, a few turns deep,
// and waits. It needs no C library, so that its ELF file is small enough to be
// kept beside this source:
//
//	gcc -O2 -g1 -static -nostdlib -fomit-frame-pointer -fno-stack-protector \
//	    -fcf-protection=none -fno-ipa-cp -ffile-prefix-map=$PWD=. -Wl,--build-id=sha1 \
//	    -z noseparate-code -o labyrinth_amd64.elf labyrinth.c

#define NOINLINE __attribute__((noinline))

static long syscall3(long number, long a, long b, long c) {
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

static inline __attribute__((always_inline)) void rest(void) {
	for (;;)
		syscall3(34 /* pause */, 0, 0, 0);
}

NOINLINE long minotaur(long depth) {
	syscall3(1 /* write */, 1, (long)"ready\n", 6);
	rest();
	return depth;
}

long left(long depth, long thread);

NOINLINE long right(long depth, long thread) {
	long way = depth * thread;
	return left(depth - 1, thread + 1) ^ way;
}

NOINLINE long left(long depth, long thread) {
	volatile long marks[9] = {depth, thread};
	if (depth == 0)
		return minotaur(marks[1]) + marks[0];
	return right(depth - 1, thread + marks[0]) + marks[1];
}

NOINLINE long labyrinth(long turns) {
	return left(turns, 1) + turns;
}

NOINLINE void run(void) {
	labyrinth(4);
	syscall3(60 /* exit */, 0, 0, 0);
}

// The return address of the outermost frame is undefined: here the thread ends.
__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"\txor %ebp, %ebp\n"
	"\tand $-16, %rsp\n"
	"\tcall run\n"
	"\thlt\n"
	".cfi_endproc\n"
	".size _start, .-_start\n");
