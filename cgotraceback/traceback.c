// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android && (amd64 || arm64)

// The traceback function runs in signal handlers, at any instruction of C code, on a stack that
// may be small. It allocates nothing, locks nothing, calls no function of a library, and reads
// no memory that it has not checked.

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <ucontext.h>
#include "tables.h"
#include "context.h"
#include "readable.h"

#ifdef __x86_64__
enum { FP = 6, SP = 7, RETURN = 16, KEPT = 1 << 3 | 1 << 6 | 15 << 12 };
#else
enum { FP = 29, SP = 31, RETURN = 30, KEPT = 0x7ff << 19 };
#endif

enum { PAGE = 4096, MOST_CHECKS = 96 };

// memory remembers which pages were checked.
struct memory {
	uint64_t low, high; // [low, high) can be read
	int checks;
	// The bytes at copy_at were copied when they were valid.
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
	int interrupted; // it did not call the previous frame
	uint64_t floor;  // the stack pointer of the previous frame
	uint64_t by_pointer;
};

static struct clew_counts counts;
static _Atomic(uint32_t) most_frames = UINT32_MAX;

static void count(uint64_t *c, uint64_t n) { __atomic_fetch_add(c, n, __ATOMIC_RELAXED); }

void clew_read_counts(struct clew_counts *c) {
	const uint64_t *from = (const uint64_t *)&counts;
	for (size_t i = 0; i < sizeof counts / 8; i++)
		((uint64_t *)c)[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	c->frames = clew_frames();
}

void clew_limit(uint32_t frames) { atomic_store(&most_frames, frames ? frames : UINT32_MAX); }

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
CLEW_PLAIN static int page_readable(struct memory *m, uint64_t address) {
	return address - m->low < m->high - m->low || check_page(m, address);
}

// read_bytes copies memory; it returns 0 if that cannot be read.
CLEW_PLAIN static int read_bytes(struct memory *m, uint64_t address, void *p, uint64_t size) {
	if (address - m->copy_at < m->copy_size && size <= m->copy_size - (address - m->copy_at)) {
		const uint8_t *from = m->copy + (address - m->copy_at);
		for (uint64_t i = 0; i < size; i++)
			((uint8_t *)p)[i] = from[i];
		return 1;
	}
	if (address + size < address || !page_readable(m, address) || !page_readable(m, address + size - 1))
		return 0;
	for (uint64_t i = 0; i < size; i++)
		((uint8_t *)p)[i] = ((const volatile uint8_t *)address)[i];
	return 1;
}

CLEW_PLAIN static inline int read_word(struct memory *m, uint64_t address, uint64_t *word) {
	if (address % 8 == 0 && address - m->low < m->high - m->low && address - m->copy_at >= m->copy_size) {
		*word = *(const volatile uint64_t *)address;
		return 1;
	}
	return read_bytes(m, address, word, 8);
}

// read_code reads code of a module.
CLEW_PLAIN static int read_code(struct walk *w, const struct clew_segment *s, uint64_t address, void *p, uint64_t size) {
	if (address < s->start || address >= s->end || size > s->end - address)
		return 0;
	if (!(w->list->modules[s->module].flags & CLEW_PINNED))
		return read_bytes(&w->code, address, p, size);
	for (uint64_t i = 0; i < size; i++)
		((uint8_t *)p)[i] = ((const volatile uint8_t *)address)[i];
	return 1;
}

// is_fresh reports whether a module is still mapped.
CLEW_PLAIN static int is_fresh(struct walk *w, uint32_t index) {
	const struct clew_module *m = &w->list->modules[index];
	if (m->flags & CLEW_PINNED)
		return 1;
	if (index < CLEW_STAYS && w->fresh >> index & 1)
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

#define ARRAY(type, table, array) ((const type *)((const char *)(table) + (table)->array.offset))

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
	if (first == 0 || next < first || 2 * (uint64_t)next + 8 > u->rows.count)
		return NULL;
	uint32_t n = next - first, k = 0;
	const uint8_t *row = rows + 2 * (uint64_t)first;
	// The number of rows that start at or below the address: k.
	const uint64_t tops = 0x8080808080808080;
	uint64_t at = (offset & 255) * 0x0101010101010101;
	for (uint32_t i = 0; i < n; i += 8) {
		uint64_t word;
		__builtin_memcpy(&word, row + i, 8);
		uint64_t low = (at | tops) - (word & ~tops);
		uint64_t found = ((at & ~word) | (low & ~(at ^ word))) & tops;
		if (n - i < 8)
			found &= (1UL << 8 * (n - i)) - 1;
		k += ((found >> 7) * 0x0101010101010101) >> 56;
	}
	// Without a row in the block the last one of the previous blocks holds. Its code is the
	// byte before.
	uint32_t rule = k ? row[n + k - 1] : row[-1];
	if (rule == CLEW_RARE) {
		const struct clew_rare *rare = ARRAY(struct clew_rare, u, rare);
		uint32_t low = 0, high = u->rare.count, number = first + k - 1;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;
			if (rare[middle].row < number)
				low = middle + 1;
			else
				high = middle;
		}
		if (low == u->rare.count || rare[low].row != number)
			return NULL;
		rule = rare[low].rule;
	}
	if (rule == 0 || rule >= u->rules.count)
		return NULL;
	const struct clew_rule *r = ARRAY(struct clew_rule, u, rules) + rule;
	if (r->reg > 31 || r->saved > u->saved.count || r->count > u->saved.count - r->saved)
		return NULL;
	return r;
}

