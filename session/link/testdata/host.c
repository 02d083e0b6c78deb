// A program that holds code which a test has linked: it maps what the plan on
// its standard input says, and calls it. Built by
//
//	gcc -g -fpie -pie -fno-stack-protector -o host host.c
//
// Lines of a plan, with numbers in hexadecimal:
//
//	map ADDRESS SIZE PROTECTION FILE
//	elf FILE		for debuggers, as the GDB JIT interface says
//	tls OFFSET SIZE FILE	thread-local variables, from the thread pointer
//	call ADDRESS		prints the result, in decimal
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct entry {
	struct entry *next, *prev;
	const void *symfile;
	uint64_t size;
};

struct {
	uint32_t version, action;
	struct entry *relevant, *first;
} __jit_debug_descriptor = {1, 0, 0, 0};

void __attribute__((noinline)) __jit_debug_register_code(void) { __asm__ volatile("" ::: "memory"); }

// slurp reads a file to p, which it allocates if it is null.
static void *slurp(const char *name, void *p, size_t *size) {
	FILE *f = fopen(name, "rb");
	if (!f) {
		perror(name);
		exit(2);
	}
	fseek(f, 0, SEEK_END);
	*size = ftell(f);
	rewind(f);
	if (!p)
		p = malloc(*size + 1);
	if (fread(p, 1, *size, f) != *size)
		exit(2);
	fclose(f);
	return p;
}

// block holds thread-local variables below the pointer on amd64, and above it
// on arm64.
static char block[3 * 65536] __attribute__((aligned(4096)));
static char *const thread = block + 65536;

static long call(long (*f)(void)) {
	long result;
#ifdef __x86_64__
	unsigned long old;
	__asm__ volatile("mov %%fs:0, %0" : "=r"(old));
	*(void **)thread = thread;
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(SYS_arch_prctl), "D"(0x1002), "S"(thread) : "rcx", "r11", "memory");
	result = f();
	__asm__ volatile("syscall" : "=a"(r) : "a"(SYS_arch_prctl), "D"(0x1002), "S"(old) : "rcx", "r11", "memory");
#else
	unsigned long old;
	__asm__ volatile("mrs %0, tpidr_el0\n\tmsr tpidr_el0, %1" : "=&r"(old) : "r"(thread) : "memory");
	result = f();
	__asm__ volatile("msr tpidr_el0, %0" ::"r"(old) : "memory");
#endif
	return result;
}

// Debuggers stop at registered to read the images first.
void __attribute__((noinline)) registered(void) { __asm__ volatile("" ::: "memory"); }

int main(int argc, char **argv) {
	FILE *plan = argc > 1 ? fopen(argv[1], "r") : stdin;
	char line[4096], name[4096];
	unsigned long a, b, c;
	size_t size;
	if (!plan)
		return 2;
	while (fgets(line, sizeof line, plan)) {
		if (sscanf(line, "map %lx %lx %lx %4095s", &a, &b, &c, name) == 4) {
			void *p = mmap((void *)a, b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (p != (void *)a) {
				perror("mmap");
				return 2;
			}
			slurp(name, p, &size);
			mprotect(p, b, c);
			__builtin___clear_cache(p, (char *)p + b);
		} else if (sscanf(line, "elf %4095s", name) == 1) {
			struct entry *e = calloc(1, sizeof *e);
			e->symfile = slurp(name, 0, &size);
			e->size = size;
			e->next = __jit_debug_descriptor.first;
			if (e->next)
				e->next->prev = e;
			__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = e;
			__jit_debug_descriptor.action = 1;
			__jit_debug_register_code();
			__jit_debug_descriptor.action = 0;
		} else if (sscanf(line, "tls %lx %lx %4095s", &a, &b, name) == 3) {
			slurp(name, thread + (long)a, &size);
		} else if (sscanf(line, "call %lx", &a) == 1) {
			registered();
			printf("%ld\n", call((long (*)(void))a));
			fflush(stdout);
		} else {
			fprintf(stderr, "bad line: %s", line);
			return 2;
		}
	}
	return 0;
}
