// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Loops calling the smallest functions of libc through the procedure linkage
// table. Build with -fno-builtin -fplt -Wl,-z,lazy.

#include <stdlib.h>
#include <strings.h>
#include "ready.h"

NOINLINE long spin(void)
{
	long sum = 0;
	for (int i = 0;; i++) {
		sum += labs(i) + abs(i) + ffs(i);
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

int main(void)
{
	ready();
	return (int)after(spin());
}