static inline int is_known(const struct walk *w, uint32_t reg) { return reg < 32 && w->known >> reg & 1; }

static uint64_t stripped(uint64_t address) {
#ifdef __aarch64__
	register uint64_t x30 __asm__("x30") = address;
	__asm__("hint #7" : "+r"(x30)); // xpaclri
	return x30;
#else
	return address;
#endif
}

enum { ON = -1 }; // the walk goes on

// move makes the caller the frame.
static int move(struct walk *w, uint64_t pc, uint64_t sp) {
	if (sp < w->floor || (sp == w->floor && !w->interrupted))
		return CLEW_NO_PROGRESS;
	w->pc = pc;
	w->reg[SP] = sp;
	w->floor = sp;
	w->interrupted = 0;
	return ON;
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
enum { INSTRUCTION = 1, SAVED_FROM = 0 }; // the least size; the column that bit 0 of the set stands for
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

// distances reads or writes clew_step.at in words: only those are atomic.
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
		buf[n++] = lookup;
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

#ifdef __x86_64__
static const uint8_t trampoline[9] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}; // mov $15, %rax; syscall
#else
static const uint8_t trampoline[8] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}; // mov x8, #139; svc #0
#endif

CLEW_PLAIN static int equals_trampoline(const uint8_t *code) {
	for (size_t i = 0; i < sizeof trampoline; i++)
		if (code[i] != trampoline[i])
			return 0;
	return 1;
}

// clew_is_trampoline is is_trampoline for the symbolizer: pc is in a segment with this end.
CLEW_PLAIN int clew_is_trampoline(uint64_t pc, uint64_t end) {
	if (end - pc < sizeof trampoline || !clew_readable(pc & ~7UL) || !clew_readable((pc + 8) & ~7UL))
		return 0;
	return equals_trampoline((const uint8_t *)pc);
}

// is_trampoline reports whether the frame returns to the end of a signal handler's call: the
// instructions that call rt_sigreturn. They can be outside of all modules: s is NULL then.
CLEW_PLAIN static int is_trampoline(struct walk *w, const struct clew_segment *s) {
	uint8_t here[sizeof trampoline];
	return (s ? read_code(w, s, w->pc, here, sizeof here) : read_bytes(&w->code, w->pc, here, sizeof here)) && equals_trampoline(here);
}

// by_context leaves a signal trampoline: the kernel has saved the registers on its stack.
CLEW_PLAIN static int by_context(struct walk *w) {
	if (!is_known(w, SP))
		return CLEW_NO_RULE;
#ifdef __x86_64__
	static const uint8_t columns[17] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16};
	uint64_t at = w->reg[SP] + offsetof(ucontext_t, uc_mcontext);
	for (int i = 0; i < 17; i++) {
		uint64_t v;
		if (!read_word(&w->stack, at + 8 * i, &v))
			return CLEW_UNREADABLE;
		if (columns[i] == 16)
			w->pc = v;
		else
			w->reg[columns[i]] = v;
	}
	w->known = 0xffff;
#else
	uint64_t at = w->reg[SP] + 128 + offsetof(ucontext_t, uc_mcontext) + 8; // a siginfo, then the address of the fault
	for (int i = 0; i < 32; i++)
		if (!read_word(&w->stack, at + 8 * i, &w->reg[i]))
			return CLEW_UNREADABLE;
	if (!read_word(&w->stack, at + 8 * 32, &w->pc))
		return CLEW_UNREADABLE;
	w->known = UINT32_MAX;
#endif
	// The interrupted stack can be anywhere, if the handler ran on an alternate one.
	w->floor = w->reg[SP];
	w->interrupted = 1;
	return ON;
}

