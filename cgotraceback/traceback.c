// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android && (amd64 || arm64)

// The traceback function runs in signal handlers, at any instruction of C code, on a stack that
// may be small. It allocates nothing, locks nothing, calls no function of a library, and reads
// no memory that it has not checked.

#define _GNU_SOURCE
#include <stddef.h>
#include <ucontext.h>
#include "context.h"
#include "steps.h"
#include "tables.h"
#include "walk.h"

struct clew_counts clew_counts;
uint32_t clew_most_frames = UINT32_MAX;

static void count(uint64_t *c, uint64_t n) { __atomic_fetch_add(c, n, __ATOMIC_RELAXED); }

// is_fresh reports whether a module is still mapped, and remembers that for the rest of the walk.
CLEW_PLAIN static int is_fresh(struct walk *w, uint64_t index) {
	const struct clew_module *m = &w->list->modules[index];
	if (m->flags & CLEW_PINNED || (index < CLEW_STAYS && w->fresh >> index & 1))
		return 1;
	uint8_t here[sizeof m->mark_bytes];
	if (m->mark_size > sizeof here || !read_bytes(&w->code, m->mark, here, m->mark_size))
		return 0;
	for (uint32_t i = 0; i < m->mark_size; i++)
		if (here[i] != m->mark_bytes[i])
			return 0;
	if (index < CLEW_STAYS)
		w->fresh |= 1UL << index;
	return 1;
}

// rule_at returns the rule at an address without load bias, NULL if there is none.
CLEW_PLAIN static const struct clew_rule *rule_at(const struct clew_unwind *u, uint64_t address) {
	uint64_t offset = address - u->head.base;
	uint64_t block = offset >> 8;
	if (block + 1 >= u->blocks.count || ((block + 1) >> 6) >= u->groups.count)
		return NULL;
	const uint32_t *groups = ARRAY(uint32_t, u, groups);
	const uint16_t *blocks = ARRAY(uint16_t, u, blocks);
	const uint8_t *rows = ARRAY(uint8_t, u, rows);
	uint32_t first = groups[block >> 6] + blocks[block];
	uint32_t next = groups[(block + 1) >> 6] + blocks[block + 1];
	if (first == 0 || next < first || 2 * (uint64_t)next > u->rows.count)
		return NULL;
	uint32_t n = next - first, k = 0;
	const uint8_t *row = rows + 2 * (uint64_t)first;
	while (k < n && row[k] <= (offset & 255)) // k becomes the number of rows that start at or below the address
		k++;
	// Without a row in the block the last one of the previous blocks holds. Its code is the
	// byte before.
	uint32_t rule = k ? row[n + k - 1] : row[-1];
	if (rule == CLEW_RARE) {
		const struct clew_entry *rare = clew_entry_at(u, u->rare, first + k - 1);
		if (rare == NULL || rare->start != first + k - 1)
			return NULL;
		rule = rare->value;
	}
	if (rule == 0 || rule >= u->rules.count)
		return NULL;
	const struct clew_rule *r = ARRAY(struct clew_rule, u, rules) + rule;
	if (r->reg > 31 || r->saved > u->saved.count || r->count > u->saved.count - r->saved)
		return NULL;
	return r;
}

// by_rule leaves the frame.
CLEW_PLAIN static int by_rule(struct walk *w, const struct clew_unwind *u, const struct clew_rule *r) {
	if (r->flags & CLEW_OUTERMOST)
		return CLEW_COMPLETE;
	if (r->flags & CLEW_UNKNOWN || !is_known(w, r->reg))
		return CLEW_NO_RULE;
	uint64_t cfa = w->reg[r->reg] + r->offset;
	if (r->flags & CLEW_DEREF) {
		if (!read_word(&w->stack, cfa, &cfa))
			return CLEW_UNREADABLE;
		cfa += r->more;
	} else if (r->flags & CLEW_PLT && (w->pc & 15) >= (uint32_t)r->more)
		cfa += 8;
	const struct clew_saved *saved = ARRAY(struct clew_saved, u, saved) + r->saved;
	uint32_t known = (w->known & KEPT) | 1u << SP;
	uint64_t pc = 0;
	int returns = 0;
#ifdef __aarch64__
	if (is_known(w, RETURN)) {
		pc = w->reg[RETURN];
		returns = 1;
	}
#endif
	// The registers must not change before all rules have read them.
	struct { uint64_t value; uint8_t column; } changed[16];
	int changes = 0;
	for (uint32_t i = 0; i < r->count; i++) {
		const struct clew_saved *s = &saved[i];
		uint64_t v = 0;
		int has = 1;
		switch (s->kind) {
		case CLEW_AT_CFA:
			if (!read_word(&w->stack, cfa + s->offset, &v)) {
				if (s->column == RETURN)
					return CLEW_UNREADABLE;
				has = 0;
			}
			break;
		case CLEW_IS_CFA:
			v = cfa + s->offset;
			break;
		case CLEW_IN:
			has = is_known(w, s->reg);
			v = has ? w->reg[s->reg & 31] : 0;
			break;
		case CLEW_AT:
			has = is_known(w, s->reg) && read_word(&w->stack, w->reg[s->reg & 31] + s->offset, &v);
			break;
		default:
			has = 0;
		}
		if (s->column == RETURN) {
			pc = v;
			returns = has;
		} else if (s->column < 32) {
			known &= ~(1u << s->column);
			if (has && changes < 16) {
				known |= 1u << s->column;
				changed[changes].value = v;
				changed[changes++].column = s->column;
			}
		}
	}
	if (!returns)
		return CLEW_NO_RULE;
	if (r->flags & CLEW_SIGNED)
		pc = stripped(pc);
	int end = move(w, pc, cfa);
	if (end != ON)
		return end;
	for (int i = 0; i < changes; i++)
		w->reg[changed[i].column] = changed[i].value;
	w->floor = w->reg[SP];
	w->known = known;
	w->interrupted = (r->flags & CLEW_SIGNAL) != 0;
	return ON;
}

