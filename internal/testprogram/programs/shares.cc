// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// As shares.c, with C++'s ways to call: virtual functions, templates, a comparison in std::sort, and an
// exception through several frames. Arguments: the number of threads, and milliseconds of processor time
// for each, 0 for no end.

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>
#include <time.h>
#include <vector>
#include "ready.h"

static long used()
{
	timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

struct Work {
	virtual ~Work() = default;
	virtual void until(long time) = 0;
};

template <int Size>
struct Sorting : Work {
	std::vector<int> values = std::vector<int>(Size);
	NOINLINE void fill(unsigned seed)
	{
		for (int &v : values)
			v = (seed = seed * 1664525 + 1013904223) >> 8;
	}
	void until(long time) override
	{
		while (used() < time) {
			fill(time);
			std::sort(values.begin(), values.end(), [](int a, int b) { return a > b; });
		}
	}
};

struct Throwing : Work {
	NOINLINE long deep(int depth)
	{
		if (depth == 0)
			throw std::runtime_error("deep");
		return after(deep(depth - 1)) + 1;
	}
	void until(long time) override
	{
		while (used() < time) {
			try {
				deep(8);
			} catch (const std::runtime_error &) {
			}
		}
	}
};

NOINLINE void heavy(Work &work, long time) { work.until(time); after(0); }
NOINLINE void light(Work &work, long time) { work.until(time); after(0); }

static void worker(long limit)
{
	std::unique_ptr<Work> sorting = std::make_unique<Sorting<100>>(), throwing = std::make_unique<Throwing>();
	const long begin = used(), slice = 1370000; // not in step with usual frequencies
	for (long at = begin; !limit || at - begin < limit; at += 4 * slice) {
		heavy(*sorting, at + 3 * slice);
		light(*throwing, at + 4 * slice);
	}
}

int main(int, char **argv)
{
	std::vector<std::thread> threads;
	for (int i = 0; i < std::stoi(argv[1]); i++)
		threads.emplace_back(worker, std::stol(argv[2]) * 1000000);
	ready();
	for (std::thread &t : threads)
		t.join();
}
