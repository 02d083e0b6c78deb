// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Waits below two functions of generated code that keep no frame pointer, and of
// which only a dyn-info list tells: jit_regions by its regions, "jit_table" by a
// table. For amd64: gcc -O2 dyninfo.c. With -DHIDDEN -rdynamic the list has no
// symbol, only the function that returns its address, as libunwind has it.

#include "ready.h"
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

struct op { // unw_dyn_op_t
	int8_t tag, qp;
	int16_t reg;
	int32_t when;
	uint64_t val;
};

struct region { // unw_dyn_region_info_t
	struct region *next;
	int32_t insn_count;
	uint32_t op_count;
	struct op op[3];
};

struct info { // unw_dyn_info_t
	struct info *next, *prev;
	uint64_t start_ip, end_ip, gp;
	int32_t format, pad;
	uint64_t load_offset;
	union {
		struct {
			const char *name;
			uint64_t handler;
			uint32_t flags, pad;
			struct region *regions;
		} pi;
		struct {
			const char *name;
			uint64_t segbase, table_len, table_data;
		} rti;
	} u;
};

struct list { // unw_dyn_info_list_t
	uint32_t version, generation;
	struct info *first;
};

#ifdef HIDDEN
static struct list list;
#define LIST list
#else
struct list _U_dyn_info_list;
#define LIST _U_dyn_info_list
#endif

// Libunwind's, which debuggers of its kind read.
__attribute__((used, visibility("default"), optimize("O2"))) struct list *_U_dyn_info_list_addr(void) { return &LIST; }

static void wait(void)
{
	ready();
	for (;;)
		pause();
}

int main(void)
{
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x18, // sub $24,%rsp
		0x48, 0x89, 0xf8,       // mov %rdi,%rax
		0x48, 0x89, 0xf7,       // mov %rsi,%rdi
		0xff, 0xd0,             // call *%rax
		0x48, 0x83, 0xc4, 0x18, // add $24,%rsp
		0xc3,                   // ret
	};
	unsigned char *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *regions = page, *table = page + 64, *frames = page + 128;
	memcpy(regions, code, sizeof code);
	memcpy(table, code, sizeof code);

	static struct region region = {0, sizeof code, 3, {
		{4, 0, 7, 3, (uint64_t)-24}, // rsp
		{4, 0, 7, 15, 24},
		{0, 0, 0, 0, 0},
	}};
	static struct info info[2];
	info[0].next = &info[1], info[1].prev = &info[0];
	info[0].start_ip = (uint64_t)regions, info[0].end_ip = (uint64_t)regions + sizeof code;
	info[0].u.pi.name = "jit_regions", info[0].u.pi.regions = &region;

	// A CIE with augmentation zR, pointers pcrel sdata4, and an FDE.
	static unsigned char eh_frame[] = {
		0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
		0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0, 0, 0, 0, sizeof code, 0, 0, 0, 0, 0x44, 0x0e, 32, 0x4c, 0x0e, 8, 0,
	};
	int32_t start = (int32_t)(table - (frames + 32)), entry[2] = {64, 128 + 24};
	memcpy(eh_frame + 32, &start, 4);
	memcpy(frames, eh_frame, sizeof eh_frame);
	memcpy(page + 256, entry, sizeof entry);
	info[1].start_ip = (uint64_t)table, info[1].end_ip = (uint64_t)table + sizeof code;
	info[1].format = 2;
	info[1].u.rti.name = "jit_table", info[1].u.rti.segbase = (uint64_t)page;
	info[1].u.rti.table_len = 1, info[1].u.rti.table_data = (uint64_t)page + 256;
	LIST.first = &info[0], LIST.generation = 2, LIST.version = 1;

	return (int)after(((long (*)(void *, void *))regions)(table, wait));
}
