// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// 64 nested functions, with eight kinds of frames in eight sizes. The last one
// waits in pause. Build with -O2 -fomit-frame-pointer. With -DHOT the last one
// returns, and two threads call them all in an endless loop. Every function has two
// arguments on the stack, so gcc realigns a frame with a DRAP register (the
// dynamic realign argument pointer) and writes the CFA as an expression.

#include <alloca.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include "ready.h"

#define ARGUMENTS long a, long b, long c, long d, long e, long f, long g, long h
#define FUNCTION(n) NOINLINE long f##n(ARGUMENTS)
#define CALL(n) after(f##n(b, c, d, e, f, g, h, a + 1))

// use makes memory appear read and written, so that gcc does not remove it.
static inline void use(volatile void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

static volatile long one = 1, size = 1;

FUNCTION(64)
{
#ifndef HOT
	ready();
	for (;;)
		pause();
#endif
	return a + b + c + d + e + f + g + h;
}

// Only the call: the smallest frame.
#define BARE(n, next, k) FUNCTION(n) { return CALL(next) + 1; }

// k values that live across the call, in as many callee-saved registers as
// there are, the others spilled.
#define SAVED(n, next, k) FUNCTION(n) { \
	long v[8]; \
	for (int i = 0; i < k; i++) v[i] = one + i; \
	__asm__ volatile("" : "+r"(a), "+r"(b)); \
	long r = CALL(next); \
	for (int i = 0; i < k; i++) r += v[i]; \
	return k > 5 ? r + a + b : r; }

// A local array: frames from 16 bytes to more than 128 KiB.
#define FIXED(n, next, bytes) FUNCTION(n) { \
	char v[bytes]; use(v); long r = CALL(next); use(v); return r + a; }

#define ALLOCA(n, next, k) FUNCTION(n) { \
	char *v = alloca(size * 100 * k); \
	use(v); long r = CALL(next); use(v); return r + a; }

// A variable-length array beside k values that live across the call.
#define VLA(n, next, k) FUNCTION(n) { \
	long v[size * 50 * k], w[8]; \
	for (int i = 0; i < k; i++) w[i] = one + i; \
	use(v); long r = CALL(next); use(v); \
	for (int i = 0; i < k; i++) r += w[i]; \
	return r; }

// An over-aligned local: the frame is realigned, with a DRAP register.
#define ALIGNED(n, next, k) FUNCTION(n) { \
	char v[64] __attribute__((aligned(32 << (k % 4)))), w[40 * k]; \
	use(v); use(w); long r = CALL(next); use(v); use(w); return r + a + h; }

// The same with alloca, so that the stack pointer is not at a fixed distance.
#define DRAP(n, next, k) FUNCTION(n) { \
	char v[64] __attribute__((aligned(64))), *w = alloca(size * 64 * k); \
	long s = one + k; \
	use(v); use(w); long r = CALL(next); use(v); use(w); return r + a + h + s; }

// A call with many arguments on the stack, some pushed: the depth changes
// around it.
static NOINLINE long sum(int n, ...)
{
	va_list list;
	long r = 0;
	va_start(list, n);
	while (n-- > 0)
		r += va_arg(list, long);
	va_end(list);
	return r;
}

#define PUSHED(n, next, k) FUNCTION(n) { \
	long r = sum(8 + k, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h); \
	r += sum(7, one, CALL(next), a, b, c, d, e); \
	return r + sum(9, r, a, b, c, d, e, f, g, h); }

DRAP(63, 64, 8)     PUSHED(62, 63, 8)   ALIGNED(61, 62, 8) VLA(60, 61, 8)
ALLOCA(59, 60, 8)   FIXED(58, 59, 140000) SAVED(57, 58, 8) BARE(56, 57, 8)
DRAP(55, 56, 7)     PUSHED(54, 55, 7)   ALIGNED(53, 54, 7) VLA(52, 53, 7)
ALLOCA(51, 52, 7)   FIXED(50, 51, 33000) SAVED(49, 50, 7)  BARE(48, 49, 7)
DRAP(47, 48, 6)     PUSHED(46, 47, 6)   ALIGNED(45, 46, 6) VLA(44, 45, 6)
ALLOCA(43, 44, 6)   FIXED(42, 43, 32744) SAVED(41, 42, 6)  BARE(40, 41, 6)
DRAP(39, 40, 5)     PUSHED(38, 39, 5)   ALIGNED(37, 38, 5) VLA(36, 37, 5)
ALLOCA(35, 36, 5)   FIXED(34, 35, 4200) SAVED(33, 34, 5)   BARE(32, 33, 5)
DRAP(31, 32, 4)     PUSHED(30, 31, 4)   ALIGNED(29, 30, 4) VLA(28, 29, 4)
ALLOCA(27, 28, 4)   FIXED(26, 27, 4080) SAVED(25, 26, 4)   BARE(24, 25, 4)
DRAP(23, 24, 3)     PUSHED(22, 23, 3)   ALIGNED(21, 22, 3) VLA(20, 21, 3)
ALLOCA(19, 20, 3)   FIXED(18, 19, 200)  SAVED(17, 18, 3)   BARE(16, 17, 3)
DRAP(15, 16, 2)     PUSHED(14, 15, 2)   ALIGNED(13, 14, 2) VLA(12, 13, 2)
ALLOCA(11, 12, 2)   FIXED(10, 11, 24)   SAVED(9, 10, 2)    BARE(8, 9, 2)
DRAP(7, 8, 1)       PUSHED(6, 7, 1)     ALIGNED(5, 6, 1)   VLA(4, 5, 1)
ALLOCA(3, 4, 1)     FIXED(2, 3, 1)      SAVED(1, 2, 1)     BARE(0, 1, 1)

static pthread_barrier_t started;

NOINLINE void *run(void *says)
{
	pthread_barrier_wait(&started);
	if (says)
		ready();
	for (;;)
		after(f0(1, 2, 3, 4, 5, 6, 7, 8));
	return says;
}

int main(void)
{
#ifdef HOT
	pthread_t thread;
	pthread_barrier_init(&started, 0, 2);
	pthread_create(&thread, 0, run, "ready");
	run(0);
#endif
	return (int)after(f0(1, 2, 3, 4, 5, 6, 7, 8));
}
