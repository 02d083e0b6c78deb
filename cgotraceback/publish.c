// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android && (amd64 || arm64)

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
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
