// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Compiled with -DLIBRARY, a library with variables in nested blocks; without it, an
// object whose function calls the library, which calls back.

#ifdef LIBRARY

int file_global = 70;

int between(int (*back)(int), int n)
{
  int total = n * 2;
  {
    int inner = total + 1;
    {
      int total = inner + 1;
      return back(inner) + total; // NESTED
    }
  }
}

#else

int back(int n)
{
  return n + 1; // BACK
}

int enter(int (*between)(int (*)(int), int), int n)
{
  return between(back, n) + 1;
}

#endif
