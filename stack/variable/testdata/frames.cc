// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// A chain of calls of C++, which crashes at its end.

// It includes nothing, so that no inlined code of a library has lines in it.

#define KEEP __attribute__((noinline))

volatile int sink;
int *volatile nowhere;

struct Text {
	const char *start;
	unsigned size;
};

template <typename A, typename B> struct Pair {
	A first;
	B second;
};

namespace shapes {

enum class Kind : char { Round = 'r', Square = 's' };

struct Base {
	int id;
	explicit Base(int id) : id(id) {}
	virtual ~Base() {}
	KEEP virtual int area(int scale, const Text &name) const;
};

template <typename T> struct Box : Base {
	T side;
	Box(int id, T side) : Base(id), side(side) {}
	KEEP int area(int scale, const Text &name) const override
	{
		int r = Base::area(scale * static_cast<int>(side), name);
		sink += id;
		return r + 1;
	}
	template <typename U> KEEP int grow(U by, Kind kind)
	{
		side += by;
		int r = area(static_cast<int>(by), Text{ "grown", 5 });
		sink += static_cast<int>(kind);
		return r + static_cast<int>(side);
	}
};

namespace {
KEEP int crash(const int &at, int &&by, bool yes)
{
	sink += at + by;
	*nowhere = yes; // the end
	return sink;
}
} // namespace

int Base::area(int scale, const Text &name) const
{
	int r = crash(scale, static_cast<int>(name.size), id > 0);
	sink += id + scale;
	return r + 1;
}

KEEP static int call(int (*f)(int &, Kind), int n)
{
	int r = f(n, Kind::Square);
	return r + 1;
}

inline __attribute__((always_inline)) int inside(int &n, Kind k)
{
	Box<double> box(n, 1.5);
	return box.grow(n, k) + n;
}

KEEP static int through(int &n, Kind k) { return inside(n, k) + 1; }

} // namespace shapes

KEEP static int pairs(Pair<int, const char *> p, int (&v)[3])
{
	int r = shapes::call(shapes::through, p.first);
	sink += p.second[0];
	return r + v[1];
}

struct Caller {
	int operator()(int a, unsigned char b) const;
	static KEEP int fixed(long n);
	int member = 3;
};

KEEP int Caller::operator()(int a, unsigned char b) const
{
	int v[3] = { a, b, member };
	int r = pairs(Pair<int, const char *>{ a, "pair" }, v);
	return r + b + member;
}

int Caller::fixed(long n)
{
	Caller c;
	int r = c(static_cast<int>(n), 'b');
	return r + c.member;
}

int main(int argc, char **)
{
	int (*f)(long) = Caller::fixed;
	int r = f(argc + 2);
	return r + 1;
}
