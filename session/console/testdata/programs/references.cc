#define HERE __asm__ volatile("nop" ::: "memory")
struct Inner { int a; const int &r; };
struct Outer { Inner in; Inner &ref; int (&array)[2]; int *&pointer; Outer *self; };
typedef int number;
typedef number &number_ref;
using row = int[2];
int value = 5, *address = &value;
row pair = {1, 2};
__attribute__((noinline)) int use(const Outer &o, number_ref n, const char *const &text, Inner &&temporary, volatile int &v, row &r)
{
	n += o.in.a + temporary.a;
	HERE; // STOP print o; print o.in; print o.in.r; print o.ref; print o.ref.a; print o.array; print o.array[1]; print o.pointer; print *o.pointer; print n; print &n; print text; print text[0]; print *text; print temporary; print temporary.a; print v; print r; print r[1]; print *r; whatis o; whatis n; whatis text; whatis temporary; whatis v; whatis r; ptype o; ptype n; ptype text; ptype r; ptype number_ref; whatis number_ref; whatis row; whatis o.array; whatis o.ref; whatis o.pointer; print n + 1; print -n; print n == 8; print n > 2 && v; print &o.ref; print &v; print sizeof(o); print sizeof(n); print sizeof(r); print sizeof(o.ref); print (long)n; print n = 9; print n; print ++n; print n--; print o.self; print *o.self; print o.self->in.a; print &r[1]; print r == o.array; print *&n; print n ? 1 : 2; print/x n; print/x o.in; info args
	return n;
}
extern "C" int run(int n)
{
	Inner in{3, value};
	Outer o{{1, n}, in, pair, address, nullptr};
	o.self = &o;
	const char *text = "text";
	volatile int v = 7;
	int total = use(o, n, text, Inner{4, value}, v, pair);
	int &alias = total;
	const int &constant = 12;
	auto &&forward = o.in;
	HERE; // STOP print in; print o; print alias; print constant; print forward; print forward.r; print total; print v; print *o.self->self; print o.array[0]; whatis alias; whatis constant; whatis forward; ptype forward; print alias * 2; print &alias == &total; print o.ref.r; print &o.ref == &in; print o.ref.a = 30; print in.a; print alias += 5; print total
	return alias;
}
