// A program that throws through frames with and without handlers, and exits with 0.
#include <string>
#include <vector>

static volatile int count;

struct Counted {
	int n;
	explicit Counted(int n) : n(n) { count = count + 1; }
	~Counted() { count = count - 1; }
};

__attribute__((noinline)) static int thrower(int depth, const std::string &text)
{
	Counted c(depth);
	if (depth == 0)
		throw text;
	return thrower(depth - 1, text + "x") + c.n;
}

__attribute__((noinline)) static int catcher(int depth)
{
	std::vector<int> v(depth, 1);
	try {
		return thrower(depth, "a");
	} catch (const std::string &s) {
		if (depth > 3)
			throw;
		return (int)s.size() + v[0];
	}
}

int main()
{
	int n = catcher(3);
	try {
		n += catcher(5);
	} catch (...) {
		n++;
	}
	return n != 6 || count != 0;
}
