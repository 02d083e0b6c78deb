// Functions with the frames that compilers make: built by seeded_test.go with several
// compilers and options.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
void use(void *);
long sink(long, ...);
void fatal(const char *) __attribute__((noreturn));
}

extern "C" long leaf(long a, long b) { return a * 3 + b; }

extern "C" long saves(long a, long b, long c) {
	long x = sink(a), y = sink(b), z = sink(c), w = sink(a ^ b);
	return x * y + z * w + sink(x + y, z, w) + a * b * c;
}

extern "C" long pushes(long a) { return sink(a, 2, 3, 4, 5, 6, 7, 8, 9) + sink(a, 1, 2, 3, 4, 5, 6, 7); }

extern "C" long big(long a) {
	char buffer[40000];
	use(buffer);
	return buffer[a] + sink(a);
}

extern "C" long dynamic(long n) {
	char *p = (char *)__builtin_alloca(n);
	use(p);
	long s = 0;
	for (long i = 0; i < n; i++) {
		char q[i + 1];
		use(q);
		s += q[0] + sink(i);
	}
	return s + p[0];
}

extern "C" long realigned(long a, long b) {
	alignas(64) char buffer[256];
	use(buffer);
	return buffer[a] + sink(b);
}

extern "C" long realignedDynamic(long a, long b, long c, long d, long e, long f, long g, long h) {
	alignas(64) char buffer[256];
	char *p = (char *)__builtin_alloca(a);
	use(buffer);
	use(p);
	return buffer[b] + sink(c, d, e, f, g, h) + h;
}

extern "C" long choose(long n, long m) {
	switch (n) {
	case 0: return sink(m);
	case 1: return sink(m, n) + 1;
	case 2: m += sink(3); break;
	case 3: m *= sink(4, m); break;
	case 4: use(&m); break;
	case 5: return -m;
	case 6: m ^= sink(n, n, n); break;
	case 7: return sink(m, 1) * sink(m, 2);
	}
	return m + sink(n);
}

extern "C" long guarded(long a, long b) {
	if (__builtin_expect(a > b, 0)) fatal("order");
	long x = sink(a);
	if (__builtin_expect(x < 0, 0)) {
		use(&x);
		fatal("negative");
	}
	if (x == 3) return 1;
	return sink(x, a, b) + b;
}

extern "C" long early(long a) {
	if (a == 0) return 7;
	long s = 0;
	while (a--) s += sink(a, s);
	return s;
}

extern "C" long tail(long a) {
	long s = sink(a) + sink(a + 1);
	return sink(s, a);
}

extern "C" long variadic(const char *format, ...) {
	va_list list;
	va_start(list, format);
	long n = vprintf(format, list) + va_arg(list, long);
	va_end(list);
	return n;
}

struct Guard {
	long n;
	explicit Guard(long n) : n(n) { sink(n); }
	~Guard() { sink(n, 1); }
};

long cleanup(long a) {
	Guard first(a), second(a + 1);
	if (sink(a) == 5) throw std::runtime_error("five");
	return sink(a, 2);
}

long caught(long a) {
	long n = a;
	try {
		n += cleanup(a);
		Guard g(n);
		n += cleanup(n);
	} catch (const std::runtime_error &e) {
		n += sink(e.what()[0]);
	} catch (...) {
		Guard g(n);
		throw;
	}
	return n;
}

std::string joined(const std::vector<std::string> &list) {
	std::string s;
	for (const auto &e : list) s += e + ",";
	if (s.size() > 100) throw std::length_error(s);
	return s;
}

extern "C" double floats(double a, double b, long n) {
	double s = 0;
	for (long i = 0; i < n; i++) s += a * i + b * double(sink(i));
	return s;
}
