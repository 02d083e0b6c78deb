// A thread with a stack of about 70 frames of many kinds. On request libunwind walks
// the stack, and the program changes its innermost frames.
// Lines on standard input:
//
//	backtrace N	walk N times by unw_backtrace
//	step N	walk N times by unw_step
//	up N	return from N functions, and call others instead
//
// The answer to each is a line: the nanoseconds for a thousand frames in the fastest of
// many bursts of walks, and the number of frames.
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { limit = 33, most = 256 };

static volatile int sink;
static uint32_t state = 1;

static uint32_t next_random(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 16;
}

static int backtrace_once(void)
{
	void *pcs[most];
	return unw_backtrace(pcs, most);
}

static int step_once(void)
{
	unw_context_t context;
	unw_cursor_t cursor;
	int n = 0;
	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_word_t pc;
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		sink = (int)pc;
		n++;
	} while (unw_step(&cursor) > 0);
	return n;
}

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static __attribute__((noinline)) void measure(int (*walk)(void), int times)
{
	int64_t best = INT64_MAX;
	int frames = 0;
	for (int burst = 0; burst < 50; burst++) {
		int64_t start = now();
		frames = 0;
		for (int i = 0; i < times; i++)
			frames += walk();
		int64_t took = now() - start;
		if (took < best)
			best = took;
	}
	printf("%lld %d\n", (long long)(best * 1000 / frames), frames / times);
	fflush(stdout);
}

// Reads lines until one changes the stack, and returns by how many functions.
static __attribute__((noinline)) int obey(void)
{
	char line[64], word[16];
	while (fgets(line, sizeof line, stdin)) {
		int n;
		if (sscanf(line, "%15s %d", word, &n) != 2)
			exit(2);
		if (strcmp(word, "backtrace") == 0)
			measure(backtrace_once, n);
		else if (strcmp(word, "step") == 0)
			measure(step_once, n);
		else
			return n;
	}
	exit(0);
}

typedef int function(int depth, long a, long b, long c);
static function *const functions[];

// Different values are live across the call, so different registers are saved.
static __attribute__((noinline)) int go_on(int depth, long a, long b, long c);

#define BODY(locals, use)                                               \
	locals;                                                         \
	for (;;) {                                                      \
		int up = go_on(depth + 1, a + 1, b, c);                 \
		use;                                                    \
		if (up > 0)                                             \
			return up - 1;                                  \
	}
#define FUNCTION(name, locals, use)                                     \
	static __attribute__((noinline)) int name(int depth, long a, long b, long c) \
	{                                                               \
		BODY(locals, use)                                       \
	}

FUNCTION(f0, , sink = 0)
FUNCTION(f1, , sink = (int)a)
FUNCTION(f2, , sink = (int)(a + b))
FUNCTION(f3, , sink = (int)(a + b + c))
FUNCTION(f4, volatile char buffer[40]; buffer[0] = 1, sink = buffer[0])
FUNCTION(f5, volatile char buffer[400]; buffer[0] = 1, sink = buffer[0] + (int)a)
FUNCTION(f6, long d = a * b; long e = a * c; long f = b * c, sink = (int)(a + b + c + d + e + f))
FUNCTION(f7, volatile char buffer[a % 64 + 8]; buffer[0] = 1, sink = buffer[0]) // by the frame pointer
FUNCTION(f8, long d = a * 3; volatile char buffer[150]; buffer[0] = 1, sink = (int)d + buffer[0])
FUNCTION(f9, volatile char buffer[b % 32 + 8]; buffer[0] = 1; long d = b + c, sink = buffer[0] + (int)(d + a))

static function *const functions[] = {f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f0, f2, f3, f5, f6, f8};

static __attribute__((noinline)) int go_on(int depth, long a, long b, long c)
{
	if (depth >= limit)
		return obey();
	// One call site for each function, so that return addresses vary as in a real
	// program.
	int up;
#define CALL(n) case n: up = functions[n](depth, a, b, c); sink = n; return up;
	switch (next_random() % 16) {
	CALL(0) CALL(1) CALL(2) CALL(3) CALL(4) CALL(5) CALL(6) CALL(7)
	CALL(8) CALL(9) CALL(10) CALL(11) CALL(12) CALL(13) CALL(14) CALL(15)
	}
	return 0;
}

int main(void)
{
	for (;;)
		go_on(0, 1, 2, 3);
}
