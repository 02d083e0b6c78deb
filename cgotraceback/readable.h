// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// How memory is checked. It is inline, because a return after a system call is slow: the
// kernel has replaced the processor's predictions of it.

#ifndef CLEW_READABLE_H
#define CLEW_READABLE_H

#include <stdint.h>
#include <sys/syscall.h>
#include "tables.h"

// system_call does not set errno, which belongs to the interrupted code.
__attribute__((always_inline)) static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
#ifdef __x86_64__
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		: "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#endif
}

// clew_check_memory reports whether the 8 bytes at an address can be read. The kernel reads
// them as a set of signals, and then refuses to do anything with it. With clew_by_copy the kernel
// copies them, because this rt_sigprocmask does not look at the memory.
__attribute__((always_inline)) CLEW_PLAIN static inline int clew_check_memory(uint64_t address) {
	if (!clew_by_copy)
		return system_call(SYS_rt_sigprocmask, ~0L, (long)address, 0, 8, 0, 0) == -22; // EINVAL, not EFAULT
	uint64_t word;
	struct { void *base; uint64_t size; } here = {&word, 8}, there = {(void *)address, 8};
	long self = system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	return system_call(SYS_process_vm_readv, self, (long)&here, 1, (long)&there, 1, 0) == 8;
}

// clew_equals reports whether the 4 bytes at an address, which is a multiple of 4, have a value. The
// kernel compares them, and then wakes no waiting thread and moves none.
__attribute__((always_inline)) CLEW_PLAIN static inline int clew_equals(uint64_t address, uint32_t value) {
	enum { CMP_REQUEUE_PRIVATE = 4 | 128 }; // musl's headers lack linux/futex.h
	uint32_t other = 0;
	return system_call(SYS_futex, (long)address, CMP_REQUEUE_PRIVATE, 0, 0, (long)&other, value) == 0;
}

#endif