// after_call reports whether an address follows a call, and finds its target, 0 if it is
// indirect.
CLEW_PLAIN static int after_call(struct walk *w, uint64_t pc, uint64_t *target) {
	const struct clew_segment *s = clew_find(w->list, pc - 1);
	*target = 0;
	if (s == NULL || s->kind != CLEW_CODE)
		return 0;
#ifdef __x86_64__
	uint8_t b[8] = {0};
	for (int n = 7; n >= 2; n--) // fewer at the start of a segment
		if (read_code(w, s, pc - n, b + 8 - n, n))
			break;
	if (b[3] == 0xe8) {
		*target = pc + (int32_t)(b[4] | b[5] << 8 | b[6] << 16 | (uint32_t)b[7] << 24);
		return 1;
	}
	for (int n = 2; n <= 7; n++)
		if (n != 5 && b[8 - n] == 0xff && (b[9 - n] >> 3 & 7) == 2)
			return 1;
	return 0;
#else
	uint32_t i;
	if (!read_code(w, s, pc - 4, &i, 4))
		return 0;
	if (i >> 26 == 0x25) {
		*target = pc - 4 + (int64_t)((int32_t)(i << 6) >> 4);
		return 1;
	}
	return (i & 0xfffffc1f) == 0xd63f0000 || (i & 0xfefff800) == 0xd63f0800; // blr, blraa
#endif
}

// resolved returns the function that a stub of the procedure linkage table jumps to, or the
// address itself.
CLEW_PLAIN static uint64_t resolved(struct walk *w, uint64_t address) {
	const struct clew_segment *s = clew_find(w->list, address);
	uint64_t function;
	if (s == NULL || s->kind != CLEW_CODE)
		return address;
#ifdef __x86_64__
	uint8_t b[12];
	if (!read_code(w, s, address, b, sizeof b))
		return address;
	const uint8_t *p = b;
	if (p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa) // endbr64
		p += 4;
	p += *p == 0xf2; // bnd
	if (p[0] != 0xff || p[1] != 0x25 || p - b > 5) // jmp *offset(%rip)
		return address;
	int32_t offset = p[2] | p[3] << 8 | p[4] << 16 | (uint32_t)p[5] << 24;
	uint64_t slot = address + (p - b) + 6 + offset;
#else
	uint32_t i[3];
	if (!read_code(w, s, address, i, sizeof i))
		return address;
	int n = i[0] == 0xd503245f; // bti c
	if ((i[n] & 0x9f00001f) != 0x90000010 || (i[n + 1] & 0xffc003ff) != 0xf9400211) // adrp x16; ldr x17, [x16, #offset]
		return address;
	int64_t pages = (int64_t)((uint64_t)(i[n] >> 5 & 0x7ffff) << 2 | (i[n] >> 29 & 3)) << 43 >> 43;
	uint64_t slot = ((address + 4 * n) & ~4095UL) + pages * 4096 + (i[n + 1] >> 10 & 0xfff) * 8;
#endif
	return slot % 8 == 0 && read_word(&w->code, slot, &function) ? function : address;
}

// calls reports whether a call with a known target calls a function.
CLEW_PLAIN static int calls(struct walk *w, uint64_t target, uint64_t function) {
	return target == function || (target != 0 && resolved(w, target) == function);
}

// by_return leaves a function that has not yet made a frame, if the return address follows a
// call of it. Start is 0 if it is not known.
CLEW_PLAIN static int by_return(struct walk *w, uint64_t start, int sure) {
	uint64_t ra, sp = w->reg[SP], target;
#ifdef __x86_64__
	if (!read_word(&w->stack, sp, &ra))
		return CLEW_UNREADABLE;
	sp += 8;
#else
	if (!is_known(w, RETURN))
		return CLEW_NO_RULE;
	ra = stripped(w->reg[RETURN]);
#endif
	if (!after_call(w, ra, &target) || (!sure && target != start && !calls(w, target, start)))
		return CLEW_NO_RULE;
	w->known &= KEPT | 1u << SP;
	return move(w, ra, sp);
}

// in_frame reports whether an interrupted function certainly has its frame, in which its return
// address is saved. Where it has left it, the stack pointer is at a return address. Direct: a
// call of the function precedes the saved address.
CLEW_PLAIN static int in_frame(struct walk *w, const struct clew_segment *s, uint64_t start, int direct, uint64_t saved) {
	uint64_t ra, target;
#ifdef __x86_64__
	uint8_t now[2] = {0};
	(void)saved;
	if (!direct) {
		if (!read_code(w, s, w->pc, now, 2))
			return 0;
		int n = now[0] == 0xf2 || now[0] == 0xf3 || now[0] == 0x3e; // prefixes of jumps and returns
		if (now[n] == 0xc2 || now[n] == 0xc3 || now[n] == 0xe9 || now[n] == 0xeb || now[n] == 0xff)
			return 0;
	}
	if (!read_word(&w->stack, w->reg[SP], &ra))
		return 0;
#else
	(void)s;
	if (!is_known(w, RETURN))
		return 0;
	ra = stripped(w->reg[RETURN]);
	if (ra == saved)
		return 1; // it has called nothing yet
#endif
	if (!after_call(w, ra, &target))
		return 1;
	return target == 0 ? direct : !calls(w, target, start);
}

