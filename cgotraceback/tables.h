// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// The tables that Go prepares in mapped memory and that traceback.c and symbolizer.c read.
// Package compact writes the tables of one file (struct clew_unwind, clew_names, clew_lines).
// All offsets in them are in bytes from the start of their table. compact.Check checks that the
// arrays are inside of the table, and every index is checked when it is used.

#ifndef CLEW_TABLES_H
#define CLEW_TABLES_H

#include <stdint.h>

#ifndef CLEW_HIDDEN
#define CLEW_HIDDEN __attribute__((visibility("hidden")))
#endif
// Readers look at memory that sanitizers would report.
#define CLEW_PLAIN __attribute__((no_sanitize("address", "thread", "undefined")))

struct clew_array {
	uint32_t offset, count;
};

// clew_entry is an entry of an array that is sorted by start. Most hold up to the next one.
struct clew_entry {
	uint32_t start, value;
};

// clew_head begins every table.
struct clew_head {
	uint32_t magic, size; // for compact.Check
	uint64_t base; // the file's address that offsets of code are relative to
};

// clew_unwind is a table of rules. Package unwind describes the arrangement: a block is 256
// bytes of code. Its first row has the number groups[block / 64] + blocks[block]. rows has
// for each block the offsets of its rows in the block, and then the codes of their rules.
struct clew_unwind {
	struct clew_head head;
	struct clew_array groups; // uint32_t
	struct clew_array blocks; // uint16_t
	struct clew_array rows;   // uint8_t
	struct clew_array rare;   // struct clew_entry: the row, and its rule
	struct clew_array rules;  // struct clew_rule; the first is a placeholder
	struct clew_array saved;  // struct clew_saved
};

enum { CLEW_RARE = 255 };

enum { // of a rule
	CLEW_SIGNAL = 1,   // a signal interrupted the caller
	CLEW_SIGNED = 2,   // the return address is signed
	CLEW_OUTERMOST = 4,// the return address is undefined
	CLEW_DEREF = 8,    // the CFA is the word at register+offset, plus more
	CLEW_PLT = 16,     // the CFA is register+offset, plus 8 from byte more of 16 on
	CLEW_UNKNOWN = 32, // the rules are not described
};

struct clew_rule {
	int32_t offset, more;
	uint32_t saved; // index of the first of the saved registers
	uint8_t reg, flags, count, unused;
};

enum { // of a saved register
	CLEW_AT_CFA = 1,   // in memory at the CFA plus offset
	CLEW_IS_CFA = 2,   // the CFA plus offset
	CLEW_IN = 3,       // the value of another register
	CLEW_AT = 4,       // in memory at another register plus offset
	CLEW_LOST = 5,
};

struct clew_saved {
	int32_t offset;
	uint8_t column, kind, reg, unused;
};

// clew_names are the functions by address.
struct clew_names {
	struct clew_head head;
	struct clew_array symbols; // struct clew_entry: the offset of the name in the module's strings, or CLEW_NONE
};

enum { CLEW_NONE = 0xffffffff };

// clew_lines are the places in the source by address.
struct clew_lines {
	struct clew_head head;
	struct clew_array ranges;  // struct clew_entry: the innermost place, 0 for none
	struct clew_array places;  // struct clew_place; the first is a placeholder
	struct clew_array strings; // char; each ends with a 0, and so does the array
};

struct clew_place {
	uint32_t function, file; // offsets in strings
	uint32_t line;
	uint32_t caller; // the place that the function was inlined into, which has a lower number; 0 for none
};

// CLEW_CALL is the size of the shortest call. A traceback has the address so far before the return
// address: in profiles of blocking, the runtime adds 1, which must be in the call too.
#ifdef __x86_64__
enum { CLEW_CALL = 2 };
typedef uint64_t clew_distances;
#else
enum { CLEW_CALL = 4 };
typedef unsigned __int128 clew_distances;
#endif
enum { CLEW_STEPS = 2048 };

// The list of what is mapped in the process. Go publishes a new one when it changes.

// clew_segment is code of a module, which is not Go's.
struct clew_segment {
	uint64_t start, end;
	uint64_t module;
};

enum { CLEW_PINNED = 1 }; // of a module: it is never unloaded

