// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android && (amd64 || arm64)

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include "readable.h"
#include "tables.h"

// Readers count themselves in one of two counters. A writer publishes a list, turns to the
// other counter, and frees the previous lists after it has seen each counter at 0. Readers never
// wait. Both counters matter: a reader can stop after it has chosen a counter, and then read a
// list that was published later. The lower bits of a counter are the readers, the others the
// frames that they have found.
static _Atomic(struct clew_list *) current;
static _Atomic(uint32_t) epoch;
static _Atomic(uint64_t) readers[2];

enum { READER_BITS = 20 };

CLEW_PLAIN unsigned clew_enter(void) {
	for (;;) {
		uint32_t e = atomic_load(&epoch);
		atomic_fetch_add(&readers[e & 1], 1);
		if (atomic_load(&epoch) == e)
			return e & 1;
		atomic_fetch_sub(&readers[e & 1], 1);
	}
}

CLEW_PLAIN void clew_leave(unsigned side, uint64_t frames) { atomic_fetch_add(&readers[side], (frames << READER_BITS) - 1); }

// clew_frames returns the sum of the frames that readers have found.
uint64_t clew_frames(void) { return (atomic_load(&readers[0]) >> READER_BITS) + (atomic_load(&readers[1]) >> READER_BITS); }

CLEW_PLAIN struct clew_list *clew_current(void) { return atomic_load(&current); }

// clew_publish returns the previous list, which may be freed once clew_idle has returned 1 for
// each side. There must be one writer.
struct clew_list *clew_publish(struct clew_list *list) {
	struct clew_list *previous = atomic_exchange(&current, list);
	atomic_fetch_add(&epoch, 1);
	return previous;
}

// clew_idle reports whether no reader counts itself in a counter.
int clew_idle(unsigned side) { return atomic_load(&readers[side & 1]) % (1 << READER_BITS) == 0; }

int clew_by_copy;

CLEW_PLAIN int clew_readable(uint64_t address) { return clew_check_memory(address); }

// clew_start finds a way to check memory. It returns 0 if there is none.
int clew_start(void) {
	uint64_t word = 0;
	void *closed = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (closed == MAP_FAILED)
		return 0;
	int works = 0;
	for (clew_by_copy = 0; clew_by_copy < 2; clew_by_copy++) {
		works = clew_readable((uint64_t)&word & ~7UL) && !clew_readable((uint64_t)closed) && !clew_readable(0);
		if (works)
			break;
	}
	munmap(closed, 65536);
	return works;
}

static int inside(struct clew_array a, uint64_t entry, uint64_t head, uint64_t size) {
	return a.offset >= head && a.offset % (entry < 8 ? entry : 4) == 0 && a.offset + a.count * entry <= size;
}

// clew_check reports whether a table's arrays are inside of it.
int clew_check(const void *table, uint64_t size) {
	const struct clew_head *head = table;
	if ((uintptr_t)table % 8 != 0 || size < sizeof *head || size > UINT32_MAX || head->size != size)
		return 0;
	switch (head->magic) {
	case CLEW_UNWIND: {
		const struct clew_unwind *u = table;
		uint64_t h = sizeof *u;
		return size >= h && inside(u->groups, 4, h, size) && inside(u->blocks, 2, h, size) && inside(u->rows, 1, h, size) &&
			inside(u->rare, sizeof(struct clew_entry), h, size) && inside(u->rules, sizeof(struct clew_rule), h, size) &&
			inside(u->saved, sizeof(struct clew_saved), h, size);
	}
	case CLEW_NAMES: {
		const struct clew_names *n = table;
		return size >= sizeof *n && inside(n->symbols, sizeof(struct clew_entry), sizeof *n, size);
	}
	case CLEW_LINES: {
		const struct clew_lines *l = table;
		uint64_t h = sizeof *l;
		return size >= h && inside(l->ranges, sizeof(struct clew_entry), h, size) &&
			inside(l->places, sizeof(struct clew_place), h, size) && inside(l->strings, 1, h, size) &&
			l->strings.count > 0 && ((const char *)table)[l->strings.offset + l->strings.count - 1] == 0;
	}
	}
	return 0;
}

// clew_find returns the segment that contains an address, or NULL.
CLEW_PLAIN const struct clew_segment *clew_find(const struct clew_list *list, uint64_t pc) {
	uint64_t low = 0, high = list->segment_count;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (list->segments[middle].end <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == list->segment_count || pc < list->segments[low].start)
		return NULL;
	return &list->segments[low];
}

// clew_entry_at returns the last entry of an array that starts at or below a number, or NULL.
CLEW_PLAIN const struct clew_entry *clew_entry_at(const void *table, struct clew_array array, uint64_t at) {
	const struct clew_entry *entries = (const void *)((const char *)table + array.offset);
	uint32_t low = 0, high = array.count;
	while (low < high) { // low becomes the number of entries that start at or below the number
		uint32_t middle = low + (high - low) / 2;
		if (entries[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at <= UINT32_MAX ? &entries[low - 1] : NULL;
}
