// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

int other(int n);
extern volatile int count;

__attribute__((noipa)) static void stop(void)
{
	if (++count == 2)
		__builtin_trap();
}

__attribute__((noipa)) int again(int n)
{
	stop(); // calls
	return other(count * 10); // jumps
}

int main(int argc, char **argv)
{
	return again(argc) + 1;
}
