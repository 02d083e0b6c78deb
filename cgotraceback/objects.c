// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android && (amd64 || arm64)

// What is loaded in the process. Not for handlers: the dynamic linker locks its list.

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>
#include "objects.h"

// by_pipe copies memory through a pipe, where the kernel refuses process_vm_readv.
static int by_pipe(char *to, uint64_t from, uint64_t size) {
	int ends[2];
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return 0;
	while (size > 0) {
		size_t n = size < 4096 ? size : 4096;
		if (write(ends[1], (void *)from, n) != (ssize_t)n || read(ends[0], to, n) != (ssize_t)n)
			break;
		to += n, from += n, size -= n;
	}
	close(ends[0]);
	close(ends[1]);
	return size == 0;
}

// clew_copy copies memory of the process. It returns 0 if that cannot be read. The kernel copies,
// because another thread can unmap the memory at any time, as dlclose does.
int clew_copy(void *to, uint64_t from, uint64_t size) {
	if (from + size < from)
		return 0;
	struct iovec here = {to, size}, there = {(void *)from, size};
	ssize_t n = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
	if (n < 0 && errno != EFAULT)
		return by_pipe(to, from, size);
	return n >= 0 && (uint64_t)n == size;
}

// find_mark finds the build ID in the notes of an object. The dynamic linker does not read them,
// so that they need not be mapped.
static void find_mark(struct clew_object *o, const struct dl_phdr_info *info) {
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_NOTE || p->p_filesz > 1 << 16)
			continue;
		uint64_t at = info->dlpi_addr + p->p_vaddr, left = p->p_filesz;
		struct { ElfW(Nhdr) head; char name[4]; } n;
		while (left >= sizeof n && clew_copy(&n, at, sizeof n)) {
			uint64_t desc = sizeof n.head + (((uint64_t)n.head.n_namesz + 3) & ~3UL), size = n.head.n_descsz;
			if (desc > left || size > left - desc)
				break;
			if (n.head.n_type == NT_GNU_BUILD_ID && n.head.n_namesz == 4 && memcmp(n.name, "GNU", 4) == 0 && size >= 8) {
				o->mark_size = size < sizeof o->mark_bytes ? size : sizeof o->mark_bytes;
				o->mark = at + desc;
				if (clew_copy(o->mark_bytes, o->mark, o->mark_size)) {
					o->id_size = o->mark_size;
					return;
				}
				o->mark_size = 0;
				break;
			}
			uint64_t next = desc + ((size + 3) & ~3UL);
			if (next >= left)
				break;
			at += next;
			left -= next;
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

uint64_t clew_vdso(void) { return getauxval(AT_SYSINFO_EHDR); }

// Addresses in objects that are never unloaded: this one, and the C library.
uint64_t clew_own_code(void) { return (uint64_t)&clew_traceback; }
uint64_t clew_library_code(void) { return (uint64_t)&getauxval; }
