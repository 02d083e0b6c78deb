// Containers by policies: templates with templates and values as arguments, packs, specializations.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <cstddef>
#include <utility>
template <typename T> struct Heap { static constexpr bool grows = true; T *cells = nullptr; unsigned capacity = 0; T &at(unsigned i) { if (i >= capacity) grow(i + 1); return cells[i]; } void grow(unsigned n) { T *more = new T[n](); for (unsigned i = 0; i < capacity; i++) more[i] = cells[i]; delete[] cells; cells = more; capacity = n; } };
template <typename T> struct Fixed { static constexpr bool grows = false; T cells[4] = {}; T &at(unsigned i) { return cells[i % 4]; } };
struct Loud { int warnings = 0; void check(bool ok) { warnings += !ok; } };
struct Quiet { void check(bool) {} };
template <typename T, template <typename> class Storage = Heap, typename Checking = Quiet, unsigned Limit = 4> class Stack : private Storage<T>, public Checking {
	unsigned top = 0;
public:
	using value_type = T;
	typedef Storage<T> storage_type;
	static constexpr unsigned limit = Limit;
	void push(const T &v) { this->check(top < Limit); Storage<T>::at(top++) = v; }
	__attribute__((noinline)) T pop();
	template <typename... Rest> void push_all(Rest... rest) { (push(rest), ...); }
};
template <typename T, template <typename> class Storage, typename Checking, unsigned Limit> T Stack<T, Storage, Checking, Limit>::pop()
{
	this->check(top > 0);
	T &cell = Storage<T>::at(--top);
	T v = cell;
	cell = T();
	HERE; // STOP print *this; print top; print v; print cell; print &cell; print this->top; print Limit; print limit; print this->cells; print sizeof(*this); print sizeof(v); print sizeof(T); print (T)3; print top + 1; whatis v; whatis cell; whatis top; whatis this; whatis *this; whatis T; whatis this->cells; ptype this; ptype T; print (Storage<T> *)this; print *this->cells@2; print top == 0; print !top; print/x v; bt
	return v;
}
template <int N> struct Factorial { enum : long { value = N * Factorial<N - 1>::value }; };
template <> struct Factorial<0> { enum : long { value = 1 }; };
template <typename A, typename B> struct Same { static const bool value = false; };
template <typename A> struct Same<A, A> { static const bool value = true; };
template <bool Big, char Letter, int *Where> struct Tagged { int n = Big ? 1000 : 10; char letter() const { return Letter + *Where; } };
static int shift = 1;
int exported = 2;
template <typename T> constexpr T unit = T(1);
template <typename F, std::size_t... I> int apply(F f, std::index_sequence<I...>) { return (f(I) + ...); }
extern "C" int run(int n)
{
	Stack<int> numbers;
	Stack<double, Fixed, Loud, 2> reals;
	Stack<std::pair<char, short>, Fixed> pairs;
	numbers.push_all(1, n, n * n);
	reals.push_all(0.5, 1.5, 2.5);
	pairs.push({'x', 7});
	int i = numbers.pop();
	double d = reals.pop();
	auto p = pairs.pop();
	Tagged<true, 'q', &exported> tagged;
	Tagged<false, '\n', &exported> small;
	Factorial<5> factorial;
	bool same = Same<int, int>::value && !Same<int, long>::value;
	long f = Factorial<5>::value;
	int sum = apply([&](std::size_t k) { return int(k) * n; }, std::make_index_sequence<4>());
	HERE; // STOP print numbers; print reals; print pairs; print i; print d; print p; print p.first; print p.second + 1; print tagged; print tagged.n; print small; print factorial; print same; print f; print sum; print numbers.top; print numbers.capacity; print *numbers.cells@3; print numbers.cells[1]; print reals.cells; print reals.warnings; print reals.cells[1] * 2; print reals.limit; print Factorial<5>::value; print Factorial<3>::value; print sizeof(numbers); print sizeof(reals); print sizeof(pairs); print sizeof(tagged); print shift; print exported; whatis numbers; whatis reals; whatis pairs; whatis p; whatis tagged; whatis small; whatis factorial; whatis numbers.top; whatis reals.cells; whatis f; ptype numbers; ptype reals; ptype factorial; ptype Loud; ptype Quiet; ptype p; print &reals.warnings; print (Loud *)&reals; print *(Loud *)&reals; print numbers.pop; set var numbers.top = 1; print numbers.top; set var reals.cells[0] = -1; print reals.cells[0]; print d = 3; print d / 2; print/x numbers.top; print/c tagged.n; print tagged.letter; print -d; print same && f > 100; print n > 2 ? i : sum; print unit<int>; print Same<int, int>::value
	return i + int(d) + p.second + tagged.letter() + small.n + same + int(f) + sum + shift + unit<int>;
}
