#define HERE __asm__ volatile("nop" ::: "memory")
namespace geo {
struct Point { int x, y; Point operator+(const Point &o) const { return {x + o.x, y + o.y}; } bool operator==(const Point &o) const { return x == o.x && y == o.y; } };
int scale = 2;
namespace deep { int level = 3; static int hidden = 4; Point origin{0, 0}; enum class Mode : unsigned char { Off, On = 7 }; Mode mode = Mode::On; }
inline namespace v2 { int version = 22; }
__attribute__((noinline)) int area(Point p)
{
	HERE; // STOP print p; print scale; print geo::scale; print deep::level; print geo::deep::level; print deep::mode; print geo::deep::mode; print deep::Mode::On; print version; print ::global; print origin; print deep::origin; ptype deep::Mode; whatis deep::mode; ptype Point; ptype geo::Point; bt; up
	return p.x * p.y * scale;
}
}
namespace { int unnamed = 55; struct Local { int q; } local{6}; }
int global = 99;
static int overload(int a) { return a; }
static double overload(double a) { return a; }
static int overload(int a, int b) { return a + b; }
using geo::Point;
namespace alias = geo::deep;
template <typename F> __attribute__((noinline)) int apply(F &f, int n) { return f(n); }
__attribute__((noinline)) int refs(int &a, const Point &p, int &&moved, int *&pointer, int (&array)[3])
{
	a += p.x + moved + *pointer + array[1];
	HERE; // STOP print a; print &a; print p; print &p; print p.x; print moved; print pointer; print *pointer; print array; print array[2]; whatis a; whatis p; whatis moved; whatis pointer; whatis array; ptype a; ptype p; ptype moved; ptype array; print a + 1; print a == 5; print sizeof(a); print sizeof(p); print sizeof(array); print a = 100; print a; info locals; print *&a; print p.y * 2; print &p.y
	return a;
}
extern "C" int run(int n)
{
	int base = 10, slot = 5, *to = &slot, three[3] = {1, 2, 3};
	Point p{3, 4}, q{1, 1};
	auto by_value = [base, p](int x) { return x + base + p.x; };
	auto by_reference = [&base](int x) {
		base += x;
		HERE; // STOP print x; print base; print *this; bt; up
		return base;
	};

	static int calls = 7;
	bool flag = p == q;
	int r = apply(by_value, n) + geo::area(p + q);
	r += refs(slot, p, 6, to, three);
	r += apply(by_reference, n);
	r += overload(1) + overload(2.5) + overload(1, 2);
	auto mode = alias::mode;
	char16_t wide[] = u"wide";
	char32_t one = U'x';
	decltype(nullptr) null = nullptr;
	int Point::*member = &Point::y;
	Point (Point::*method)(const Point &) const = &Point::operator+;
	long double big = 1.5L;
	HERE; // STOP print by_value; print by_reference; print calls; print flag; print mode; print wide; print one; print null; print member; print method; print big; print unnamed; print local; print global; print geo::scale; print geo::deep::level; print geo::deep::hidden; print geo::version; print geo::v2::version; print geo::deep::Mode::Off; print (geo::deep::Mode)7; print (geo::deep::Mode)3; print p; print p == q; print p + q; print &p; ptype p; whatis p; ptype by_value; whatis by_value; whatis mode; ptype mode; whatis wide; whatis one; whatis null; whatis member; ptype member; whatis method; print overload; print overload(1); whatis overload; ptype geo::Point; ptype Local; whatis local; print ::global; print sizeof(geo::Point); print sizeof(by_value); print p.*member; print true; print false; print flag == true; print !flag; print 1 == 1; print n > 2; whatis n > 2; whatis true; print nullptr; print to == nullptr; print static_cast<int>(big); print (int)big; print 'c'; print L'c'; print u'c'; whatis 'c'; print "text"; print sizeof(wide); print geo::nosuch; print nosuch::scale; list geo::area; info line geo::area; info symbol geo::area; print geo::area; print &geo::scale; print *&geo::scale; print this; print flag && n; print typeid(int); print 5 / 2; print n ? 1 : 2; print n, base; print sizeof(long double); print __LINE__
	return r + calls + unnamed + local.q + flag + int(mode) + p.*member + geo::version;
}
