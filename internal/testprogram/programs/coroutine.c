// A coroutine by makecontext and swapcontext.
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

static ucontext_t caller, coroutine;

__attribute__((noinline)) static void inner(int n) {
	volatile int x = n;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
	x++;
}

__attribute__((noinline)) static void outer(int n) {
	volatile int x = n;
	inner(n + 1);
	x++;
}

static void body(void) {
	volatile int x = 1;
	outer(7);
	x++;
}

int main(void) {
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = malloc(1 << 16);
	coroutine.uc_stack.ss_size = 1 << 16;
	coroutine.uc_link = &caller;
	makecontext(&coroutine, body, 0);
	swapcontext(&caller, &coroutine);
	return 0;
}