#ifdef __x86_64__
static const uint8_t trampoline[9] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}; // mov $15, %rax; syscall
#else
static const uint8_t trampoline[8] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}; // mov x8, #139; svc #0
#endif

// clew_is_trampoline reports whether an address is the end of a signal handler's call: that of the
// instructions that call rt_sigreturn. They can be outside of all modules.
CLEW_PLAIN int clew_is_trampoline(uint64_t pc) {
	if (!clew_readable(pc & ~7UL) || !clew_readable((pc + 8) & ~7UL))
		return 0;
	for (size_t i = 0; i < sizeof trampoline; i++)
		if (((const volatile uint8_t *)pc)[i] != trampoline[i])
			return 0;
	return 1;
}

#ifdef __x86_64__
static const uint8_t columns[16] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7};
enum { REGISTERS = 16, FIRST = offsetof(ucontext_t, uc_mcontext), SIGINFO = 0 };
#else
enum { REGISTERS = 32, FIRST = offsetof(ucontext_t, uc_mcontext) + 8, SIGINFO = 128 }; // the address of a fault is first
#endif

// resume makes the frame the one that a signal interrupted: the kernel has saved its registers. The
// program counter follows the others.
CLEW_PLAIN static inline void resume(struct walk *w, uint64_t context) {
	const volatile uint64_t *from = (const volatile uint64_t *)(context + FIRST); // volatile: else the loop calls memcpy
#pragma GCC unroll 16
	for (int i = 0; i < REGISTERS; i++)
#ifdef __x86_64__
		w->reg[columns[i]] = from[i];
#else
		w->reg[i] = from[i];
#endif
	w->pc = from[REGISTERS];
	w->known = (1UL << REGISTERS) - 1;
	w->floor = w->reg[SP]; // anywhere, if the handler ran on an alternate stack
	w->interrupted = 1;
}

// by_context leaves a signal trampoline.
CLEW_PLAIN static int by_context(struct walk *w) {
	if (!is_known(w, SP))
		return CLEW_NO_RULE;
	uint64_t context = w->reg[SP] + SIGINFO;
	if (!readable(&w->stack, context + FIRST, (REGISTERS + 1) * 8))
		return CLEW_UNREADABLE;
	resume(w, context);
	return ON;
}

// returned reports whether a return instruction could have led to the interrupted frame. After one the
// return address is still below the stack pointer. Otherwise it was a call, or a jump at the end of a
// function.
CLEW_PLAIN static int returned(struct walk *w) {
#ifdef __x86_64__
	uint64_t below;
	return !read_word(&w->stack, w->reg[SP] - 8, &below) || below == w->pc;
#else
	return w->reg[RETURN] == w->pc;
#endif
}

