/* The C half of the program that TestWalk builds: it walks its stack with the
   C runtime's unwinder from below the generated functions of publish.go, and
   has a place for a debugger to stop.

	go build -buildmode=c-archive -o publish.a publish.go
	gcc -g -rdynamic -fno-omit-frame-pointer -o walk walk.c publish.a -lpthread -ldl */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

extern void generate(uintptr_t *inner, uintptr_t *outer);

static uintptr_t inner, outer;
static int main_seen;

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *p) {
	uintptr_t ip = _Unwind_GetIP(context) - 1;
	const char *name = "?";
	Dl_info i;
	(void)p;
	if (main_seen)
		return _URC_NO_REASON;
	if (ip >= inner && ip < inner + 64)
		name = "inner";
	else if (ip >= outer && ip < outer + 64)
		name = "outer";
	else if (dladdr((void *)ip, &i) && i.dli_sname)
		name = i.dli_sname;
	printf(" %s", name);
	main_seen = !strcmp(name, "main");
	return _URC_NO_REASON;
}

void stop_here(void) {
	printf("libgcc:");
	_Unwind_Backtrace(frame, NULL);
	printf("\n");
}

int through(void) {
	((void (*)(void (*)(void), uintptr_t))outer)(stop_here, inner);
	return 0; /* so that outer is called, and not jumped to */
}

int main(void) {
	generate(&inner, &outer);
	return through();
}
