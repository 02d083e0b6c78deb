// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Compiled with -DLIBRARY, a library that writes a variable of its caller; without it,
// the object with the caller.

#ifdef LIBRARY

static int scale = 10;

int fill(int *cell, int n)
{
  for (int i = 1; i <= n; i++) {
    int scaled = scale * i;
    *cell = scaled;
  }
  return n;
}

#else

int cell;

int enter(int (*fill)(int *, int), int n)
{
  int outer = n + 1;
  cell = 1; // ENTER
  return fill(&cell, n) + outer;
}

#endif
