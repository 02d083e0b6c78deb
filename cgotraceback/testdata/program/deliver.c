// Delivers many SIGPROF to threads that run C and C++ code of all kinds, and compares the walk
// of each with what stepping through the code has shown before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "program.h"
#define CLEW_HIDDEN
#include "../../tables.h"

#if defined(__x86_64__) && !defined(PLAIN)

enum { MOST = 64, TABLE = 1 << 20, APART = 1 << 20 };

extern volatile int sink;
void spin(int n);
extern const char no_cfi_jump[], no_cfi_end[];

// The state of a thread. Positions on the stack are relative to base, or to alternate in a
// handler on the alternate stack.
static __thread uint64_t base, alternate_base, return_to;
static __thread volatile int inside;
static __thread int suffix_length;
static __thread uint64_t suffix[MOST]; // the frames outside of deliver_work
static __thread jmp_buf *target;
static __thread volatile int cut_here; // the stack is overwritten
static __thread volatile int leaping;  // longjmp replaces the registers

// known is the set of what stepping has shown: places, and places with their frames.
static uint64_t known[TABLE];

static volatile int stepping;
static long wanted;
static _Atomic(long) deliveries, compared, unknown, outside, wrong;
static struct sigaction go_action; // of SIGPROF

static uint64_t mix(uint64_t h, uint64_t v) {
	h = (h ^ v) * 0x9e3779b97f4a7c15;
	return h ^ h >> 29;
}

static int has(uint64_t h) {
	for (uint64_t i = h % TABLE; known[i]; i = (i + 1) % TABLE)
		if (known[i] == h)
			return 1;
	return 0;
}

static void add(uint64_t h) {
	uint64_t i = h % TABLE;
	while (known[i] && known[i] != h)
		i = (i + 1) % TABLE;
	known[i] = h;
}

// place_of hashes where the thread is.
static uint64_t place_of(uint64_t pc, uint64_t sp) {
	uint64_t below = base - sp;
	if (below > APART)
		below = APART + alternate_base - sp;
	return mix(mix(1, pc), below);
}

static int walk_at(void *context, uintptr_t *buf) {
	struct clew_traceback_arg a = {0, (uintptr_t)context, buf, MOST};
	buf[0] = 0;
	clew_traceback(&a);
	int n = 0;
	while (n < MOST && buf[n])
		n++;
	return n;
}

// frames_of hashes the frames within deliver_work, or all if they do not lead out of it.
static uint64_t frames_of(uint64_t place, const uintptr_t *buf, int n, int *whole) {
	int inner = n - suffix_length;
	*whole = inner >= 0 && memcmp(buf + inner, suffix, suffix_length * sizeof *suffix) == 0;
	uint64_t h = mix(place, *whole);
	for (int i = 0; i < (*whole ? inner : n); i++)
		h = mix(h, buf[i]);
	return h | 1;
}

