// Values of C++ types, for comparison with gdb.
#include <cstddef>

#define NOINLINE __attribute__((noinline))

volatile int sink;

namespace space {
int count = 3;
enum class Mode : unsigned char { Off, On = 4 };
enum Plain { A, B, C };
namespace inner { struct Deep { int v; }; }
}

struct Base {
	int b = 1;
	virtual ~Base() {}
	virtual int id() { return b; }
};

struct Other {
	char o = 'o';
};

class Derived : public Base, public Other {
public:
	int d;
	static int instances;
	explicit Derived(int n) : d(n) { instances++; }
	int id() override;
	NOINLINE int method(int k, const char *s) const;
private:
	bool flag = true;
	space::Mode mode = space::Mode::On;
};

int Derived::instances = 0;

int Derived::id() { return d; }

NOINLINE int Derived::method(int k, const char *s) const
{
	int local = k + d;
	sink = local + s[0]; // STOP
	return local;
}

struct Virtual : virtual Base { int v = 9; };
struct Empty {};
struct OnlyBase : Other {};

template <typename T, int N> struct Box {
	T items[N];
	NOINLINE T first(T fallback) const
	{
		T r = N ? items[0] : fallback;
		sink += (int)r; // STOP
		return r;
	}
};

namespace {
struct Hidden { int h = 5; };
}

NOINLINE int references(int &r, const Derived &cd, int &&rr, Hidden hidden)
{
	struct Holder { int &ref; Derived *ptr; } holder{r, nullptr};
	int *np = nullptr;
	Box<double, 2> box{{1.5, 2.5}};
	space::Mode mode = space::Mode::On, other = (space::Mode)7;
	space::Plain plain = space::B;
	space::inner::Deep deep{8};
	Virtual virt;
	Empty empty;
	OnlyBase only;
	wchar_t wc = L'z';
	std::nullptr_t null = nullptr;
	auto lambda = [&](int x) { return x + r; };
	sink = r + cd.d + rr + hidden.h + holder.ref + plain; // STOP
	return (int)box.first(0) + (np != nullptr) + (int)mode + (int)other + deep.v + virt.v + only.o + (int)wc + (null == nullptr) + lambda(1) + sizeof empty;
}

int main(int argc, char **)
{
	Derived d(7);
	int n = argc;
	sink = d.method(2, "method");
	sink = references(n, d, 5, Hidden());
	return 0;
}
