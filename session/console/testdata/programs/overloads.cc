#define HERE __asm__ volatile("nop" ::: "memory")
namespace math {
int size(int a) { return a; }
double size(double a) { return a * 2; }
int size(const char *text) { return text[0]; }
template <typename T> T max(T a, T b)
{
	T m = a > b ? a : b;
	HERE; // STOP print a; print b; print m; bt 1; whatis m; print a > b; print a == m
	return m;
}
struct Base { virtual int f(int a) { return a; } int f(double a) { return a; } static int g() { return 4; } int plain; };
struct Derived : Base { using Base::f; int f(int a) override
{
	int r = a * 10 + plain;
	HERE; // STOP print *this; print r; print a; print plain; print this->plain; bt 1; ptype Base; ptype Derived; print this; up
	return r; } };
}
static inline int twice(int a) { return 2 * a; }
static int same(int a) { return a; }
int (*pick)(int) = twice;
double (*size)(double) = math::size;
using math::max;
extern "C" int run(int n)
{
	math::Derived d;
	d.plain = 6;
	math::Base *b = &d;
	int (math::Base::*virtual_member)(int) = &math::Base::f;
	int (math::Base::*member)(double) = &math::Base::f;
	int math::Base::*data = &math::Base::plain;
	int (*statics)() = math::Base::g;
	int r = max(n, 4) + b->f(n) + (b->*virtual_member)(1) + (b->*member)(2.0) + max<long>(5, 6) + max('a', 'b') + math::size(1) + math::size("x") + b->*data + pick(3) + same(1) + statics();
	HERE; // STOP print d; print *b; print virtual_member; print member; print data; print statics; print *statics; print pick; print size; print r; whatis virtual_member; whatis member; whatis data; whatis statics; whatis pick; ptype pick; ptype virtual_member; print twice; print math::Base::g; whatis math::Base::g; print same; whatis same; print &d; print b == &d; print math::max<int>; print math::max<long>; whatis math::max<char>; print b->plain; print b->*data; print pick == twice; print sizeof(member); print math::nosuch; print (int)math::size(2.5); info symbol math::Base::g; info line math::Base::g; list math::Base::g; print *pick; print &same; print math::size; whatis math::size; print *math::size; print &math::size; print &math::Base::plain; whatis &math::Base::plain; print &math::Base::f; print math::Base::f; print L'a'; whatis $rip; whatis 1 == 1; print $_siginfo; print math::size(1); ptype d; print/x data
	return r;
}
