// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// The state of a walk, and how it reads memory: for traceback.c and framepointer.c.

#ifndef CLEW_WALK_H
#define CLEW_WALK_H

#include "readable.h"
#include "tables.h"

// Columns of registers. KEPT is the set of those that calls keep.
#ifdef __x86_64__
enum { FP = 6, SP = 7, RETURN = 16, KEPT = 1 << 3 | 1 << 6 | 15 << 12 };
#else
enum { FP = 29, SP = 31, RETURN = 30, KEPT = 0x7ff << 19 };
#endif

enum {
	PAGE = 4096,
	MOST_CHECKS = 96, // calls of the kernel in a walk, for its stack and for its code each
};

// memory remembers which pages were checked.
struct memory {
	uint64_t low, high; // [low, high) can be read
	int checks;
	// The copy of copy_size bytes at copy_at is read instead of them: see struct clew_saved_context.
	const uint8_t *copy;
	uint64_t copy_at, copy_size;
};

struct walk {
	const struct clew_list *list;
	struct memory stack, code;
	const struct clew_segment *segment; // of the last frame
	uint64_t fresh; // bits of modules that were found to be unchanged

	// The frame. Registers are by DWARF column; known is the set of the known ones.
	uint64_t pc;
	uint64_t reg[32];
	uint32_t known;
	int interrupted; // by a signal: it did not call the previous frame
	uint64_t floor;  // the stack pointer of the previous frame
	uint64_t by_pointer; // frames that were left by their frame pointer
};

// check_page checks the page of an address. One call of the kernel also checks the next page,
// by the 8 bytes between the two, because walks go up.
__attribute__((always_inline)) CLEW_PLAIN static inline int check_page(struct memory *m, uint64_t address) {
	if (address < PAGE || m->checks++ >= MOST_CHECKS)
		return 0;
	uint64_t low = address & ~(uint64_t)(PAGE - 1), high = low + PAGE;
	if (clew_check_memory(high - 4))
		high += PAGE;
	else if (!clew_check_memory(address & ~7UL))
		return 0;
	if (low <= m->high && high >= m->low) {
		m->low = low < m->low ? low : m->low;
		m->high = high > m->high ? high : m->high;
	} else {
		m->low = low;
		m->high = high;
	}
	return 1;
}

// page_readable reports whether the page of an address can be read.
CLEW_PLAIN static inline int page_readable(struct memory *m, uint64_t address) {
	return address - m->low < m->high - m->low || check_page(m, address);
}

// readable reports whether memory can be read. Its size is a page at most.
CLEW_PLAIN static inline int readable(struct memory *m, uint64_t address, uint64_t size) {
	return address + size >= address && page_readable(m, address) && page_readable(m, address + size - 1);
}

// read_bytes copies memory. It returns 0 if the memory cannot be read.
CLEW_PLAIN static inline int read_bytes(struct memory *m, uint64_t address, void *p, uint64_t size) {
	if (address - m->copy_at < m->copy_size && size <= m->copy_size - (address - m->copy_at)) {
		const volatile uint8_t *from = m->copy + (address - m->copy_at);
		for (uint64_t i = 0; i < size; i++)
			((uint8_t *)p)[i] = from[i];
		return 1;
	}
	if (!readable(m, address, size))
		return 0;
	for (uint64_t i = 0; i < size; i++)
		((uint8_t *)p)[i] = ((const volatile uint8_t *)address)[i];
	return 1;
}

// read_word reads an aligned word without a call if its page was checked.
CLEW_PLAIN static inline int read_word(struct memory *m, uint64_t address, uint64_t *word) {
	if (address % 8 == 0 && address - m->low < m->high - m->low && address - m->copy_at >= m->copy_size) {
		*word = *(const volatile uint64_t *)address;
		return 1;
	}
	return read_bytes(m, address, word, 8);
}

// read_code copies code of a module, which must be in the segment.
CLEW_PLAIN static inline int read_code(struct walk *w, const struct clew_segment *s, uint64_t address, void *p, uint64_t size) {
	return address >= s->start && address < s->end && size <= s->end - address && read_bytes(&w->code, address, p, size);
}

static inline int is_known(const struct walk *w, uint32_t reg) { return reg < 32 && w->known >> reg & 1; }

// stripped returns an address without its signature (arm64 pointer authentication).
static inline uint64_t stripped(uint64_t address) {
#ifdef __aarch64__
	register uint64_t x30 __asm__("x30") = address;
	__asm__("hint #7" : "+r"(x30)); // xpaclri
	return x30;
#else
	return address;
#endif
}

// ARRAY returns the start of an array of a table.
#define ARRAY(type, table, array) ((const type *)((const char *)(table) + (table)->array.offset))

enum { ON = -1 }; // the walk goes on

// move makes the caller the frame.
static inline int move(struct walk *w, uint64_t pc, uint64_t sp) {
	if (sp < w->floor || (sp == w->floor && !w->interrupted))
		return CLEW_NO_PROGRESS;
	w->pc = pc;
	w->reg[SP] = sp;
	w->floor = sp;
	w->interrupted = 0;
	return ON;
}

CLEW_HIDDEN int clew_by_pointer(struct walk *, const struct clew_segment *, uint64_t start);
CLEW_HIDDEN int clew_by_return(struct walk *, uint64_t start, int sure);

#endif