// by_pointer leaves a frame without a rule by its frame pointer, if its function has made a
// frame. Start is 0 if it is not known.
CLEW_PLAIN static int by_pointer(struct walk *w, const struct clew_segment *s, uint64_t start) {
	if (w->interrupted && start == 0)
		return CLEW_NO_RULE;
	uint64_t size = 0;
#ifdef __x86_64__
	if (start != 0) {
		uint8_t b[8] = {0};
		int n = 0;
		if (!read_code(w, s, start, b, 8))
			return CLEW_NO_RULE;
		if (b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && b[3] == 0xfa) // endbr64
			n = 4;
		int pushes = b[n] == 0x55 && (n ? read_code(w, s, start + 4, b, 4) && (n = 4) : 1);
		const uint8_t *p = b + 1;
		int frame = pushes && ((p[0] == 0x48 && p[1] == 0x89 && p[2] == 0xe5) || (p[0] == 0x48 && p[1] == 0x8b && p[2] == 0xec));
		uint64_t at = w->pc - start;
		if (!frame)
			return w->interrupted ? by_return(w, start, 0) : CLEW_NO_RULE;
		if (w->interrupted) {
			uint8_t now;
			if (at <= (uint64_t)n || (read_code(w, s, w->pc, &now, 1) && now == 0xc3))
				return by_return(w, start, 1);
			if (at == (uint64_t)n + 1) { // rbp is saved, and not yet changed
				uint64_t fp, ra, target;
				if (!read_word(&w->stack, w->reg[SP], &fp) || !read_word(&w->stack, w->reg[SP] + 8, &ra))
					return CLEW_UNREADABLE;
				if (!after_call(w, ra, &target))
					return CLEW_NO_RULE;
				w->reg[FP] = fp;
				w->known &= KEPT | 1u << SP;
				return move(w, ra, w->reg[SP] + 16);
			}
		}
	}
	size = 16;
#else
	if (start != 0) {
		uint32_t i = 0;
		uint64_t at = start;
		int frame = 0;
		for (int n = 0; n < 4 && !frame; n++, at += 4) {
			if (!read_code(w, s, at, &i, 4))
				return CLEW_NO_RULE;
			if ((i & 0xffc07fff) == 0xa9807bfd) { // stp x29, x30, [sp, #-size]!
				size = -((int64_t)((int32_t)(i << 10) >> 25) * 8);
				frame = 1;
			} else if (i != 0xd503233f && (i & 0xffffff3f) != 0xd503241f) // paciasp, bti
				break;
		}
		uint32_t set = 0;
		if (frame)
			frame = read_code(w, s, at, &set, 4) && set == 0x910003fd; // mov x29, sp
		if (!frame)
			return w->interrupted ? by_return(w, start, 0) : CLEW_NO_RULE;
		if (w->interrupted) {
			uint32_t now = 0;
			if (w->pc <= at - 4 || (read_code(w, s, w->pc, &now, 4) && now == 0xd65f03c0))
				return by_return(w, start, 1);
			if (w->pc == at) // x29 is saved, and not yet changed
				w->reg[FP] = w->reg[SP];
		}
	}
#endif
	uint64_t fp = w->reg[FP], next, ra, target;
	if (!is_known(w, FP) || fp < w->floor || fp % 8 != 0)
		return CLEW_NO_RULE;
	if (!read_word(&w->stack, fp, &next) || !read_word(&w->stack, fp + 8, &ra))
		return CLEW_UNREADABLE;
	ra = stripped(ra);
	if (!after_call(w, ra, &target))
		return CLEW_NO_RULE;
	// A function that is interrupted may have left its frame already, at a jump to another
	// function for one. Then this is the frame of its caller.
	if (w->interrupted && ((target != 0 && !calls(w, target, start)) || !in_frame(w, s, start, target != 0, ra)))
		return CLEW_NO_RULE;
	int end = move(w, ra, fp + (size ? size : 16));
	if (end != ON)
		return end;
	w->reg[FP] = next;
	w->known = (w->known & 1u << FP) | (size ? 1u << SP : 0); // functions without rules can save the others anywhere
	w->by_pointer++;
	return ON;
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
			if (!is_trampoline(w, NULL))
				return CLEW_NO_MODULE;
			*traced = w->pc;
			return by_context(w);
		}
		*traced = w->pc; // a call of something that is not code
		return by_return(w, w->pc, 0) == ON || by_return(w, 0, 0) == ON ? ON : CLEW_NO_MODULE;
	}
	if (s->kind == CLEW_GO)
		return CLEW_COMPLETE;
	*traced = lookup;
	if (!is_fresh(w, s->module))
		return CLEW_STALE;
	const struct clew_module *m = &w->list->modules[s->module];
	const struct clew_rule *r = m->unwind ? rule_at(m->unwind, lookup - m->bias) : NULL;
	if ((r == NULL || r->flags & CLEW_SIGNAL) && !w->interrupted && is_trampoline(w, s)) {
		*traced = w->pc;
		return by_context(w);
	}
	if (r != NULL) {
		int end = by_rule(w, m->unwind, r);
		if (end == ON)
			remember(w, lookup, s->module, r);
		return end;
	}
	uint32_t start;
	uint64_t function = 0;
	if (m->names && clew_symbol_at(m->names, lookup - m->bias, &start) != CLEW_NONE)
		function = m->names->head.base + m->bias + start;
	return by_pointer(w, s, function);
}

