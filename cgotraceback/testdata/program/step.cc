//go:build !plain

#include <stdexcept>
#include <string>
#include "program.h"


extern volatile int sink __asm__("sink");
extern "C" void spin(int n);

namespace step {
struct Unwound {
	~Unwound() { spin(1000); }
};

__attribute__((noinline)) void thrower(int n) {
	Unwound u;
	if (n == 0)
		throw std::runtime_error("thrown");
	thrower(n - 1);
	sink = sink + 1;
}

__attribute__((noinline)) void quiet(int n) {
	std::string text(40 + n, 'x');
	if (n == 0)
		throw std::runtime_error(text);
	quiet(n - 1);
	sink = sink + text.size();
}

struct Delivered {
	~Delivered() { deliver_here(); }
};

// delivered has destructors that run while an exception is in flight.
__attribute__((noinline)) void delivered(int n) {
	Delivered d;
	if (n == 0)
		throw std::runtime_error("in flight");
	delivered(n - 1);
	sink = sink + 1;
}

template <typename T> __attribute__((noinline)) void next(T kind) {
	if (kind == THROW) {
		for (int i = 0; i < 50; i++)
			try {
				thrower(i % 8);
			} catch (const std::exception &e) {
				sink = sink + 1;
			}
	} else
#ifdef RUST
		rust_step(kind, c_inner);
#else
		c_inner(kind);
#endif
	sink = sink + 1;
}
}

extern "C" void cpp_step(int kind) {
	step::next(kind);
	sink = sink + 1;
}

extern "C" void cpp_throw(int n) {
	try {
		step::quiet(n);
	} catch (const std::exception &e) {
		sink = sink + 1;
	}
}

extern "C" void cpp_deliver(int n) {
	try {
		step::delivered(n);
	} catch (const std::exception &e) {
		sink = sink + 1;
	}
}
