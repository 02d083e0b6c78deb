// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android && (amd64 || arm64)

// The symbolizer is called when profiles are written, and while the program crashes: then no
// memory may be allocated and no Go code runs. So it only looks addresses up in tables. The
// strings that it returns are never freed.

#include <stddef.h>
#include "tables.h"

// string_at returns a string if its end is in readable memory: a file that is mapped can have
// been truncated.
CLEW_PLAIN static const char *string_at(const char *strings, uint64_t size, uint64_t offset) {
	if (offset >= size)
		return NULL;
	uint64_t page = 0;
	for (uint64_t i = offset; i < size; i++) {
		uint64_t address = (uint64_t)(strings + i);
		if (address >> 12 != page) {
			if (!clew_readable(address & ~7UL))
				return NULL;
			page = address >> 12;
		}
		if (strings[i] == 0)
			return strings + offset;
	}
	return NULL;
}

// place_at returns the number of the innermost place at an address, 0 if there is none.
CLEW_PLAIN static uint32_t place_at(const struct clew_lines *lines, uint64_t address) {
	uint64_t at = address - lines->head.base;
	if (at > UINT32_MAX)
		return 0;
	const struct clew_range *ranges = (const void *)((const char *)lines + lines->ranges.offset);
	uint32_t low = 0, high = lines->ranges.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (ranges[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? ranges[low - 1].place : 0;
}

// is_fresh reports whether a module is still mapped.
CLEW_PLAIN static int is_fresh(const struct clew_module *m) {
	if (m->flags & CLEW_PINNED)
		return 1;
	uint64_t last = m->mark + m->mark_size - 1;
	if (m->mark_size == 0 || m->mark_size > sizeof m->mark_bytes || !clew_readable(m->mark & ~7UL) || !clew_readable(last & ~7UL))
		return 0;
	for (uint32_t i = 0; i < m->mark_size; i++)
		if (((const volatile uint8_t *)m->mark)[i] != m->mark_bytes[i])
			return 0;
	return 1;
}

CLEW_PLAIN static void symbolize(const struct clew_list *list, struct clew_symbolizer_arg *a) {
	uint64_t place = a->more ? a->data : 0;
	int in_chain = a->more != 0;
	a->file = a->function = NULL;
	a->line = a->entry = a->more = 0;
	const struct clew_segment *s = list ? clew_find(list, a->pc) : NULL;
	if (s == NULL)
		return;
	const struct clew_module *m = &list->modules[s->module];
	if (!is_fresh(m))
		return;
	uint64_t address = a->pc - m->bias;
	a->function = m->label;
	if (m->names != NULL) {
		uint32_t start;
		uint32_t name = clew_symbol_at(m->names, address, &start);
		if (name != CLEW_NONE) {
			const char *function = string_at(m->strings, m->strings_size, name);
			if (function != NULL && *function != 0)
				a->function = function;
			a->entry = m->names->head.base + m->bias + start;
		}
	}
	if (clew_is_trampoline(a->pc, s->end))
		a->function = "<signal handler called>"; // as gdb says
	if (m->lines == NULL)
		return;
	const struct clew_lines *lines = m->lines;
	if (!in_chain)
		place = place_at(lines, address);
	if (place == 0 || place >= lines->places.count)
		return;
	const struct clew_place *p = (const struct clew_place *)((const char *)lines + lines->places.offset) + place;
	const char *strings = (const char *)lines + lines->strings.offset;
	if (p->function != 0 && p->function < lines->strings.count)
		a->function = strings + p->function;
	if (p->file != 0 && p->file < lines->strings.count)
		a->file = strings + p->file;
	a->line = p->line;
	// The callers of an inlined call have lower numbers, so that the chain ends.
	if (p->caller != 0 && p->caller < place) {
		a->more = 1;
		a->data = p->caller;
	}
}

CLEW_PLAIN void clew_symbolizer(struct clew_symbolizer_arg *a) {
	if (a == NULL || a->pc == 0)
		return;
	unsigned side = clew_enter();
	symbolize(clew_current(), a);
	clew_leave(side, 0);
}