// on_begin finds the frames outside of deliver_work. The signal is sent in it.
static void on_begin(int number, siginfo_t *info, void *context) {
	(void)number;
	(void)info;
	uintptr_t buf[MOST];
	int n = walk_at(context, buf), first = 0;
	while (first < n && buf[first] != return_to - CLEW_CALL)
		first++;
	suffix_length = n - first;
	for (int i = first; i < n; i++)
		suffix[i - first] = buf[i];
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

__attribute__((noinline)) static void leap(int n) {
	deliver_here();
	if (n == 0) {
		leaping = 1;
		longjmp(*target, 1);
	}
	leap(n - 1);
	sink++;
}

static volatile int sent_number; // 0 while stepping
static volatile int sent_count = 1;

// deliver_here sends signals that are delivered at once, where the system call returns to. While
// stepping it only jumps there.
__attribute__((noinline)) void deliver_here(void) {
	int number = sent_number, count = sent_count, self = getpid(), thread = gettid();
	for (int i = 0; i < count; i++) {
		long result = SYS_tgkill;
		__asm__ volatile("test %%edx, %%edx; jz 1f; syscall; 1: nop" : "+a"(result) : "D"(self), "S"(thread), "d"(number) : "rcx", "r11", "memory", "cc");
	}
	sink++;
}

// overwritten destroys the frames of its callers for a while.
__attribute__((noinline)) static void overwritten(void) {
	volatile uint64_t here[1];
	volatile uint64_t *p = here;
	uint64_t saved[16];
	for (int i = 0; i < 16; i++)
		saved[i] = p[i];
	cut_here = 1;
	for (int i = 1; i < 16; i++)
		if (&p[i] < (volatile uint64_t *)saved || &p[i] >= (volatile uint64_t *)saved + 16)
			p[i] = 0x4141414141414141;
	deliver_here();
	for (int i = 1; i < 16; i++)
		if (&p[i] < (volatile uint64_t *)saved || &p[i] >= (volatile uint64_t *)saved + 16)
			p[i] = saved[i];
	cut_here = 0;
	sink++;
}

static inline void step_on(void) { __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq; nop" ::: "memory", "cc"); }

static void on_alternate(int number, siginfo_t *info, void *context) {
	(void)number;
	(void)info;
	(void)context;
	alternate_base = (uint64_t)__builtin_frame_address(0);
	if (stepping)
		step_on();
	deliver_here();
	sink++;
}

__attribute__((noinline)) static void deliver_all(void) {
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
	struct tm tm;
	time_t t = 1e9;
	gmtime_r(&t, &tm);
	strftime(text, sizeof text, "%A %c", &tm);
	jmp_buf b;
	target = &b;
	if (setjmp(b) == 0)
		leap(4);
	leaping = 0;
	cpp_throw(3);
	cpp_deliver(3);
	no_cfi_short(8);
	static void (*volatile called)(int) = no_cfi_short;
	called(8); // the instruction does not show which function it calls
	overwritten();
	pthread_kill(pthread_self(), SIGUSR1);
	sink++;
}

// The reference. seen is the stack of the calls that stepping has seen.
struct call { uint64_t slot, back; };
static struct call seen[256];
static int depth;
static uint64_t last_pc, last_sp;
static long steps, mistaken;

static void on_step(int number, siginfo_t *info, void *context) {
	(void)number;
	(void)info;
	ucontext_t *c = context;
	uint64_t pc = c->uc_mcontext.gregs[REG_RIP], sp = c->uc_mcontext.gregs[REG_RSP];
	if (!stepping) {
		c->uc_mcontext.gregs[REG_EFL] &= ~0x100;
		return;
	}
	int away = base - sp > APART;
	static int was_away, main_depth;
	if (away && !was_away)
		main_depth = depth; // the calls of the handler come on top
	if (!away && was_away)
		depth = main_depth;
	while (depth > (away ? main_depth : 0) && seen[depth - 1].slot < sp)
		depth--;
	uint64_t back = *(uint64_t *)sp;
	if (last_pc && away == was_away && sp == last_sp - 8 && back > last_pc && back <= last_pc + 7 && depth < 256)
		seen[depth++] = (struct call){sp, back};
	was_away = away;
	last_pc = pc;
	last_sp = sp;
	steps++;
	uintptr_t buf[MOST];
	int n = walk_at(context, buf), whole;
	uint64_t place = place_of(pc, sp), frames = frames_of(place, buf, n, &whole);
	int inner = n - suffix_length, at = 1, good = n > 0 && buf[0] == pc;
	for (int i = depth; i > (away ? main_depth : 0) && at < n && good; i--)
		good = buf[at++] == seen[i - 1].back - CLEW_CALL;
	if (away) { // the trampoline, and the instruction that was interrupted
		at += inner == main_depth + 2 ? 1 : 2; // at the trampoline itself
		for (int i = main_depth; i > 0 && at < n && good; i--)
			good = buf[at++] == seen[i - 1].back - CLEW_CALL;
	}
	// After a tail call nothing shows that the code, which has no call frame information, has a frame.
	int may_end = cut_here || (pc >= (uint64_t)no_cfi_jump && pc < (uint64_t)no_cfi_end);
	if (!may_end && at != inner)
		good = 0;
	if (!good || (!whole && !may_end)) {
		mistaken++;
		Dl_info d = {0};
		dladdr((void *)pc, &d);
		fprintf(stderr, "mistaken%s at %s+%#lx, %d calls, %d frames\n", leaping ? " in longjmp" : "", d.dli_fname, (char *)pc - (char *)d.dli_fbase, depth, n);
	}
	add(place);
	add(frames);
}

// on_profile compares a walk, and then does what the runtime does for SIGPROF.
static void on_profile(int number, siginfo_t *info, void *context) {
	ucontext_t *c = context;
	if (inside) {
		uintptr_t buf[MOST];
		int n = walk_at(context, buf), whole;
		uint64_t place = place_of(c->uc_mcontext.gregs[REG_RIP], c->uc_mcontext.gregs[REG_RSP]);
		uint64_t frames = frames_of(place, buf, n, &whole);
		if (has(frames))
			compared++;
		else if (has(place)) {
			if (wrong++ < 10) {
				fprintf(stderr, "wrong, whole %d:", whole);
				for (int i = 0; i < n; i++)
					fprintf(stderr, " %lx", (long)buf[i]);
				fprintf(stderr, "\n");
			}
		} else
			unknown++;
	} else
		outside++;
	deliveries++;
	info->si_code = SI_TKILL; // the runtime omits those of other timers than its own
	go_action.sa_sigaction(number, info, context);
}

static void set(int number, void (*function)(int, siginfo_t *, void *)) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = function;
	a.sa_flags = SA_ONSTACK | SA_SIGINFO | SA_RESTART;
	sigaction(number, &a, 0);
}

// deliver_work runs everything once.
__attribute__((noinline)) static void deliver_work(void) {
	base = (uint64_t)__builtin_frame_address(0);
	return_to = (uint64_t)__builtin_return_address(0);
	if (suffix_length < 0)
		pthread_kill(pthread_self(), SIGUSR2);
	inside = 1;
	if (stepping)
		step_on();
	deliver_all();
	stepping = 0;
	inside = 0;
	sink++;
}

// deliver_reference steps through the work.
int deliver_reference(long n) {
	wanted = n;
	set(SIGUSR1, on_alternate);
	set(SIGUSR2, on_begin);
	suffix_length = -1;
	deliver_work(); // resolves functions
	sigset_t all, before;
	sigfillset(&all);
	sigdelset(&all, SIGTRAP);
	sigdelset(&all, SIGUSR1);
	sigdelset(&all, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	struct sigaction old;
	sigaction(SIGTRAP, 0, &old);
	set(SIGTRAP, on_step);
	suffix_length = -1;
	for (volatile int i = 0; i < 2; i++) { // not unrolled: the call has one address
		stepping = 1;
		depth = 0;
		last_pc = 0;
		deliver_work();
	}
	sigaction(SIGTRAP, &old, 0);
	sigaction(SIGPROF, 0, &go_action);
	set(SIGPROF, on_profile);
	sent_number = SIGPROF;
	sent_count = 50;
	pthread_sigmask(SIG_SETMASK, &before, 0);
	fprintf(stderr, "%ld steps, %ld mistaken\n", steps, mistaken);
	return go_action.sa_sigaction != NULL;
}

// deliver runs the work, while a timer interrupts it, until all signals are delivered.
void deliver(void) {
	suffix_length = -1;
	deliver_work();
	struct sigevent e;
	memset(&e, 0, sizeof e);
	e.sigev_notify = SIGEV_THREAD_ID;
	e.sigev_signo = SIGPROF;
	e._sigev_un._tid = gettid();
	timer_t timer;
	if (timer_create(CLOCK_MONOTONIC, &e, &timer) != 0)
		abort();
	struct itimerspec often = {{0, 100000}, {0, 100000}};
	timer_settime(timer, 0, &often, NULL);
	suffix_length = -1;
	while (deliveries < wanted)
		deliver_work();
	timer_delete(timer);
}

static void *only_deliver(void *nothing) {
	stack_t alternate = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	sigaltstack(&alternate, NULL);
	deliver();
	return nothing;
}

// deliver_in_thread delivers in a thread that never runs Go.
void deliver_in_thread(void) {
	pthread_t t;
	if (pthread_create(&t, 0, only_deliver, NULL) != 0)
		abort();
	pthread_join(t, 0);
}

void deliver_report(void) {
	fprintf(stderr, "%ld deliveries, %ld compared, %ld unknown, %ld outside, %ld wrong\n",
		(long)deliveries, (long)compared, (long)unknown, (long)outside, (long)wrong);
}

#else
void deliver_here(void) {}
int deliver_reference(long n) { (void)n; return 0; }
void deliver(void) {}
void deliver_in_thread(void) {}
void deliver_report(void) {}
#endif
