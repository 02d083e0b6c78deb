// Arguments of methods: conversions, overloads, base classes.
#define HERE asm volatile("nop")
#define KEEP __attribute__((noinline, used))
struct Base0 { int zero = 10; KEEP int base0() const { return zero; } };
struct Base1 { virtual ~Base1() {} int one = 11; KEEP virtual int who() { return one; } KEEP virtual Base1 *clone() { return this; } };
struct Base2 { virtual ~Base2() {} int two = 12; KEEP virtual int second(int n) { return two + n; } KEEP virtual Base2 *copy() { return this; } KEEP int base2() { return two; } };
struct Multi : Base0, Base1, Base2 {
	int own = 13;
	KEEP int who() override { return own; }
	KEEP int second(int n) override { return own * 100 + n; }
	KEEP Multi *clone() override { return this; }
	KEEP Multi *copy() override { return this; }
};
struct Root { virtual ~Root() {} int root = 20; KEEP virtual int name() { return root; } KEEP int plain() { return root; } };
struct Left : virtual Root { int left = 21; KEEP int name() override { return left; } };
struct Right : virtual Root { int right = 22; KEEP virtual int rightly() { return right + root; } };
struct Diamond : Left, Right { int own = 23; KEEP int name() override { return own; } KEEP int rightly() override { return own * 2; } };
struct Other { long q; };
struct First { int same = 1; KEEP int common() { return same; } };
struct Second { int same = 2; KEEP int common() { return same; } };
struct Both : First, Second {};
struct Taker {
	int n = 3;
	KEEP int ofBase2(Base2 *b) const { return b->two; }
	KEEP int ofReference(Base2 &b) const { return b.two; }
	KEEP int ofRoot(Root *r) const { return r->root; }
	KEEP int ofRootReference(const Root &r) const { return r.root; }
	KEEP int ofConstant(const int &i) const { return i; }
	KEEP int ofSecond(Second *s) const { return s->same; }
	KEEP int ofChar(signed char c) const { return c; }
	KEEP int ofShort(short c) const { return c; }
	KEEP long ofUnsigned(unsigned c) const { return c; }
	KEEP double half(float f) const { return f / 2; }
	KEEP int which(Base2 *) { return 1; }
	KEEP int which(Multi *) { return 2; }
	KEEP int constant(Base0 &) { return 1; }
	KEEP int constant(const Base0 &) { return 2; }
	KEEP int text(const char *) { return 1; }
	KEEP int text(char *) { return 2; }
	KEEP int target(Second *) { return 1; }
	KEEP int target(void *) { return 2; }
	KEEP int take(int *p) { return *p; }
	KEEP int apply(int (*f)(int)) { return f(n); }
	KEEP Taker &self() { return *this; }
};
static int triple(int n) { return 3 * n; }
static int sum(int n, int m) { return n + m; }
extern "C" int run(int n)
{
	Taker taker;
	Multi multi, *pm = &multi;
	Base1 *b1 = &multi;
	Base2 *b2 = &multi;
	const Multi fixed;
	Diamond diamond;
	Root *root = &diamond;
	Left *left = &diamond;
	Right *right = &diamond;
	Other other{1};
	Both both;
	int i = 300;
	unsigned char small = 200;
	char buffer[4] = "ab";
	const char *text = "abc";
	void *unknown = &i;
	int total = triple(n) + sum(1, 2) + b1->who() + b2->second(1) + root->name() + left->name() + right->rightly();
	asm volatile("" : : "r"(&taker), "r"(&multi), "r"(&fixed), "r"(&diamond), "r"(&other), "r"(&both), "r"(&i) : "memory");
	asm volatile("" : : "r"(&small), "r"(buffer), "r"(text), "r"(unknown), "r"(pm) : "memory");
	HERE; // STOP print taker.ofBase2(&multi); print taker.ofBase2(pm); print taker.ofBase2(b1); print taker.ofBase2(b2); print taker.ofBase2(&other); print taker.ofReference(*b2); print taker.ofReference(multi); print taker.ofReference(other); print taker.ofRoot(&diamond); print taker.ofRoot(left); print taker.ofRoot(root); print taker.ofRootReference(diamond); print taker.ofConstant(small); print taker.ofConstant(5); print taker.ofSecond(&both)
	//> print taker.ofChar(-1); print taker.ofShort(-2); print taker.ofUnsigned(-1); print taker.half(3); print taker.which(&multi); print taker.which(b2); print taker.constant(fixed); print taker.text(text); print taker.text(buffer); print taker.target(&both); print taker.target(unknown); print taker.take(unknown); print taker.take(i); print taker.take(&i); print taker.take((int *)unknown); print taker.apply(triple); print taker.apply(sum); print taker.self().n; print taker.self().ofChar(3)
	//> print multi.who(); print multi.second(1); print multi.clone() == &multi; print b1->who(); print b2->second(2); print b2->copy() == b2; print b1->clone() == b1; print *b2->copy(); print multi.base0(); print multi.base2(); print pm->base2(); print diamond.name(); print root->name(); print left->name(); print right->rightly(); print diamond.plain(); print left->plain(); print both.same; print both.First::same; whatis b2->copy(); whatis multi.copy()
	return total;
}
