// Calls the functions of package cgotraceback directly: to measure a walk in a signal handler,
// and to walk by damaged tables.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "program.h"
#define CLEW_HIDDEN
#include "../../tables.h"

extern volatile int sink;
static long rounds;
static double best; // ns
static int found;
static void (*in_handler)(void *context);

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void handler(int number, siginfo_t *info, void *context) {
	(void)number;
	(void)info;
	in_handler(context);
}

static void walk(void *context) {
	uintptr_t buf[64];
	struct clew_traceback_arg a = {0, (uintptr_t)context, buf, 64};
	clew_traceback(&a);
	for (found = 0; found < 64 && buf[found]; found++)
		;
}

static void measure(void *context) {
	for (int batch = 0; batch < 20; batch++) {
		double start = now();
		for (long i = 0; i < rounds; i++)
			walk(context);
		double each = (now() - start) / rounds;
		if (best == 0 || each < best)
			best = each;
	}
}

static uint32_t state = 1;

static uint32_t any(void) {
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

// damage changes some bytes, most of them in one array of a table.
static void damage(uint8_t *p, uint32_t size, uint32_t arrays) {
	static const uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff8, 256};
	struct clew_array a;
	memcpy(&a, p + sizeof(struct clew_head) + any() % arrays * sizeof a, sizeof a);
	uint32_t most = a.count < 64 ? a.count : any() % 4 ? a.count : 64;
	for (uint32_t n = 1 + any() % 512; n > 0; n--) {
		uint32_t at = any() % 64 == 0 ? any() % 80 : a.offset + (most ? any() % most : 0) * (1 + any() % 16);
		if (at + 4 > size)
			continue;
		if (any() % 2)
			p[at] = any();
		else
			memcpy(p + (at & ~3u), &words[any() % 7], 4);
	}
}

// mutants are copies of tables of the program: of rules, names and lines, in turn.
static int kind;
static void *mutated;

static const struct clew_head *original(int n) {
	const struct clew_module *m = &clew_current()->modules[0];
	kind = n % 3;
	return kind == 0 ? (void *)m->unwind : kind == 1 ? (void *)m->names : (void *)m->lines;
}

// walk_mutant returns a damaged table, and its size. The copy ends at a page that cannot be read.
void *walk_mutant(int n, uint32_t *size) {
	const struct clew_head *h = original(n);
	if (h == NULL)
		return NULL;
	size_t mapped = (h->size + 8191) & ~4095UL;
	uint8_t *memory = mmap(0, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	mprotect(memory + mapped - 4096, 4096, PROT_NONE);
	uint8_t *copy = memory + ((mapped - 4096 - h->size) & ~7UL);
	memcpy(copy, h, h->size);
	damage(copy, h->size, kind == 0 ? 6 : kind == 1 ? 1 : 3);
	memcpy(copy + 4, &h->size, 4);
	*size = h->size;
	return mutated = copy;
}

void walk_free_mutant(uint32_t size) { munmap((void *)((uintptr_t)mutated & ~4095UL), (size + 8191) & ~4095UL); }

// mutate walks and names by a damaged table.
static void mutate(void *context) {
	struct clew_list *real = clew_current(), list = *real;
	static struct clew_module modules[256]; // the stack of a handler is small
	static struct clew_step steps[CLEW_STEPS];
	if (real->module_count > 256)
		abort();
	memcpy(modules, real->modules, real->module_count * sizeof *modules);
	switch (kind) {
	case 0: modules[0].unwind = mutated; break;
	case 1: modules[0].names = mutated; break;
	case 2: modules[0].lines = mutated; break;
	}
	list.modules = modules;
	memset(steps, 0, sizeof steps);
	list.steps = any() % 2 ? steps : NULL;
	clew_publish(&list);
	uintptr_t buf[32] = {0};
	struct clew_traceback_arg a = {0, (uintptr_t)context, buf, 32};
	clew_traceback(&a);
	clew_traceback(&a); // by the steps of the first one
	for (int j = 0; j < 32 && buf[j]; j++) {
		struct clew_symbolizer_arg s = {.pc = buf[j]};
		int calls = 0;
		do {
			clew_symbolizer(&s);
			if (s.function)
				sink += strlen(s.function);
			if (s.file)
				sink += strlen(s.file);
		} while (s.more && ++calls < 10000);
	}
	clew_publish(real);
}

__attribute__((noinline)) void deep(int n) {
	if (n > 0)
		deep(n - 1);
	else
		pthread_kill(pthread_self(), SIGUSR2);
	sink++;
}

static void with(void (*function)(void *), int depth) {
	struct sigaction a, old;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = handler;
	a.sa_flags = SA_ONSTACK | SA_SIGINFO;
	in_handler = function;
	sigaction(SIGUSR2, &a, &old);
	deep(depth);
	sigaction(SIGUSR2, &old, 0);
}

void walk_bench(int depth) {
	rounds = 2000;
	with(measure, depth);
	printf("%d frames %.0f ns\n", found, best);
	fflush(stdout);
}

// walk_by_mutant walks and names by the last mutant.
void walk_by_mutant(void) { with(mutate, 12); }
