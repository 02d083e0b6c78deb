// Tagged values: anonymous structures and unions, _Generic, _Atomic, compound literals.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
enum tag { T_NIL, T_BOOL, T_INT, T_REAL, T_PAIR, T_TEXT = 0x10 };
typedef struct value value;
struct value {
	enum tag tag : 8;
	unsigned shared : 1, mark : 3;
	union {
		struct { int64_t low; uint64_t high; };
		struct { union { float f; double d; }; bool exact; };
		struct { char text[12]; uint32_t length; };
	};
	const value *first, *second;
};
#define BOX(x) _Generic((x), int: box_int, double: box_real, const char *: box_text)(x)
static _Atomic long boxes;
static const value nil;

static value box_int(int i) { boxes++; return (value){.tag = T_INT, .low = i, .high = -(i < 0)}; }
static value box_real(double d) { boxes++; return (value){.tag = T_REAL, .d = d, .exact = d == (int)d}; }
static value box_text(const char *s)
{
	value v = {.tag = T_TEXT};
	boxes++;
	v.length = strlen(s);
	strcpy(v.text, s);
	return v;
}

__attribute__((noinline)) static value cons(const value *a, const value *b)
{
	value pair = {.tag = T_PAIR, .shared = a == b, .mark = 5, .first = a, .second = b};
	HERE; // STOP print pair.first; print *pair.first; print pair.second->tag; print pair.first->low; print pair.second->d; print pair.shared; print pair.mark; print pair.tag; print *a; print *b; print a == pair.first; print a->tag + b->tag; print a->tag | T_TEXT; print (enum tag)3; print (enum tag)6; print (enum tag)0x12; print T_TEXT; print/x T_TEXT; whatis T_TEXT; whatis pair; whatis pair.first; whatis *pair.first; ptype pair.tag; ptype enum tag; whatis a; whatis &a; print *&a == a; bt; finish
	return pair;
}

__attribute__((noinline)) static double number(const value *v, double otherwise)
{
	double result = otherwise;
	switch (v->tag) {
	case T_INT: result = v->low; break;
	case T_REAL: result = v->d; break;
	case T_PAIR: result = number(v->first, 0) + number(v->second, 0); break;
	default: break;
	}
	HERE; // STOP print v->tag; print v->low; print v->d; print v->exact; print v->shared; print v->mark; print result; print otherwise; print v->tag == T_INT; print/d v->tag; print/x v->tag; print v->low + 1; print (int)v->low; print v->high; print -v->low; whatis v->tag; whatis v->low; whatis v->exact; whatis v->first; whatis v->text; whatis v->shared; whatis v->mark + 1; ptype v; whatis *v; whatis &v->low; print &v->text; print &v->high; print (long)&((value *)0)->exact; print (long)&((value *)0)->length; print sizeof(value); print sizeof v->text; print v == &nil; print nil; print nil.tag; print boxes; print boxes + 1; whatis boxes; whatis &boxes; bt; up
	return result;
}

int run(int n)
{
	value i = BOX(n * 7), r = BOX(2.5), t = BOX((const char *)"label");
	value p = cons(&i, &r);
	double sum = number(&p, -1);
	HERE; // STOP print i; print i.low; print r.d; print r.exact; print r.f; print t.text; print t.length; print *t.text@t.length; print t.tag; print p.first->low; print p.second->d; print p.first == &i; print sum; print sum == i.low + r.d; print i.low + r.d; print i.low / 2; print i.low / 2.; print i.low % 4; print (char)(i.low + 50); print boxes; print boxes == 3; print nil; print nil.first; print *&nil; print &nil == 0; whatis nil; whatis i; whatis i.low * 2; whatis i.low * 2.0; whatis t.text; whatis &t.text; whatis t.text[0]; ptype value; print sizeof(i) + 1; print sizeof(int64_t); whatis sizeof(i); set var i.low = -1; print i.low; print/x i.low; print/u i.low; set var i.tag = T_REAL; print i.tag; set var i.mark = 6; print i.mark; set var i.shared = 1; print i.shared; set var boxes = 10; print boxes; print boxes++; print boxes; print t.text[0] = 'L'; print t.text; print number(&r, 0); print number(&nil, 4.5); print box_real; print *box_real; whatis box_text; x/s t.text; x/dg &i.low; print $_siginfo.x; print i.low > 0 ? i : r; output t.text; ptype int64_t; whatis (value *)0
	return sum + boxes;
}
