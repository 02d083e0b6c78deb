// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

int advance(int n);

static __attribute__((noinline)) int via(int n)
{
	return advance(n * 3); // jumps
}

int main(int argc, char **argv)
{
	return via(argc) + 1;
}
