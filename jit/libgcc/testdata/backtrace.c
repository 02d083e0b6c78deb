// Walks the stack with a given unwinder, in a function that generated code
// calls. gcc -shared -fPIC -O1 -o backtrace.so backtrace.c
#include <stdint.h>

enum { max = 64 };

struct request {
	uintptr_t code;          // to call
	uintptr_t backtrace, ip; // _Unwind_Backtrace, _Unwind_GetIP
	uintptr_t count;
	uintptr_t ips[max];
};

static int step(void *context, void *p) {
	struct request *r = p;
	if (r->count == max)
		return 5; // _URC_END_OF_STACK
	r->ips[r->count++] = ((uintptr_t (*)(void *))r->ip)(context);
	return 0;
}

// The generated code calls leaf.
uintptr_t leaf(struct request *r) {
	r->count = 0;
	return 1000 + ((int (*)(int (*)(void *, void *), void *))r->backtrace)(step, r);
}

// bottom calls the generated code.
__attribute__((noinline)) uintptr_t bottom(struct request *r) {
	return ((uintptr_t (*)(struct request *))r->code)(r) + 1;
}
