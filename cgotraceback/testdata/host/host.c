// A program in C that calls the Go library that testdata/program becomes.
#include <stdio.h>

extern void goRun(char *what);

__attribute__((noinline)) void host(char *what) {
	goRun(what);
	printf("returned\n");
}

int main(int count, char **arguments) {
	goRun("warm"); // the runtime gives no context to a call that began before init functions ran
	if (count > 1)
		host(arguments[1]);
	return 0;
}
