// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android && (amd64 || arm64)

// The context function runs at each call from C to Go. It saves a few registers, and copies a
// piece of the stack; the traceback function does the rest when it is called.

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include "tables.h"
#include "context.h"

// Contexts are numbered. They are in chunks, which are mapped when they are needed and kept.
enum { CHUNK = 256, CHUNKS = 256, LISTS = 16, PAGE = 4096 };

static _Atomic(struct clew_saved_context *) chunks[CHUNKS];
static _Atomic(uint32_t) mapped; // chunks

// The free ones are in several lists, so that threads seldom meet. The upper half of a head
// counts changes, the lower half is the number of the first one plus 1.
static struct {
	_Atomic(uint64_t) head;
	uint64_t padding[7];
} lists[LISTS];

enum { NO_CONTEXT = 1 }; // a context for which nothing is saved: 0 would be none at all

// context_at returns the context with a number, or NULL if its chunk is not mapped.
static struct clew_saved_context *context_at(uint32_t number) {
	if (number / CHUNK >= CHUNKS)
		return NULL;
	struct clew_saved_context *chunk = atomic_load(&chunks[number / CHUNK]);
	return chunk ? &chunk[number % CHUNK] : NULL;
}

// free_context puts a context on a list of free ones.
CLEW_PLAIN static void free_context(uint32_t number, struct clew_saved_context *c) {
	_Atomic(uint64_t) *head = &lists[number / CHUNK % LISTS].head;
	uint64_t old = atomic_load(head);
	do
		__atomic_store_n(&c->next, (uint32_t)old, __ATOMIC_RELAXED);
	while (!atomic_compare_exchange_weak(head, &old, ((old >> 32) + 1) << 32 | (number + 1)));
}

// reuse takes a context from a list of free ones.
CLEW_PLAIN static struct clew_saved_context *reuse(unsigned list, uint32_t *number) {
	_Atomic(uint64_t) *head = &lists[list].head;
	uint64_t old = atomic_load(head);
	while ((uint32_t)old != 0) {
		*number = (uint32_t)old - 1;
		struct clew_saved_context *c = context_at(*number);
		uint32_t next = __atomic_load_n(&c->next, __ATOMIC_RELAXED);
		if (atomic_compare_exchange_weak(head, &old, ((old >> 32) + 1) << 32 | next))
			return c;
	}
	return NULL;
}

// map_chunk maps a chunk, and returns its first context.
CLEW_PLAIN static struct clew_saved_context *map_chunk(uint32_t *number) {
	uint32_t index = atomic_fetch_add(&mapped, 1);
	if (index >= CHUNKS) {
		atomic_store(&mapped, CHUNKS);
		return NULL;
	}
	struct clew_saved_context *chunk = mmap(NULL, CHUNK * sizeof *chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk == MAP_FAILED) { // there can be memory later
		uint32_t after = index + 1;
		atomic_compare_exchange_strong(&mapped, &after, index);
		return NULL;
	}
	atomic_store(&chunks[index], chunk);
	*number = index * CHUNK;
	for (uint32_t i = 1; i < CHUNK; i++)
		free_context(*number + i, &chunk[i]);
	return chunk;
}

// clew_saved_context returns the context with a value that clew_context returned, or NULL.
CLEW_PLAIN const struct clew_saved_context *clew_saved_context(uintptr_t context) {
	struct clew_saved_context *c = context_at((uint32_t)context - 2);
	if (context <= NO_CONTEXT || c == NULL || __atomic_load_n(&c->generation, __ATOMIC_ACQUIRE) != context >> 32)
		return NULL;
	return c;
}

// recent has numbers of contexts, plus 1, by a hash of the stack pointer. If Go code panics and the
// caller of the C code recovers, the runtime never releases the context. A later call at the
// same stack pointer shows that, and reuses it.
static _Atomic(uint32_t) recent[1024];

// abandoned returns a context that was saved with a stack pointer, and not released.
CLEW_PLAIN static struct clew_saved_context *abandoned(_Atomic(uint32_t) *slot, uint64_t sp, uint32_t *number) {
	uint32_t n = atomic_load_explicit(slot, memory_order_relaxed);
	struct clew_saved_context *c = n ? context_at(n - 1) : NULL;
	if (c == NULL || !(__atomic_load_n(&c->generation, __ATOMIC_ACQUIRE) & 1) || __atomic_load_n(&c->sp, __ATOMIC_RELAXED) != sp)
		return NULL;
	__atomic_store_n(&c->generation, c->generation + 1, __ATOMIC_RELEASE);
	*number = n - 1;
	return c;
}

// clew_save_context is called by clew_context, in assembly, with the registers of its caller:
// stack pointer, program counter, and those of struct clew_saved_context.
CLEW_HIDDEN CLEW_PLAIN void clew_save_context(struct clew_context_arg *a, const uint64_t *registers) {
	if (a->context != 0) {
		struct clew_saved_context *c = (struct clew_saved_context *)clew_saved_context(a->context);
		if (c != NULL) {
			__atomic_store_n(&c->generation, c->generation + 1, __ATOMIC_RELEASE);
			free_context((uint32_t)a->context - 2, c);
		}
		return;
	}
	uint32_t number = 0;
	uint64_t sp = registers[0];
	_Atomic(uint32_t) *slot = &recent[(sp * 0x9e3779b97f4a7c15) >> 54];
	struct clew_saved_context *c = abandoned(slot, sp, &number);
	unsigned list = sp >> 16; // the threads' stacks differ in these bits
	for (unsigned i = 0; i < LISTS && c == NULL; i++)
		c = reuse((list + i) % LISTS, &number);
	if (c == NULL && (c = map_chunk(&number)) == NULL) {
		a->context = NO_CONTEXT;
		return;
	}
	if (atomic_load_explicit(slot, memory_order_relaxed) != number + 1)
		atomic_store_explicit(slot, number + 1, memory_order_relaxed);
	__atomic_store_n(&c->sp, sp, __ATOMIC_RELAXED);
	c->pc = registers[1];
	for (unsigned i = 0; i < sizeof c->reg / 8; i++)
		c->reg[i] = registers[2 + i];
	// The caller has its return address in the page of sp. A small stack, as those of coroutines, can
	// end in the next page.
	c->copied = sizeof c->copy;
	uint64_t left = PAGE - sp % PAGE;
	if (left < c->copied && !clew_readable((sp + left) & ~7UL))
		c->copied = left & ~7UL;
	for (unsigned i = 0; i < c->copied / 8; i++)
		c->copy[i] = ((const volatile uint64_t *)sp)[i];
	uint32_t generation = c->generation + 1;
	__atomic_store_n(&c->generation, generation, __ATOMIC_RELEASE);
	a->context = (uint64_t)generation << 32 | (number + 2);
}
