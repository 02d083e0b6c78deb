// Calls of methods.
#define HERE asm volatile("nop")
#define KEEP __attribute__((noinline, used))
namespace bank {
class Account {
public:
	Account(int cents, const char *owner) : cents(cents), owner(owner) {}
	KEEP int get() const { return cents; }
	KEEP int plus(int n) { return cents + n; }
	KEEP double share(double by) const { return cents * by; }
	KEEP const char *name() const { return owner; }
	KEEP Account *self() { return this; }
	KEEP int same(const Account *other) const { return other == this; }
	KEEP void add(int n) { cents += n; }
	KEEP static int limit(int n) { return n * 100; }
	KEEP int set(int n) { return 1; }
	KEEP int set(double n) { return 2; }
	KEEP int set(const char *n) { return 3; }
	KEEP int set(int n, int m) { return 4; }
	KEEP bool compare(const Account &other) const { return cents < other.cents; }
	KEEP int either(int n) { return n + 1; }
	KEEP int either(int n) const { return n + 2; }
	KEEP Account copy() const { return *this; }
	KEEP int order(Account other) const { return cents - other.cents; }
	int inlined() const { return cents * 3; }
	KEEP int work(int n)
	{
		int before = cents;
		add(n);
		HERE; // STOP print get(); print this->get(); print plus(5); print limit(2); print Account::limit(2); print get() + plus(1); print cents; print share(0.5); print name(); print self() == this; print before; print set(1.5); print add(2); print cents; whatis get(); whatis share(1); print nosuch(1)
		return cents - before;
	}
private:
	int cents;
	const char *owner;
};
struct Shape {
	int id;
	Shape(int id) : id(id) {}
	KEEP virtual int area() const { return 0; }
	KEEP virtual int scaled(int by) const { return by; }
	KEEP int number() const { return id; }
	KEEP int twice() const { return 2 * area(); }
};
struct Named { const char *label = "named"; KEEP virtual const char *text() const { return label; } KEEP int length() const { int n = 0; while (label[n]) n++; return n; } };
struct Square : Shape, Named {
	int side;
	Square(int side) : Shape(7), side(side) {}
	KEEP int area() const override { return side * side; }
	KEEP const char *text() const override { return "square"; }
};
template <typename T> struct Box { T held; KEEP T get() const { return held; } KEEP T sum(T other) { return held + other; } };
}
struct Calls { int (*function)(int); int times; };
static int triple(int n) { return 3 * n; }
extern "C" int run(int n)
{
	bank::Account a(n, "ann"), b(20, "bob"), *p = &a, &r = b;
	const bank::Account fixed(9, "fixed");
	bank::Square square(4);
	bank::Shape plain(1), *shape = &square;
	bank::Named *named = &square;
	bank::Box<int> box{5};
	bank::Box<double> wide{2.5};
	Calls calls = {triple, 0};
	int i = 2;
	int total = a.work(4) + a.get() + b.plus(1) + fixed.get() + shape->area() + shape->scaled(2) + plain.area() + named->length() + box.get() + box.sum(1) + wide.get() + wide.sum(1) + square.number() + square.twice() + calls.function(2) + a.inlined() + bank::Account::limit(1) + a.set(1) + a.set(2.0) + a.set("x") + a.set(1, 2) + a.compare(b) + a.either(1) + fixed.either(1) + a.copy().get() + a.order(b) + a.same(p) + (a.self() == p) + (named->text() != a.name()) + a.share(2);
	asm volatile("" : : "r"(&a), "r"(&b), "r"(&fixed), "r"(&square), "r"(&plain), "r"(&box), "r"(&wide), "r"(&calls) : "memory");
	HERE; // STOP print a.get(); print p->get(); print r.get(); print b.plus(i); print a.plus(b.get()); print a.share(2); print a.name(); print a.self(); print a.self() == p; print *a.self(); print a.same(p); print a.same(&b); print a.limit(3); print bank::Account::limit(3); print p->limit(1); print fixed.get(); print (*p).get() * 2; print a.self()->get(); print a.self()->plus(1)
	//> print square.area(); print shape->area(); print plain.area(); print shape->scaled(3); print shape->twice(); print square.number(); print square.twice(); print named->text(); print named->length(); print square.text(); print square.length(); print shape->Shape::area(); print square.Shape::area(); print box.get(); print box.sum(4); print wide.get(); print wide.sum(0.25); print wide.sum(1)
	//> print a.set(1); print a.set(1.5); print a.set(1, 2); print a.set("text"); print a.compare(b); print calls.function(3); whatis a.get(); whatis a.share(1); whatis shape->area(); whatis a.self(); ptype a.name(); print a.nosuch(); print a.get; print a.get(1); print a.plus(); print a.plus; print a.either(1); print fixed.either(1); print p->either(2); print a.copy(); print a.order(b); print i.get(); print $.get(); print fixed.plus(1); print a.add(5); print a.get(); print a.get() == 12 && b.get() > 1; print (long)a.get(); print sizeof(a.get()); print -a.get(); output a.get(); print/x a.get(); print a.inlined(); print nosuch.get(); print a.get() ? 1 : 2; print i = a.get(); print i; display a.get(); print &a.get(); print *shape.area(); print a.work
	return total;
}
