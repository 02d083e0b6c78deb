// g++ -g -o members members.cc; pointers to members, and to functions
#include <cstdlib>

struct Shape {
	int x, y;
	virtual void draw(int);
	virtual int area() const;
	void plain(char);
	int z;
};
void Shape::draw(int) {}
int Shape::area() const { return 1; }
void Shape::plain(char) {}

struct Named {
	long id;
	virtual ~Named() {}
	void rename() {}
	virtual void show() {}
};

struct Both : Shape, Named {
	int own;
	struct Inner { int deep; } inner;
	int array[3];
} both;

namespace space {
struct Thing {
	int n;
	static void fixed(int) {}
	void moved(int) {}
};
template <class T> T twice(T t) { return t + t; }
} // namespace space

struct Holder {
	int Both::*data;
	void (Shape::*function)(int);
};

struct United {
	union {
		int first;
		float same;
	};
	int last;
};

static void helper(int) {}
typedef int Shape::*Data;
typedef void (Shape::*Function)(int);

__attribute__((noinline)) void last(int Shape::*x, int Shape::*z, int Shape::*none, int Both::*own, long Both::*id, int Both::*y,
	void (Shape::*draw)(int), int (Shape::*area)() const, void (Shape::*plain)(char), void (Both::*show)(), void (Both::*rename)(),
	void (Shape::*null)(int), void (space::Thing::*moved)(int), int space::Thing::*n, Holder holder, Holder &other,
	Both::Inner Both::*inner, int (Both::*array)[3], int United::*united, void (*function)(int), void (*fixed)(int), long (*twice)(long))
{
	int Shape::*bogus, Shape::*both[2] = {x, z};
	*(long *)&bogus = 5;
	Holder holders[2] = {holder, other};
	void (Shape::*functions[2])(int) = {draw, null};
	int Shape::*const constant = z;
	Data data = x;
	Function defined = draw;
	int Shape::*&reference = z;
	void (Shape::*&referred)(int) = draw;
	abort();
}

int main()
{
	Holder holder = {&Both::own, &Shape::draw}, other = {nullptr, nullptr};
	last(&Shape::x, &Shape::z, nullptr, &Both::own, &Both::id, &Both::y, &Shape::draw, &Shape::area, &Shape::plain, &Both::show, &Both::rename,
		nullptr, &space::Thing::moved, &space::Thing::n, holder, other, &Both::inner, &Both::array, &United::last, helper, space::Thing::fixed,
		space::twice<long>);
}
