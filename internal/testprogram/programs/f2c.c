// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Fahrenheit to Celsius. Built -O2 -g, convert keeps its line number in %rbx,
// pushed before scanf waits for input and popped at the end.

#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static double f2c(double fahrenheit)
{
	return (fahrenheit - 32) * 5 / 9;
}

__attribute__((noinline)) static int convert(int line)
{
	double fahrenheit;

	if (scanf("%lf", &fahrenheit) != 1)
		exit(0);
	printf("%d: %g F is %g C\n", line, fahrenheit, f2c(fahrenheit));
	return line + 1;
}

int main(void)
{
	printf("Fahrenheit: ");
	fflush(stdout);
	for (int line = 1;;) {
		line = convert(line);
		fflush(stdout);
	}
}
