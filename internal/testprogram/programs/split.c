// A program with split stacks (gcc -fsplit-stack): libgcc's __morestack runs functions on
// further pieces of stack.
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline, no_split_stack)) static void wait_in_deepest(void) {
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

__attribute__((noinline)) int down(int n) {
	volatile char buffer[4000];
	buffer[n] = 1;
	if (n == 0) {
		wait_in_deepest();
		return buffer[0];
	}
	return down(n - 1) + buffer[n];
}

int main(void) { return down(100); }
