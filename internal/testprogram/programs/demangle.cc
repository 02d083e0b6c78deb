// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Frames whose names need demangling: templates, operators, lambdas, anonymous
// namespaces, conversions, constructors.

#include <functional>
#include <map>
#include <string>
#include <vector>
#include "ready.h"

namespace shapes {

NOINLINE int waiting()
{
	ready();
	for (;;)
		pause();
	return 0;
}

namespace {
template <typename T, int N> struct Box {
	T value;
	NOINLINE operator int() const { return waiting() + N; }
	NOINLINE int operator()(const std::map<std::string, std::vector<T>> &m) const
	{
		return (int)*this + (int)m.size();
	}
	NOINLINE Box &operator<<=(int n)
	{
		value += (*this)({{"key", {value}}}) + n;
		return *this;
	}
};
} // namespace

template <typename F, typename... Ts> NOINLINE int apply(F f, Ts... arguments)
{
	std::function<int(Ts...)> g = f;
	return g(arguments...) + 1;
}

struct Shape {
	int area;
	NOINLINE explicit Shape(Box<double, 3> box) : area(0)
	{
		box <<= 4;
		area = (int)box.value;
	}
	NOINLINE virtual ~Shape() {}
};

} // namespace shapes

int main()
{
	return shapes::apply(
		[](int a, char b) {
			shapes::Shape shape(shapes::Box<double, 3>{1.5});
			return shape.area + a + b;
		},
		1, 'c');
}
