// Maps a file of machine code at an address, registers the files of its symbol
// images through the GDB JIT interface, and calls the code, like a program that
// has generated it. Built by
//
//	gcc -O1 -g -o host host.c
//
// host ADDRESS CODE ENTRY... -- IMAGE...: each ENTRY is an offset in CODE of a
// function that takes a function and calls it. Numbers are hexadecimal.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

static void *load(const char *name, void *at, size_t *size) {
	struct stat st;
	int fd = open(name, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0) {
		perror(name);
		exit(2);
	}
	int fixed = at ? MAP_FIXED_NOREPLACE : 0;
	void *p = mmap(at, st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE | fixed, fd, 0);
	if (p == MAP_FAILED || (at && p != at)) {
		perror("mmap");
		exit(2);
	}
	close(fd);
	*size = st.st_size;
	return p;
}

static void register_image(const char *name) {
	struct entry *e = calloc(1, sizeof *e);
	size_t size;
	e->symfile = load(name, 0, &size);
	e->size = size;
	e->next = __jit_debug_descriptor.first;
	if (e->next)
		e->next->prev = e;
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = e;
	__jit_debug_descriptor.action = 1;
	__jit_debug_register_code();
	__jit_debug_descriptor.action = 0;
}

volatile int calls;

void __attribute__((noinline)) callee(void) { calls++; }

// Debuggers stop at registered, after the images are registered.
void __attribute__((noinline)) registered(void) { __asm__ volatile("" ::: "memory"); }

int main(int argc, char **argv) {
	size_t size;
	char *code = load(argv[2], (void *)strtoull(argv[1], 0, 16), &size);
	int images = 3;
	while (images < argc && strcmp(argv[images], "--") != 0)
		images++;
	for (int i = images + 1; i < argc; i++)
		register_image(argv[i]);
	registered();
	for (int i = 3; i < images; i++)
		((void (*)(void (*)(void)))(code + strtoull(argv[i], 0, 16)))(callee);
	printf("%d calls\n", calls);
	return 0;
}
