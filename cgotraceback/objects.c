// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android && (amd64 || arm64)

// What is loaded in the process. Not for handlers: the dynamic linker locks its list.

#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "objects.h"

// find_mark finds the build ID in the notes of an object.
static void find_mark(struct clew_object *o, const struct dl_phdr_info *info) {
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_NOTE || p->p_filesz > 1 << 16)
			continue;
		const char *at = (const char *)info->dlpi_addr + p->p_vaddr, *end = at + p->p_filesz;
		while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)at;
			size_t left = end - at - sizeof *n;
			if (n->n_namesz > left || n->n_descsz > left || ((n->n_namesz + 3) & ~3u) + n->n_descsz > left)
				break;
			const char *desc = at + sizeof *n + ((n->n_namesz + 3) & ~3u);
			if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(at + sizeof *n, "GNU", 4) == 0 && n->n_descsz >= 8) {
				o->id_size = o->mark_size = n->n_descsz < sizeof o->mark_bytes ? n->n_descsz : sizeof o->mark_bytes;
				o->mark = (uint64_t)desc;
				memcpy(o->mark_bytes, desc, o->mark_size);
				return;
			}
			size_t next = sizeof *n + ((n->n_namesz + 3) & ~3u) + ((n->n_descsz + 3) & ~3u);
			if (next >= (size_t)(end - at))
				break;
			at += next;
		}
	}
	// The addresses and sizes of the code.
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			o->mark = (uint64_t)&p->p_vaddr;
			o->mark_size = 32; // vaddr, paddr, filesz, memsz
			memcpy(o->mark_bytes, &p->p_vaddr, 32);
		}
	}
}

static int add_object(struct dl_phdr_info *info, size_t size, void *data) {
	struct clew_objects *list = data;
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
		list->changes = info->dlpi_adds + info->dlpi_subs;
	if (list->count_only)
		return 1;
	if (list->count == list->capacity)
		return 1;
	struct clew_object *o = &list->objects[list->count++];
	memset(o, 0, sizeof *o);
	o->bias = info->dlpi_addr;
	if (info->dlpi_name && strlen(info->dlpi_name) < sizeof o->name)
		strcpy(o->name, info->dlpi_name);
	o->is_main = list->count == 1;
	for (int i = 0; i < info->dlpi_phnum && o->segments < CLEW_SEGMENTS; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		o->segment[o->segments].address = p->p_vaddr;
		o->segment[o->segments].size = p->p_memsz;
		o->segment[o->segments++].flags = p->p_flags;
	}
	find_mark(o, info);
	return 0;
}

// clew_changes returns a number that changes when objects are loaded or unloaded.
uint64_t clew_changes(void) {
	struct clew_objects list = {.count_only = 1};
	dl_iterate_phdr(add_object, &list);
	return list.changes;
}

// clew_loaded lists the loaded objects. clew_release frees the list.
struct clew_objects *clew_loaded(void) {
	struct clew_objects *list = calloc(1, sizeof *list);
	if (list == NULL)
		return NULL;
	for (list->capacity = 256; list->capacity <= 1 << 16; list->capacity *= 4) {
		free(list->objects);
		list->count = 0;
		list->objects = calloc(list->capacity, sizeof *list->objects);
		if (list->objects == NULL)
			break;
		dl_iterate_phdr(add_object, list);
		if (list->count < list->capacity)
			break;
	}
	return list;
}

void clew_release(struct clew_objects *list) {
	if (list != NULL)
		free(list->objects);
	free(list);
}

// clew_copy copies memory of the process. It returns 0 if that cannot be read.
CLEW_PLAIN int clew_copy(void *to, uint64_t from, uint64_t size) {
	if (from + size < from)
		return 0;
	for (uint64_t page = from & ~4095UL; page < from + size; page += 4096)
		if (!clew_readable(page))
			return 0;
	for (uint64_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = ((const volatile uint8_t *)from)[i];
	return 1;
}

uint64_t clew_vdso(void) { return getauxval(AT_SYSINFO_EHDR); }

// Addresses in objects that are never unloaded: this one, and the C library.
uint64_t clew_own_code(void) { return (uint64_t)&clew_traceback; }
uint64_t clew_library_code(void) { return (uint64_t)&getauxval; }
