// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Runs pieces of arm64 code, each from a given state until a signal stops it, and
// prints the resulting states: aarch64-linux-gnu-gcc -O1 -static execute.c.
// Standard input is an array of struct run, standard output one of struct result.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { AREA = 0x8000, BRK = 0xd4200000u };
#define CODE 0x2000000000ul
#define DATA (CODE + AREA)
#define NEAR (CODE + 0x10000)
#define FAR (CODE + 0x4000000)

struct state {
	uint64_t x[31], sp, pc, pstate, v[64];
};
struct run {
	uint64_t at[2], count[2]; // where words are put
	uint32_t words[2][64];
	struct state state;
};
struct result {
	uint64_t signal, code, address, data; // data: a hash of the data
	struct state state;
};

static struct run *runs;
static struct result *results;
static long count, current = -1;

static uint64_t *vectors(ucontext_t *u) {
	char *p = (char *)u->uc_mcontext.__reserved;
	while (((struct _aarch64_ctx *)p)->magic != FPSIMD_MAGIC)
		p += ((struct _aarch64_ctx *)p)->size;
	return (uint64_t *)((struct fpsimd_context *)p)->vregs;
}

static void fill(uint64_t at, uint64_t size, uint32_t word) {
	for (uint64_t i = 0; i < size / 4; i++)
		((uint32_t *)at)[i] = word ? word : i * 0x9e3779b1u;
}

static void everything(const void *p, long n, int out) {
	for (long done = 0; done < n;) {
		long k = out ? write(1, (char *)p + done, n - done) : read(0, (char *)p + done, n - done);
		if (k <= 0)
			_exit(3);
		done += k;
	}
}

static void stopped(int signal, siginfo_t *info, void *context) {
	ucontext_t *u = context;
	mcontext_t *m = &u->uc_mcontext;
	if (current >= 0) {
		struct result *r = &results[current];
		r->signal = signal;
		r->code = info->si_code;
		r->address = (uint64_t)info->si_addr;
		memcpy(r->state.x, m->regs, sizeof r->state.x);
		r->state.sp = m->sp;
		r->state.pc = m->pc;
		r->state.pstate = m->pstate & 0xf0000000;
		memcpy(r->state.v, vectors(u), sizeof r->state.v);
		for (int i = 0; i < AREA / 8; i++)
			r->data = (r->data ^ ((uint64_t *)DATA)[i]) * 0x100000001b3;
	}
	if (++current == count) {
		everything(results, count * sizeof *results, 1);
		_exit(0);
	}
	struct run *n = &runs[current];
	setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {0, 200000}}, 0); // should it never end
	fill(CODE, AREA, BRK);
	fill(NEAR, 0x1000, BRK);
	fill(FAR, 0x1000, BRK);
	fill(DATA, AREA, 0);
	for (int i = 0; i < 2; i++) {
		memcpy((void *)n->at[i], n->words[i], 4 * n->count[i]);
		__builtin___clear_cache((char *)n->at[i], (char *)n->at[i] + 4 * n->count[i]);
	}
	memcpy(m->regs, n->state.x, sizeof n->state.x);
	m->sp = n->state.sp;
	m->pc = n->state.pc;
	m->pstate = (m->pstate & ~0xf0000000ul) | n->state.pstate;
	memcpy(vectors(u), n->state.v, sizeof n->state.v);
}

static void map(uint64_t at, uint64_t size, int protection) {
	if (mmap((void *)at, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != (void *)at)
		_exit(4);
}

// Uses one processor: with QEMU 7.2 a processor can miss that another one has written to code
// that it is about to run for the first time.
static void stay(void) {
	cpu_set_t here;
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof here, &here);
}

int main(void) {
	stay();
	everything(&count, sizeof count, 0);
	runs = calloc(count, sizeof *runs);
	results = calloc(count, sizeof *results);
	everything(runs, count * sizeof *runs, 0);
	map(CODE, AREA, PROT_READ | PROT_WRITE | PROT_EXEC);
	map(DATA, AREA, PROT_READ | PROT_WRITE);
	map(NEAR, 0x1000, PROT_READ | PROT_WRITE | PROT_EXEC);
	map(FAR, 0x1000, PROT_READ | PROT_WRITE | PROT_EXEC);
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	sigaltstack(&stack, 0);
	struct sigaction action = {.sa_sigaction = stopped, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	int signals[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGPROF};
	for (int i = 0; i < 6; i++)
		sigaction(signals[i], &action, 0);
	__asm__ volatile("brk #0");
	return 5;
}
