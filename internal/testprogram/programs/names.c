// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Changes its name all the time.

#include <stdio.h>
#include <sys/prctl.h>
#include "ready.h"

int main(void)
{
	ready();
	for (unsigned i = 0;; i++) {
		char name[16];
		snprintf(name, sizeof name, "name %x", i);
		prctl(PR_SET_NAME, name);
	}
}
