// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Reads the path of a library, loads it, and starts a thread in its function
// late; with "exec", executes itself; with "grow", takes memory that is not freed at once.

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char line[4096];
	pthread_t t;

	(void)argc;
	setvbuf(stdout, 0, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "exec"))
			execv(argv[0], argv);
		if (!strcmp(line, "grow")) {
			char *room = malloc(256 << 20);
			puts(room && memset(room, 1, 256 << 20) ? "grown" : "failed");
			continue;
		}
		void *library = dlopen(line, RTLD_NOW);
		void *late = library ? dlsym(library, "late") : 0;
		puts(late && !pthread_create(&t, 0, (void *(*)(void *))late, 0) ? "loaded" : "failed");
	}
	return 0;
}