CLEW_PLAIN void clew_traceback(struct clew_traceback_arg *a) {
	if (a == NULL || a->buf == NULL || a->max == 0)
		return;
	uint64_t most = atomic_load_explicit(&most_frames, memory_order_relaxed), n = 0;
	if (most > a->max)
		most = a->max;
	struct walk w;
	w.stack = w.code = (struct memory){0};
	w.fresh = 1UL << CLEW_STAYS;
	w.segment = NULL;
	w.reg[SP] = 0;
	w.by_pointer = 0;
	int end = ON, skip = 0;
	unsigned side = clew_enter();
	w.list = clew_current();
	if (w.list == NULL)
		end = CLEW_NO_TABLES;
	else if (a->sigcontext != 0) {
		const ucontext_t *c = (const ucontext_t *)a->sigcontext;
#ifdef __x86_64__
		static const uint8_t columns[16] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7};
#pragma GCC unroll 16
		for (int i = 0; i < 16; i++)
			w.reg[columns[i]] = c->uc_mcontext.gregs[i];
		w.pc = c->uc_mcontext.gregs[16];
		w.known = 0xffff;
#else
		for (int i = 0; i < 31; i++)
			w.reg[i] = c->uc_mcontext.regs[i];
		w.reg[31] = c->uc_mcontext.sp;
		w.pc = c->uc_mcontext.pc;
		w.known = UINT32_MAX;
#endif
		w.interrupted = 1;
	} else {
		const struct clew_saved_context *c = clew_saved_context(a->context);
		if (c == NULL)
			end = CLEW_NO_CONTEXT;
		else {
#ifdef __x86_64__
			w.reg[3] = c->reg[0], w.reg[6] = c->reg[1];
			for (int i = 0; i < 4; i++)
				w.reg[12 + i] = c->reg[2 + i];
#else
			for (int i = 0; i < 11; i++)
				w.reg[19 + i] = c->reg[i];
#endif
			w.known = KEPT | 1u << SP;
			w.reg[SP] = c->sp;
			w.pc = c->pc;
			w.interrupted = 0;
			w.stack.copy = (const uint8_t *)c->copy;
			w.stack.copy_at = c->sp;
			w.stack.copy_size = c->copied <= sizeof c->copy ? c->copied : 0;
			skip = 1; // the function of runtime/cgo that called clew_context has returned
		}
	}
	w.floor = w.reg[SP];
	while (end == ON) {
		uint64_t traced;
		if (!skip)
			n = by_steps(&w, a->buf, n, most);
		end = leave(&w, &traced);
		if (traced != 0 && !skip) {
			if (n == most) {
				end = CLEW_FULL;
				break;
			}
			a->buf[n++] = traced;
		}
		if (skip) {
			skip = 0;
			if (end == ON && w.reg[SP] - w.stack.copy_at > w.stack.copy_size)
				end = CLEW_NO_CONTEXT; // a part of its frame was not copied
			w.stack.copy_size = 0; // the frames of its callers stay
		}
	}
	clew_leave(side, n);
	if (n < a->max)
		a->buf[n] = 0;
	if (w.by_pointer)
		count(&counts.by_pointer, w.by_pointer);
	count(&counts.ended[end], 1);
}
