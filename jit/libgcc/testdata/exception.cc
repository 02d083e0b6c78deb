// Throws in a function that generated code calls, and catches in its caller.
// g++ -shared -fPIC -O1 -o exception.so exception.cc
#include <cstdint>

struct guard {
	std::uintptr_t *count;
	~guard() { ++*count; }
};

// The generated code calls throws.
extern "C" std::uintptr_t throws(std::uintptr_t *destroyed) {
	guard g{destroyed};
	throw 42;
}

extern "C" std::uintptr_t catches(std::uintptr_t (*code)(std::uintptr_t *), std::uintptr_t *destroyed) {
	try {
		guard g{destroyed};
		return code(destroyed);
	} catch (int n) {
		return n;
	}
}