// leave makes the caller the frame. It returns why it cannot, or ON. Traced is the address of
// the frame for the traceback, 0 if it is not one.
CLEW_PLAIN static int leave(struct walk *w, uint64_t *traced) {
	uint64_t lookup = w->pc - !w->interrupted;
	*traced = 0;
	if (lookup - w->list->go_start < w->list->go_end - w->list->go_start)
		return CLEW_COMPLETE;
	const struct clew_segment *s = w->segment;
	if (s == NULL || lookup - s->start >= s->end - s->start)
		s = w->segment = clew_find(w->list, lookup);
	if (s == NULL) {
		if (w->pc == 0 && !w->interrupted)
			return CLEW_COMPLETE;
		if (!w->interrupted) {
			if (!clew_is_trampoline(w->pc))
				return CLEW_NO_MODULE;
			*traced = w->pc;
			return by_context(w);
		}
		*traced = w->pc; // a call or a jump to something that is not code
		return clew_by_return(w, w->pc, !returned(w)) == ON || clew_by_return(w, 0, 0) == ON ? ON : CLEW_NO_MODULE;
	}
	*traced = w->interrupted ? w->pc : w->pc - CLEW_CALL;
	if (!is_fresh(w, s->module)) // the tables are of other code than what is here now
		return clew_by_pointer(w, s, 0) == ON ? ON : CLEW_STALE;
	const struct clew_module *m = &w->list->modules[s->module];
	const struct clew_rule *r = m->unwind ? rule_at(m->unwind, lookup - m->bias) : NULL;
	if ((r == NULL || r->flags & CLEW_SIGNAL) && !w->interrupted && clew_is_trampoline(w->pc)) {
		*traced = w->pc;
		return by_context(w);
	}
	if (r != NULL) {
		int end = by_rule(w, m->unwind, r);
		if (end == ON)
			remember(w, lookup, s->module, r);
		return end;
	}
	const struct clew_names *n = m->names;
	const struct clew_entry *e = n ? clew_entry_at(n, n->symbols, lookup - m->bias - n->head.base) : NULL;
	return clew_by_pointer(w, s, e && e->value != CLEW_NONE ? n->head.base + m->bias + e->start : 0);
}

// begin_at makes the caller of the function of runtime/cgo that called clew_context the frame. That
// function has returned, so that its part of the stack is read from the copy.
CLEW_PLAIN static int begin_at(struct walk *w, const struct clew_saved_context *c) {
	if (c == NULL)
		return CLEW_NO_CONTEXT;
	const uint64_t *saved = c->reg;
	for (uint32_t left = KEPT; left != 0; left &= left - 1)
		w->reg[__builtin_ctz(left)] = *saved++;
	w->known = KEPT | 1u << SP;
	w->reg[SP] = w->floor = c->sp;
	w->pc = c->pc;
	w->interrupted = 0;
	uint64_t copied = c->copied <= sizeof c->copy ? c->copied : 0, traced;
	w->stack.copy = (const uint8_t *)c->copy;
	w->stack.copy_at = c->sp;
	w->stack.copy_size = copied;
	int end = leave(w, &traced);
	w->stack.copy_size = 0; // the frames of its callers stay
	return end == ON && w->reg[SP] - c->sp > copied ? CLEW_NO_CONTEXT : end;
}

CLEW_PLAIN __attribute__((noinline)) static void walk_stack(struct clew_traceback_arg *a) {
	uint64_t most = __atomic_load_n(&clew_most_frames, __ATOMIC_RELAXED), n = 0;
	if (most > a->max)
		most = a->max;
	struct walk w;
	w.stack = w.code = (struct memory){0};
	w.fresh = 1UL << CLEW_STAYS;
	w.segment = NULL;
	w.by_pointer = 0;
	int end = ON;
	unsigned side = clew_enter();
	w.list = clew_current();
	if (w.list == NULL)
		end = CLEW_NO_TABLES;
	else if (a->sigcontext != 0)
		resume(&w, a->sigcontext);
	else
		end = begin_at(&w, clew_saved_context(a->context));
	while (end == ON) {
		uint64_t traced;
		n = by_steps(&w, a->buf, n, most);
		end = leave(&w, &traced);
		if (traced != 0 && n == most)
			end = CLEW_FULL;
		else if (traced != 0)
			a->buf[n++] = traced;
	}
	clew_leave(side, n);
	if (n < a->max)
		a->buf[n] = 0;
	if (w.by_pointer)
		count(&clew_counts.by_pointer, w.by_pointer);
	count(&clew_counts.ended[end], 1);
}

// enough bytes of stack for walk_stack, which takes about 1100
enum { STACK = 1280 };

CLEW_PLAIN void clew_traceback(struct clew_traceback_arg *a) {
	if (a == NULL || a->buf == NULL || a->max == 0)
		return;
	if (a->sigcontext != 0) {
		// The alternate stack of a thread of C can have as little as the kernel needs.
		const stack_t *s = &((const ucontext_t *)a->sigcontext)->uc_stack;
		uint64_t left = (uint64_t)__builtin_frame_address(0) - (uint64_t)s->ss_sp;
		if (left < s->ss_size && left < STACK) {
			a->buf[0] = 0;
			count(&clew_counts.ended[CLEW_NO_CONTEXT], 1);
			return;
		}
	}
	walk_stack(a);
}
