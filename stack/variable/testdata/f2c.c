// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Fahrenheit to Celsius, which crashes on the way.

volatile double input = 98, output;
double *volatile nowhere;

__attribute__((noinline)) static double f2c(double f)
{
	*nowhere = f;
	return (f - 32) * 5 / 9;
}

int main(void)
{
	output = f2c(input);
	return 0;
}
