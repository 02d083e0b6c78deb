#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#ifdef CGOSYMBOLIZER
void cgoTraceback(void *);
#define TRACEBACK cgoTraceback
#else
void clew_traceback(void *);
#define TRACEBACK clew_traceback
#endif

enum { FRAMES = 20, ROUNDS = 1000, BATCHES = 20 };

static volatile int sink;
static int found;
static double best;
static uintptr_t addresses[32];

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void handler(int number, siginfo_t *info, void *context) {
	(void)number;
	(void)info;
	for (int batch = 0; batch < BATCHES; batch++) {
		double start = now();
		for (int i = 0; i < ROUNDS; i++) {
			struct { uintptr_t context, signal, *buf, max; } a = {0, (uintptr_t)context, addresses, 32};
			TRACEBACK(&a);
		}
		double each = (now() - start) / ROUNDS;
		if (best == 0 || each < best)
			best = each;
	}
	for (found = 0; found < 32 && addresses[found]; found++)
		;
}

__attribute__((noinline)) static void deep(int n) {
	if (n > 0)
		deep(n - 1);
	else
		pthread_kill(pthread_self(), SIGUSR2);
	sink++;
}

// walks returns the time of a walk in nanoseconds.
double walks(int *frames) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = handler;
	a.sa_flags = SA_ONSTACK | SA_SIGINFO;
	sigaction(SIGUSR2, &a, 0);
	deep(FRAMES - 4);
	*frames = found;
	return best;
}
