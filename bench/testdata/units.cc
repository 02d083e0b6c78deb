// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// A unit of a program with much debugging information. The stack leads through all
// of them: compiled with -DUNIT=1 to -DUNIT=UNITS, each of which calls the next one. The last one waits,
// or with -DBUSY matches text until the program is killed.

#include <filesystem>
#include <functional>
#include <future>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
#include <stdio.h>
#include <unistd.h>

template <int N> struct item {
	std::map<std::string, std::vector<int>> lists;
	std::unordered_map<int, std::shared_ptr<std::string>> names;
};

template <int N> int enter(int n);

namespace work {
template <int N> struct worker {
	int run(int n, const item<N> &it)
	{
		std::regex pattern("[a-z]+" + std::to_string(N));
		std::string text = std::regex_replace("abc", pattern, "x");
		std::function<int(int)> next = [&](int k) {
			if constexpr (N < UNITS) {
				return enter<N + 1>(k) + (int)it.lists.size();
			} else {
				puts("ready");
				fflush(stdout);
#ifdef BUSY
				for (;;)
					k += std::regex_match(text, pattern);
#endif
				return pause();
			}
		};
		return next(n + (int)text.size());
	}
};
} // namespace work

template <> int enter<UNIT>(int n)
{
	item<UNIT> it;
	it.lists["first"] = {n, n + 1};
	it.names[n] = std::make_shared<std::string>("a name");
	return work::worker<UNIT>().run(n, it) + 1;
}

#if UNIT == 1
int main(int argc, char **)
{
	alarm(3600); // must not outlive the benchmark
	return enter<1>(argc);
}
#endif
