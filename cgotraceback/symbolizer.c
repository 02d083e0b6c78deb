// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android && (amd64 || arm64)

// The symbolizer is called when profiles are written, and while the program crashes: then no
// memory may be allocated and no Go code runs. So it only looks addresses up in tables. The
// strings that it returns are never freed.

#include <stddef.h>
#include "readable.h"
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

// is_fresh reports whether a module is still mapped. The kernel compares the mark: no frame shows that
// the library is in use, so that another thread can unload it between a check and a read.
CLEW_PLAIN static int is_fresh(const struct clew_module *m) {
	if (m->flags & CLEW_PINNED)
		return 1;
	if (m->mark_size < 4 || m->mark_size > sizeof m->mark_bytes)
		return 0;
	for (uint32_t i = 0; i + 4 <= m->mark_size; i += 4) {
		uint32_t word;
		__builtin_memcpy(&word, m->mark_bytes + i, 4);
		if (!clew_equals(m->mark + i, word))
			return 0;
	}
	return 1;
}

CLEW_PLAIN static void symbolize(const struct clew_list *list, struct clew_symbolizer_arg *a) {
	uint64_t place = a->more ? a->data : 0;
	int in_chain = a->more != 0;
	a->file = a->function = NULL;
	// Without an entry, because runtime/pprof takes calls of a function by itself for inlined ones if
	// they have the same entry, and then loses frames.
	a->line = a->entry = a->more = 0;
	const struct clew_segment *s = list ? clew_find(list, a->pc) : NULL;
	if (s == NULL)
		return;
	const struct clew_module *m = &list->modules[s->module];
	if (!is_fresh(m))
		return;
	uint64_t address = a->pc - m->bias;
	a->function = m->label;
	const struct clew_entry *e = m->names ? clew_entry_at(m->names, m->names->symbols, address - m->names->head.base) : NULL;
	if (e != NULL && e->value != CLEW_NONE) {
		const char *function = string_at(m->strings, m->strings_size, e->value);
		if (function != NULL && *function != 0)
			a->function = function;
	}
	if (m->flags & CLEW_PINNED && clew_is_trampoline(a->pc)) // another library can be unloaded while its code is read
		a->function = "<signal handler called>"; // as gdb says
	if (m->lines == NULL)
		return;
	const struct clew_lines *lines = m->lines;
	if (!in_chain) {
		e = clew_entry_at(lines, lines->ranges, address - lines->head.base);
		place = e ? e->value : 0;
	}
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
