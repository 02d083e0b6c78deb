// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android && (amd64 || arm64)

// Frames of code without unwind information. They are left by their frame pointer, if the
// instructions of the function set one up, or by their return address at the start of a function.

#define _GNU_SOURCE
#include <stddef.h>
#include "walk.h"

// after_call reports whether an address follows a call. It sets target to the target of the call, 0
// if the call is indirect.
CLEW_PLAIN static int after_call(struct walk *w, uint64_t pc, uint64_t *target) {
	const struct clew_segment *s = clew_find(w->list, pc - 1);
	*target = 0;
	if (s == NULL)
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

#ifdef __x86_64__
static int is_endbr(const uint8_t *b) { return b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && b[3] == 0xfa; }
#endif

// resolved returns the function that a stub of the procedure linkage table jumps to, or the
// address itself.
CLEW_PLAIN static uint64_t resolved(struct walk *w, uint64_t address) {
	const struct clew_segment *s = clew_find(w->list, address);
	uint64_t function;
	if (s == NULL)
		return address;
#ifdef __x86_64__
	uint8_t b[12];
	if (!read_code(w, s, address, b, sizeof b))
		return address;
	const uint8_t *p = b;
	p += is_endbr(b) ? 4 : 0;
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

// clew_by_return leaves a function that has not yet made a frame, if the return address follows a
// call of it. Sure: any call is enough, because the instructions show that there is no frame. Start
// is 0 if it is not known.
CLEW_PLAIN int clew_by_return(struct walk *w, uint64_t start, int sure) {
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
	if (!after_call(w, ra, &target) || (!sure && !calls(w, target, start)))
		return CLEW_NO_RULE;
	w->known &= KEPT | 1u << SP;
	return move(w, ra, sp);
}

// in_frame reports whether an interrupted function certainly has its frame. After the function has
// left its frame, the stack pointer is at a return address. Saved is the return address in the
// frame. Direct: a call of the function precedes it.
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

// clew_by_pointer leaves a frame without a rule by its frame pointer, if its function has made a
// frame. Start is 0 if it is not known: then it is what the call before the frame's return address
// calls, if that precedes the frame's address.
CLEW_PLAIN int clew_by_pointer(struct walk *w, const struct clew_segment *s, uint64_t start) {
	if (start == 0) {
		uint64_t fp = w->reg[FP], ra, target;
		if (w->interrupted || !is_known(w, FP) || fp < w->floor || fp % 8 != 0)
			return CLEW_NO_RULE;
		if (!read_word(&w->stack, fp + 8, &ra))
			return CLEW_UNREADABLE;
		if (!after_call(w, stripped(ra), &target) || target == 0)
			return CLEW_NO_RULE;
		start = resolved(w, target);
		if (start < s->start || start >= w->pc)
			return CLEW_NO_RULE;
	}
	uint64_t size = 16; // from the frame pointer to the CFA
#ifdef __x86_64__
	uint8_t b[8];
	if (!read_code(w, s, start, b, sizeof b))
		return CLEW_NO_RULE;
	int n = is_endbr(b) ? 4 : 0;
	const uint8_t *p = b + n; // push %rbp; mov %rsp, %rbp
	int frame = p[0] == 0x55 && p[1] == 0x48 && ((p[2] == 0x89 && p[3] == 0xe5) || (p[2] == 0x8b && p[3] == 0xec));
	uint64_t at = w->pc - start;
	if (!frame)
		return w->interrupted ? clew_by_return(w, start, 0) : CLEW_NO_RULE;
	if (w->interrupted) {
		uint8_t now;
		if (at <= (uint64_t)n || (read_code(w, s, w->pc, &now, 1) && now == 0xc3))
			return clew_by_return(w, start, 1);
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
#else
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
		return w->interrupted ? clew_by_return(w, start, 0) : CLEW_NO_RULE;
	if (w->interrupted) {
		uint32_t now = 0;
		if (w->pc <= at - 4 || (read_code(w, s, w->pc, &now, 4) && now == 0xd65f03c0))
			return clew_by_return(w, start, 1);
		if (w->pc == at) // x29 is saved, and not yet changed
			w->reg[FP] = w->reg[SP];
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
	// An interrupted function may have left its frame already, for example before it jumps to
	// another function. Then this is the frame of its caller.
	if (w->interrupted && ((target != 0 && !calls(w, target, start)) || !in_frame(w, s, start, target != 0, ra)))
		return CLEW_NO_RULE;
	int end = move(w, ra, fp + size);
	if (end != ON)
		return end;
	w->reg[FP] = next;
	w->known = 1u << FP | 1u << SP; // functions without rules can save the others anywhere
	w->by_pointer++;
	return ON;
}
