#define _GNU_SOURCE
#include <sys/auxv.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "program.h"
#include "_cgo_export.h"

volatile int sink;
volatile int *nowhere;
static void (*volatile null)(void);

// add takes most of the time of spin.
static inline __attribute__((always_inline)) void add(int i) {
	for (int k = 0; k < 16; k++)
		sink += i + k;
}

__attribute__((noinline)) void spin(int n) {
	for (int i = 0; i < n; i += 16)
		add(i);
}

static inline __attribute__((always_inline)) void store(volatile int *p) { sink++; *p = 1; }

__attribute__((noinline)) void crash(void) {
	store(nowhere);
	sink++;
}

__attribute__((noinline)) int overflow(int n) {
	volatile char big[256];
	big[n & 255] = n;
	return overflow(n + 1) + big[n & 255];
}

// Overwrites its caller's return address.
__attribute__((noinline)) void overwrite(void) {
	volatile uintptr_t here[1];
	volatile uintptr_t *p = here;
	for (int i = 0; i < 24; i++)
		p[i] = 0x4141414141414141;
	crash();
}

static void on_signal(int number) {
	(void)number;
	crash();
}

__attribute__((noinline)) void raise_signal(void) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_handler = on_signal;
	a.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &a, 0);
	pthread_kill(pthread_self(), SIGUSR2);
	sink++;
}

static __thread jmp_buf *mine;

__attribute__((noinline)) void jump(int n) {
	spin(1000);
	if (n == 0)
		longjmp(*mine, 1);
	jump(n - 1);
	sink++;
}

__attribute__((noinline)) void jumps(void) {
	for (int i = 0; i < 100; i++) {
		jmp_buf b;
		mine = &b;
		if (setjmp(b) == 0)
			jump(i % 8);
	}
}

static void on_alternate(int number) {
	(void)number;
	spin(100000);
}

__attribute__((noinline)) void alternate(void) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_handler = on_alternate;
	a.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &a, 0);
	for (int i = 0; i < 10; i++)
		pthread_kill(pthread_self(), SIGUSR1);
}

static void *thread(void *kind) {
	goMiddle((int)(intptr_t)kind);
	return 0;
}

__attribute__((noinline)) void in_thread(int kind) {
	pthread_t t;
	if (pthread_create(&t, 0, thread, (void *)(intptr_t)kind) != 0)
		abort();
	pthread_join(t, 0);
}

static int turn(int n);

static inline __attribute__((always_inline)) int half(int n) {
	int r = turn(n - 1);
	sink += r;
	return r + 1;
}

// turn calls itself directly, and in an inlined call, in turn.
__attribute__((noinline)) static int turn(int n) {
	int r = 0;
	if (n == 0)
		spin(100000);
	else if (n & 1)
		r = half(n);
	else
		r = turn(n - 1);
	sink += r * 3;
	return r + 2;
}

__attribute__((noinline)) void turns(void) {
	for (int i = 0; i < 20; i++)
		sink += turn(i);
}

__attribute__((noinline)) void after_go(void) {
	for (int i = 0; i < 10000000; i++)
		sink += i;
}

static void *returned(void *unused) {
	goCount();
	after_go();
	sink++;
	return unused;
}

__attribute__((noinline)) void tail(void) { null(); }

__attribute__((noinline)) void c_inner(int kind) {
	switch (kind) {
	case SEGV: crash(); break;
	case ABORT: abort();
	case OVERFLOW: sink = overflow(0); break;
	case OVERWRITE: overwrite(); break;
	case NULL_CALL: null(); break;
	case TAIL: tail(); break;
	case HANDLER: raise_signal(); break;
	case TRAP: __builtin_trap();
	case NO_CFI: case SPIN_NO_CFI: no_cfi_outer(kind); break;
	case JUMP: jumps(); break;
	case ALTERNATE: alternate(); break;
	case DELIVER: deliver(); break;
	case RECURSION: turns(); break;
	case HANG: for (;;) spin(1000000);
	default: spin(1000000);
	}
	sink++;
}

static void *only_c(void *n) {
	spin((int)(intptr_t)n);
	sink++;
	return 0;
}

__attribute__((noinline)) void c_outer(int kind) {
	if (kind == CALLERS)
		goCallers();
	else if (kind == PANIC)
		goPanic();
	else if (kind == C_THREAD || kind == RETURNED) {
		pthread_t t;
		if (pthread_create(&t, 0, kind == RETURNED ? returned : only_c, (void *)10000000) == 0)
			pthread_join(t, 0);
	} else if (kind == THREAD)
		in_thread(SPIN);
	else
		goMiddle(kind);
	sink++;
}

void *load(const char *path) {
	void *library = dlopen(path, RTLD_NOW);
	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
	return library;
}

void *find(void *library) { return dlsym(library, "library_call"); }

int call_library(void *library) {
	void (*function)(void (*)(void)) = (void (*)(void (*)(void)))find(library);
	if (function == NULL)
		return 0;
	function((void (*)(void))goCallers);
	return 1;
}

// small_stack calls Go on a stack that has size bytes below the call, at the end of memory.
static void small_stack(int size) {
	char *stack = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = stack + (1 << 20) - 4096;
	mprotect(end, 4096, PROT_NONE);
	void **top = (void **)(end - size);
#ifdef __x86_64__
	__asm__ volatile("movq %%rsp, (%0)\n\tmovq %0, %%rsp\n\tcall goCount\n\tmovq (%%rsp), %%rsp" : : "b"(top)
		: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
#else
	__asm__ volatile("mov x19, sp\n\tmov sp, %0\n\tbl goCount\n\tmov sp, x19" : : "r"(top)
		: "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
		  "x16", "x17", "x18", "x19", "x30", "memory", "cc");
#endif
	munmap(stack, 1 << 20);
}

static void *small_stack_thread(void *size) {
	small_stack((int)(intptr_t)size);
	return NULL;
}

// on_small_stack uses a thread of C: on one of Go's the runtime requires its own stack.
void on_small_stack(int size) {
	pthread_t t;
	if (pthread_create(&t, 0, small_stack_thread, (void *)(intptr_t)size) == 0)
		pthread_join(t, 0);
}

void unload(void *library) { dlclose(library); }


static void *spin_alternate(void *unused) {
	char *memory = mmap(NULL, 32768, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(memory + 16384, 16384, PROT_READ | PROT_WRITE);
	stack_t stack = {.ss_sp = memory + 16384, .ss_size = getauxval(51) + 400}; // AT_MINSIGSTKSZ
	if (sigaltstack(&stack, NULL) != 0)
		abort();
	for (int i = 0; i < 50; i++) {
		for (volatile int k = 0; k < 100000; k++)
			;
		pthread_kill(pthread_self(), SIGPROF);
	}
	return NULL;
}

// on_small_alternate_stack gets signals on a stack that is little larger than the kernel needs.
void on_small_alternate_stack(void) {
	pthread_t thread;
	if (pthread_create(&thread, NULL, spin_alternate, NULL) != 0)
		abort();
	pthread_join(thread, NULL);
}
