/* A program that signals interrupt, on its own stack and on another, and that jumps out
   of functions. It prints nothing and exits with 0. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int handled;
static jmp_buf back;

__attribute__((noinline)) static int deeper(int n) { return n > 0 ? deeper(n - 1) + handled : handled; }

static void handler(int number)
{
	char text[32];
	memset(text, number, sizeof text);
	handled += deeper(3) + text[number % 32];
}

__attribute__((noinline)) static void jump(int n)
{
	if (n == 0)
		longjmp(back, 1);
	jump(n - 1);
	handled++;
}

int main(void)
{
	static char other[65536];
	stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
	struct sigaction action = {.sa_handler = handler};
	sigaltstack(&stack, 0);
	sigaction(SIGUSR1, &action, 0);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, 0);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	if (setjmp(back) == 0)
		jump(5);
	free(malloc(100));
	return handled == 0;
}
