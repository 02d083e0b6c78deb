// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && !android && (amd64 || arm64)

// What is loaded in the process. Not for handlers: the dynamic linker locks its list.

#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <string.h>
#include "objects.h"

struct list {
	struct clew_object *objects;
	uint32_t capacity, count;
	uint64_t changes;
};

static int add_object(struct dl_phdr_info *info, size_t size, void *data) {
	struct list *list = data;
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
		list->changes = info->dlpi_adds + info->dlpi_subs;
	if (list->count == list->capacity)
		return 1;
	struct clew_object *o = &list->objects[list->count++];
	o->bias = info->dlpi_addr;
	o->headers = (uint64_t)info->dlpi_phdr;
	o->header_count = info->dlpi_phnum < CLEW_HEADERS ? info->dlpi_phnum : CLEW_HEADERS;
	memcpy(o->header, info->dlpi_phdr, o->header_count * sizeof *o->header);
	if (info->dlpi_name && strlen(info->dlpi_name) < sizeof o->name)
		strcpy(o->name, info->dlpi_name);
	return 0;
}

// clew_loaded lists the loaded objects, the program first, in an array of zeros. It returns how many there
// are, or the capacity if that is less. Changes becomes a number that differs after an object was
// loaded or unloaded.
uint32_t clew_loaded(struct clew_object *objects, uint32_t capacity, uint64_t *changes) {
	struct list list = {.objects = objects, .capacity = capacity};
	dl_iterate_phdr(add_object, &list);
	*changes = list.changes;
	return list.count;
}

// clew_library_code returns an address in the C library, which is never unloaded.
uint64_t clew_library_code(void) { return (uint64_t)&getauxval; }
