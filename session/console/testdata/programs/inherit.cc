#define HERE __asm__ volatile("nop" ::: "memory")
struct Base { int b = 1; virtual int get() { return b; } virtual ~Base() {} };
struct Left : virtual Base { int l = 2; int get() override { return l; } };
struct Right : virtual Base { int r = 3; char same = 'r'; };
struct Both : Left, Right { int own = 4; char same = 'b'; int get() override { return own; } };
struct Plain { int p = 5; };
struct Other { int o = 6; virtual void f() {} virtual ~Other() {} };
class Mixed : private Plain, protected Other, public Both { public: int m = 7; int sum() const { return m + own + p + o; } private: static int made; };
int Mixed::made = 8;
struct Empty {};
struct Tagged : Empty { int t = 9; };
__attribute__((noinline)) int look(Base *base, Left *left, Right *right, Both *both, Mixed *mixed, Other *other, const Empty *empty)
{
	int sum = base->get() + left->get() + right->r + both->own;
	HERE; // STOP print *base; print *left; print *right; print *both; print *mixed; print *other; print *empty; print both->b; print left->b; print right->b; print both->l; print both->r; print both->own; print both->same; print mixed->m; print mixed->own; print mixed->p; print mixed->o; print mixed->b; print Mixed::made; print mixed->made; print (Base *)both; print (Left *)both; print (Right *)both; print (Both *)base; print (Other *)mixed; print *(Other *)mixed; print *(Plain *)mixed; print *(Left *)both; print *(Right *)both; print *(Base *)both; ptype Base; ptype Left; ptype Both; ptype Mixed; ptype Empty; ptype Tagged; whatis *both; whatis both->b; print sizeof(Both); print sizeof(Mixed); print sizeof(Empty); print &both->b; print &both->r; print both == left; print base == both; print (long)(Right *)both - (long)both; print ((Right *)both)->same; print both->Right::same; print mixed->get; print mixed->sum; print *empty; ptype mixed; ptype base
	return sum + mixed->sum();
}
extern "C" int run(int n)
{
	Both both;
	Mixed mixed;
	Tagged tagged;
	both.own += n;
	int r = look(&both, &both, &both, &both, &mixed, (Other *)&mixed, &tagged);
	HERE; // STOP print both; print mixed; print tagged; print/x both; ptype both; ptype tagged; print both.b; print mixed.b; print tagged.t; print &both; print &mixed.b
	return r + tagged.t;
}
