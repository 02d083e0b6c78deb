// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#ifndef CLEW_OBJECTS_H
#define CLEW_OBJECTS_H

#include <elf.h>
#include <sys/auxv.h>
#include "tables.h"

enum { CLEW_HEADERS = 32 };

// clew_object is a loaded object.
struct clew_object {
	uint64_t bias;
	uint64_t headers; // where the program headers are in memory
	uint32_t header_count, unused; // at most CLEW_HEADERS
	Elf64_Phdr header[CLEW_HEADERS];
	char name[1024]; // "" for the program, and for a longer name
};

CLEW_HIDDEN uint32_t clew_loaded(struct clew_object *, uint32_t capacity, uint64_t *changes);
CLEW_HIDDEN uint64_t clew_library_code(void);

#endif
