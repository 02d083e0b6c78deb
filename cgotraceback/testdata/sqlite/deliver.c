// Delivers SIGPROF in a function that SQLite calls. The frames of each walk must be those that
// libgcc finds from there.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>
#define CLEW_HIDDEN
#include "../../tables.h"

enum { MOST = 64, REPEATED = 50 };

static _Atomic(long) wanted, deliveries, wrong;
static struct sigaction go_action; // of SIGPROF
static __thread uintptr_t expected[MOST];
static __thread int expected_count, inside;

static _Unwind_Reason_Code add(struct _Unwind_Context *context, void *data) {
	(void)data;
	uint64_t pc = _Unwind_GetIP(context) - CLEW_CALL;
	const struct clew_list *list = clew_current();
	if (list == NULL || expected_count == MOST || (pc >= list->go_start && pc < list->go_end))
		return _URC_END_OF_STACK;
	expected[expected_count++] = pc;
	return _URC_NO_REASON;
}

static void on_profile(int number, siginfo_t *info, void *context) {
	if (inside) {
		uintptr_t buf[MOST] = {0};
		struct clew_traceback_arg a = {0, (uintptr_t)context, buf, MOST};
		clew_traceback(&a);
		int n = 0;
		while (n < MOST && buf[n])
			n++;
		if (n != expected_count || n < 6 || memcmp(buf + 1, expected + 1, (n - 1) * sizeof *buf) != 0)
			if (wrong++ < 10)
				fprintf(stderr, "%d frames, %d expected\n", n, expected_count);
		deliveries++;
	}
	go_action.sa_sigaction(number, info, context);
}

__attribute__((noinline)) void deliver_here(void) {
	if (deliveries >= wanted)
		return;
	expected_count = 0;
	_Unwind_Backtrace(add, NULL);
	int self = getpid(), thread = gettid();
	inside = 1;
	for (int i = 0; i < REPEATED; i++) {
		long result = SYS_tgkill;
#ifdef __x86_64__
		__asm__ volatile("syscall" : "+a"(result) : "D"(self), "S"(thread), "d"(SIGPROF) : "rcx", "r11", "memory");
#else
		(void)result;
		syscall(SYS_gettid);
#endif
	}
	inside = 0;
}

void deliver_start(long n) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = on_profile;
	a.sa_flags = SA_ONSTACK | SA_SIGINFO | SA_RESTART;
	sigaction(SIGPROF, NULL, &go_action);
	wanted = n;
	sigaction(SIGPROF, &a, NULL);
}

long deliver_done(void) { return deliveries; }
long deliver_wrong(void) { return wrong; }
