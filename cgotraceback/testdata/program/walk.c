// Calls the functions of package cgotraceback directly: to measure a walk in a signal handler,
// and to walk by damaged tables.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#ifndef PLAIN
#include <unwind.h>
#endif

#include "program.h"
#define CLEW_HIDDEN
#include "../../tables.h"


extern volatile int sink;
static long rounds;
static double best, libgcc;
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

#ifndef PLAIN
static _Unwind_Reason_Code one_more(struct _Unwind_Context *context, void *n) {
	(void)context;
	return ++*(int *)n == found ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// by_libgcc walks as many frames as walk does, and the handler's.
static void by_libgcc(void *context) {
	(void)context;
	int n = 0;
	_Unwind_Backtrace(one_more, &n);
}
#endif

static double measured(void (*function)(void *), void *context) {
	double best = 0;
	for (int batch = 0; batch < 20; batch++) {
		double start = now();
		for (long i = 0; i < rounds; i++)
			function(context);
		double each = (now() - start) / rounds;
		if (best == 0 || each < best)
			best = each;
	}
	return best;
}

static void measure(void *context) {
	best = measured(walk, context);
#ifndef PLAIN
	libgcc = measured(by_libgcc, context);
#endif
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

// mutate walks and names by damaged tables of the program.
static void mutate(void *context) {
	struct clew_list *real = clew_current(), list = *real;
	static struct clew_module modules[256]; // the stack of a handler is small
	long accepted = 0;
	if (real->module_count > 256)
		return;
	list.modules = modules;
	static struct clew_step steps[CLEW_STEPS];
	const struct clew_head *heads[3] = {(void *)real->modules[0].unwind, (void *)real->modules[0].names, (void *)real->modules[0].lines};
	for (long i = 0; i < rounds; i++) {
		const struct clew_head *h = heads[i % 3];
		if (h == NULL)
			continue;
		// The copy ends at a page that cannot be read.
		size_t mapped = (h->size + 8191) & ~4095UL;
		uint8_t *memory = mmap(0, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			abort();
		mprotect(memory + mapped - 4096, 4096, PROT_NONE);
		uint8_t *copy = memory + ((mapped - 4096 - h->size) & ~7UL);
		memcpy(copy, h, h->size);
		damage(copy, h->size, i % 3 == 0 ? 6 : i % 3 == 1 ? 1 : 3);
		memcpy(copy + 4, &h->size, 4);
		if (clew_check(copy, h->size)) {
			accepted++;
			memcpy(modules, real->modules, real->module_count * sizeof *modules);
			switch (i % 3) {
			case 0: modules[0].unwind = (void *)copy; break;
			case 1: modules[0].names = (void *)copy; break;
			case 2: modules[0].lines = (void *)copy; break;
			}
			memset(steps, 0, sizeof steps);
			list.steps = i % 2 ? steps : NULL;
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
		munmap(memory, mapped);
	}
	printf("%ld accepted\n", accepted);
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
	printf("%d frames %.0f ns, libgcc %.0f ns\n", found, best, libgcc);
	fflush(stdout);
}

void walk_mutants(int n) {
	rounds = n;
	with(mutate, 12);
	fflush(stdout);
}

#if defined(__x86_64__) && !defined(PLAIN)
// walk_steps steps through code of the C and C++ libraries, and walks at each instruction. The
// walk must be equal to the calls that were seen.

struct call { uint64_t slot, back; }; // where the return address is, and what it is

static struct call seen[256];
static int depth;
static uint64_t last_pc, last_sp, base_sp;
static long steps, wrong, lost;
static volatile int stop, leaping;

static void on_step(int number, siginfo_t *info, void *context) {
	(void)number;
	(void)info;
	ucontext_t *c = context;
	uint64_t pc = c->uc_mcontext.gregs[REG_RIP], sp = c->uc_mcontext.gregs[REG_RSP];
	if (stop) {
		c->uc_mcontext.gregs[REG_EFL] &= ~0x100;
		return;
	}
	if (base_sp == 0)
		base_sp = sp;
	while (depth > 0 && seen[depth - 1].slot < sp)
		depth--;
	uint64_t back = *(uint64_t *)sp;
	if (last_pc && sp == last_sp - 8 && back > last_pc && back <= last_pc + 7 && (pc < last_pc || pc > last_pc + 15) && depth < 256)
		seen[depth++] = (struct call){sp, back};
	last_pc = pc;
	last_sp = sp;
	steps++;
	uintptr_t buf[64] = {0};
	struct clew_traceback_arg a = {0, (uintptr_t)context, buf, 64};
	clew_traceback(&a);
	int n = 0;
	while (n < 64 && buf[n])
		n++;
	int good = n > 0 && buf[0] == pc, whole = 1;
	for (int i = 1; i <= depth && i < 64 && good && whole; i++) {
		if (i >= n)
			whole = 0;
		else if (buf[i] != seen[depth - i].back - 1)
			good = 0;
	}
	if (!good || !whole) {
		long *which = good ? &lost : &wrong;
		if (++*which <= 1000) {
			Dl_info d = {0};
			dladdr((void *)pc, &d);
			fprintf(stderr, "%s%s at %s+%#lx, depth %d, frames %d\n", good ? "cut" : "wrong", leaping ? " in longjmp" : "", d.dli_fname, (char *)pc - (char *)d.dli_fbase, depth, n);
		}
	}
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static jmp_buf *target;

__attribute__((noinline)) static void leap(int n) {
	if (n == 0) {
		leaping = 1;
		longjmp(*target, 1);
	}
	leap(n - 1);
	sink++;
}

__attribute__((noinline)) static void work(void) {
	int numbers[20];
	char text[200];
	for (int i = 0; i < 20; i++)
		numbers[i] = i * 7 % 20;
	qsort(numbers, 20, sizeof numbers[0], compare);
	snprintf(text, sizeof text, "%d %s %f %.3g", numbers[3], "text", 1.25, 1e10);
	sink += strlen(text) + strtod("1.5e3", NULL);
	void *memory = malloc(5000);
	memset(memory, 1, 5000);
	free(realloc(memory, 50000));
	jmp_buf b;
	target = &b;
	if (setjmp(b) == 0)
		leap(4);
	leaping = 0;
	cpp_throw(3);
	struct tm tm;
	time_t t = 1e9;
	gmtime_r(&t, &tm);
	strftime(text, sizeof text, "%A %c", &tm);
	sink++;
}

__attribute__((noinline)) void walk_steps(void) {
	work(); // resolves functions
	steps = 0;
	struct sigaction a, old;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = on_step;
	a.sa_flags = SA_ONSTACK | SA_SIGINFO;
	sigset_t all, before;
	sigfillset(&all);
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	sigaction(SIGTRAP, &a, &old);
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
	work();
	stop = 1;
	sink++;
	sigaction(SIGTRAP, &old, 0);
	pthread_sigmask(SIG_SETMASK, &before, 0);
	printf("%ld steps, %ld wrong, %ld cut\n", steps, wrong, lost);
	fflush(stdout);
}
#else
void walk_steps(void) { printf("0 steps\n"); }
#endif