struct clew_module {
	uint64_t bias;
	const struct clew_unwind *unwind;
	const struct clew_names *names;
	const struct clew_lines *lines;
	const char *strings; // of names
	uint64_t strings_size;
	const char *label; // the name of a function without a symbol
	// The mark is a part of the image that differs between files. It must still be there.
	uint64_t mark;
	uint8_t mark_bytes[32];
	uint32_t mark_size, flags;
};

struct clew_list {
	uint64_t size; // of the mapping
	struct clew_segment *segments;
	struct clew_module *modules;
	uint64_t segment_count, module_count;
	uint64_t go_start, go_end; // code of Go: a walk ends there
	struct clew_step *steps; // CLEW_STEPS of them, or NULL
};

// clew_step is the rule at one address, in a form that is quick to apply. Walks write steps
// and read them, each in the slot that belongs to its address. They are a part of the list,
// so that none outlives the tables from which it was made.
struct clew_step {
	uint64_t sequence; // odd while a walk writes the step
	uint64_t pc;
	int32_t offset; // of the CFA
	uint32_t info;
	// A byte for each saved register, by ascending column: how many words below the CFA it is.
	// The highest byte is the largest of these.
	clew_distances at;
};

enum { // of clew_step.info, from the lowest bit on
	CLEW_MODULE_BITS = 6, // the index, or CLEW_STAYS
	CLEW_BY_FP = 1 << 6,  // the CFA is relative to the frame pointer, else to the stack pointer
	CLEW_STRIP = 1 << 7,  // the return address is signed
	CLEW_SAVED = 8,       // the set of saved registers: see SAVED_FROM
};

enum { CLEW_STAYS = 63 }; // instead of the index of a pinned module

// Why a walk ended. Package cgotraceback has the same order in Counters.
enum {
	CLEW_COMPLETE,  // at Go code, or at the outermost frame
	CLEW_FULL,      // the buffer is full, or the limit of frames is reached
	CLEW_NO_TABLES, // nothing is prepared yet
	CLEW_NO_MODULE, // an address outside of the known code
	CLEW_NO_RULE,   // code without rules, and no frame pointer
	CLEW_UNREADABLE,// memory that cannot be read
	CLEW_NO_PROGRESS,
	CLEW_STALE,     // the module was unloaded
	CLEW_NO_CONTEXT,// no context was recorded, or the handler's stack is too small
	CLEW_REASONS,
};

// clew_counts are only ever added to. The number of walks is the sum of ended.
struct clew_counts {
	uint64_t by_pointer;
	uint64_t ended[CLEW_REASONS];
};

struct clew_traceback_arg {
	uintptr_t context, sigcontext;
	uintptr_t *buf;
	uintptr_t max;
};

struct clew_context_arg {
	uintptr_t context;
};

struct clew_symbolizer_arg {
	uintptr_t pc;
	const char *file;
	uintptr_t line;
	const char *function;
	uintptr_t entry, more, data;
};

CLEW_HIDDEN void clew_traceback(struct clew_traceback_arg *);
CLEW_HIDDEN void clew_context(struct clew_context_arg *);
CLEW_HIDDEN void clew_symbolizer(struct clew_symbolizer_arg *);

// For Go, outside of handlers.
CLEW_HIDDEN extern struct clew_counts clew_counts;
CLEW_HIDDEN extern uint32_t clew_most_frames; // in one traceback
CLEW_HIDDEN extern int clew_by_copy; // how memory is checked: see clew_check_memory
CLEW_HIDDEN struct clew_list *clew_publish(struct clew_list *);
CLEW_HIDDEN int clew_idle(unsigned side);
CLEW_HIDDEN uint64_t clew_frames(void);

// For both C files.
CLEW_HIDDEN unsigned clew_enter(void);
CLEW_HIDDEN void clew_leave(unsigned, uint64_t frames);
CLEW_HIDDEN struct clew_list *clew_current(void);
CLEW_HIDDEN int clew_readable(uint64_t address);
CLEW_HIDDEN const struct clew_segment *clew_find(const struct clew_list *, uint64_t pc);
CLEW_HIDDEN int clew_is_trampoline(uint64_t pc);
CLEW_HIDDEN const struct clew_entry *clew_entry_at(const void *table, struct clew_array, uint64_t at);

#endif
