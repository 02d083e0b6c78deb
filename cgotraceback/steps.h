// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Steps: rules in a form that is quick to apply, by the address of a frame. Walks write them after
// they have applied a rule. See struct clew_step.

#ifndef CLEW_STEPS_H
#define CLEW_STEPS_H

#include "walk.h"

#ifdef __x86_64__
enum { INSTRUCTION = 1, SAVED_FROM = 0 }; // bytes of the shortest one; the column of bit 0 of the set CLEW_SAVED
#else
enum { INSTRUCTION = 4, SAVED_FROM = 16 };
#endif

// step_before returns the slot of the address before after: the return address itself is quicker
// to use than the address of the call.
static inline struct clew_step *step_before(const struct clew_step *steps, uint64_t after) {
	uint64_t offset = after / INSTRUCTION * sizeof *steps % (CLEW_STEPS * sizeof *steps);
	return (struct clew_step *)((uintptr_t)steps + offset);
}

static inline uint64_t relaxed(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }

// distances reads clew_step.at in words: a word is the most that is read atomically.
CLEW_PLAIN static inline clew_distances distances(const struct clew_step *s) {
	clew_distances d = relaxed((const uint64_t *)&s->at);
	if (sizeof d > 8)
		d |= (clew_distances)relaxed((const uint64_t *)&s->at + 1) << (sizeof d > 8 ? 64 : 0);
	return d;
}

// remember writes the step of an address, if the rule can be written as one.
CLEW_PLAIN static void remember(struct walk *w, uint64_t lookup, uint32_t module, const struct clew_rule *r) {
	const struct clew_module *m = &w->list->modules[module];
	int pinned = (m->flags & CLEW_PINNED) != 0;
	if (w->list->steps == NULL || r->flags & ~CLEW_SIGNED || (r->reg != SP && r->reg != FP) || (!pinned && module >= CLEW_STAYS) ||
			r->offset % 8 != 0)
		return;
	const struct clew_saved *saved = ARRAY(struct clew_saved, m->unwind, saved) + r->saved;
	uint8_t below[32];
	uint32_t set = 0, most = 1;
	for (uint32_t i = 0; i < r->count; i++) {
		uint32_t column = saved[i].column, n = -(uint32_t)saved[i].offset / 8;
		if (saved[i].kind != CLEW_AT_CFA || saved[i].offset >= 0 || saved[i].offset % 8 != 0 || n > 255)
			return;
		if (column > 31 || !((KEPT | 1u << RETURN) >> column & 1) || set >> column & 1)
			return;
		below[column] = n;
		set |= 1u << column;
		most = n > most ? n : most;
	}
#ifdef __x86_64__
	if (!(set >> RETURN & 1) || below[RETURN] != 1)
		return;
	set &= ~(1u << RETURN);
#endif
	clew_distances at = 0;
	int n = 0;
	for (uint32_t left = set; left != 0; left &= left - 1)
		at |= (clew_distances)below[__builtin_ctz(left)] << 8 * n++;
	at |= (clew_distances)most << 8 * (sizeof at - 1);
	uint32_t info = (pinned ? CLEW_STAYS : module) | (r->reg == FP ? CLEW_BY_FP : 0) | (r->flags & CLEW_SIGNED ? CLEW_STRIP : 0) |
		set >> SAVED_FROM << CLEW_SAVED;
	struct clew_step *s = step_before(w->list->steps, lookup + 1);
	uint64_t sequence = relaxed(&s->sequence);
	// The slot stays odd if a signal interrupts this, and its handler walks too.
	if (sequence & 1 || !__atomic_compare_exchange_n(&s->sequence, &sequence, sequence + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&s->pc, lookup, __ATOMIC_RELAXED);
	__atomic_store_n(&s->offset, r->offset, __ATOMIC_RELAXED);
	__atomic_store_n(&s->info, info, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < sizeof at / 8; i++, at = at >> 32 >> 32)
		__atomic_store_n((uint64_t *)&s->at + i, (uint64_t)at, __ATOMIC_RELAXED);
	__atomic_store_n(&s->sequence, sequence + 2, __ATOMIC_RELEASE);
}

// by_steps leaves frames by their steps, as by_rule would, as long as that succeeds. It returns
// the number of addresses in buf. The context's copy of the stack must not be needed any more.
CLEW_PLAIN static uint64_t by_steps(struct walk *w, uintptr_t *buf, uint64_t n, uint64_t most) {
	const struct clew_step *steps = w->list->steps;
	if (steps == NULL || !is_known(w, SP) || (w->stack.high == 0 && !check_page(&w->stack, w->reg[SP])))
		return n;
	const uint64_t low = w->stack.low, size = w->stack.high - low;
	uint64_t after = w->pc + w->interrupted, floor = w->floor, sp = w->reg[SP]; // after: lookup + 1
	uint64_t traced = w->interrupted ? w->pc : w->pc - CLEW_CALL;
	uint32_t known = w->known;
	uint64_t start = n;
	while (n < most) {
		const struct clew_step *s = step_before(steps, after);
		uint64_t lookup = after - 1;
		uint64_t sequence = __atomic_load_n(&s->sequence, __ATOMIC_ACQUIRE);
		uint64_t pc = relaxed(&s->pc);
		uint32_t info = __atomic_load_n(&s->info, __ATOMIC_RELAXED);
		int64_t offset = __atomic_load_n(&s->offset, __ATOMIC_RELAXED);
		clew_distances at = distances(s);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (pc != lookup || sequence & 1 || relaxed(&s->sequence) != sequence)
			break;
		if (!(w->fresh >> (info & 63) & 1))
			break;
		uint64_t base = sp;
		if (info & CLEW_BY_FP) {
			if (!(known >> FP & 1))
				break;
			base = w->reg[FP];
		}
		uint64_t cfa = base + offset;
		uint64_t span = 8 * (uint64_t)(at >> 8 * (sizeof at - 1)), lowest = cfa - span;
		// All that is read was checked. The size is a page at least, the span half of one at most.
		if (cfa % 8 != 0 || cfa <= floor || lowest - low > size - span)
			break;
		uint32_t set = info >> CLEW_SAVED << SAVED_FROM;
#ifdef __aarch64__
		if (!((set | known) >> RETURN & 1))
			break;
#endif
		known = ((known & KEPT) | 1u << SP | set) & ~(1u << RETURN);
		for (; set != 0; set &= set - 1, at >>= 8)
			w->reg[__builtin_ctz(set)] = *(const volatile uint64_t *)(cfa - 8 * (uint64_t)(at & 255));
#ifdef __x86_64__
		pc = *(const volatile uint64_t *)(cfa - 8);
#else
		pc = w->reg[RETURN];
		if (info & CLEW_STRIP)
			pc = stripped(pc);
#endif
		sp = floor = cfa;
		buf[n++] = traced;
		traced = pc - CLEW_CALL;
		after = pc;
	}
	if (n != start) {
		w->pc = after;
		w->reg[SP] = sp;
		w->floor = floor;
		w->known = known;
		w->interrupted = 0;
	}
	return n;
}

#endif
