// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Throws exceptions through twenty calls with destructors, and sorts with libstdc++.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

volatile unsigned long sink;

struct Guard {
	~Guard()
	{
		for (int i = 0; i < 200; i++)
			sink += i;
	}
};

namespace app {
template <class T> __attribute__((noinline)) T deep(int n, T v)
{
	Guard guard;
	if (n == 0)
		throw std::runtime_error("the bottom");
	return deep<T>(n - 1, v) + 1;
}
}

int main()
{
	for (int k = 0; k < 1500; k++) {
		try {
			sink += app::deep<long>(20, k);
		} catch (const std::exception &) {
			sink++;
		}
		std::vector<std::string> v;
		for (int i = 0; i < 50; i++)
			v.push_back(std::to_string(i * k));
		std::sort(v.begin(), v.end());
	}
}
