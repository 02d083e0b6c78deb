// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Calls the Go library that its first argument names: functions that return at once,
// then one that waits in Go ("Wait") or in C ("Rest"), as its second argument says, from
// a callback if there is a third one.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "ready.h"

struct two {
	long a, b;
};

static void (*pass)(void);
static void (*call)(void (*)(void));
static struct two (*last)(long, long, long, long, long, long, long, long);

static NOINLINE void inner(void)
{
	pass();
	after(last(1, 2, 3, 4, 5, 6, 7, 8).a);
}

static NOINLINE void outer(void)
{
	pass();
	call(inner);
	after(0);
}

static void *find(void *library, const char *name)
{
	void *f = dlsym(library, name);
	if (!f) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return f;
}

int main(int argc, char **argv)
{
	void *library = argc < 3 ? NULL : dlopen(argv[1], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", argc < 3 ? "which library, and what to call?" : dlerror());
		return 1;
	}
	pass = find(library, "Pass");
	call = find(library, "Call");
	last = find(library, argv[2]);
	if (argc > 3)
		outer();
	else
		inner();
	return after(1);
}
