// A program that waits, linked with the functions of functions.s.
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) static void wait(void) {
	puts("ready");
	fflush(stdout);
	sleep(600); // it must not outlive a benchmark that died
}

int main(void) {
	wait();
	return 0;
}
