// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#ifndef CLEW_OBJECTS_H
#define CLEW_OBJECTS_H

#include "tables.h"

enum { CLEW_SEGMENTS = 16 };

struct clew_object {
	uint64_t bias;
	char name[1024]; // "" for the program, and for a longer name
	int is_main, segments;
	struct {
		uint64_t address, size; // without the bias
		uint32_t flags, unused; // PF_X
	} segment[CLEW_SEGMENTS];
	uint64_t mark; // see struct clew_module
	uint8_t mark_bytes[32];
	uint32_t mark_size;
	uint32_t id_size; // the mark is a build ID, or begins one: its size, or 0
};

struct clew_objects {
	struct clew_object *objects;
	uint64_t changes;
	uint32_t count, capacity;
	int count_only;
};

CLEW_HIDDEN uint64_t clew_changes(void);
CLEW_HIDDEN struct clew_objects *clew_loaded(void);
CLEW_HIDDEN void clew_release(struct clew_objects *);
CLEW_HIDDEN int clew_copy(void *to, uint64_t from, uint64_t size);
CLEW_HIDDEN uint64_t clew_vdso(void);
CLEW_HIDDEN uint64_t clew_own_code(void);
CLEW_HIDDEN uint64_t clew_library_code(void);

#endif
