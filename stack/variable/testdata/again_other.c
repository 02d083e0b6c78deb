// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

int again(int n);
volatile int count;

__attribute__((noipa)) int other(int n)
{
	count = 1;
	return again(n + 1); // jumps
}
