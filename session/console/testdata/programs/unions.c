#define HERE __asm__ volatile("nop" ::: "memory")
#include <stdint.h>
union number { int64_t i; double d; void *p; struct { uint32_t low, high; } parts; unsigned char bytes[8]; };
struct message { enum { TEXT, NUMBER, PAIR } kind; union { char text[8]; union number number; struct { short a; int b; } pair; }; unsigned flags : 4; int : 4; unsigned more : 8; };
struct outer { int before; struct { int x, y; struct { char deep; } in; } named; struct { int anonymous; union { int either; float or; }; }; int after; };
struct flexible { int n; int items[]; };
struct empty {};
struct bits { long long a : 33; unsigned char b : 1; short c : 9; _Bool d : 1; unsigned long e : 64; int f : 1; };
static struct { int n; int items[3]; } store = {3, {7, 8, 9}};
struct message messages[3] = {{TEXT, .text = "hi", .flags = 3}, {NUMBER, .number = {.d = 1.5}}, {PAIR, .pair = {1, 2}, .more = 255}};
__attribute__((noinline)) static long use(struct message *m, struct outer *o, struct flexible *f, struct bits *b, union number u, struct empty *none)
{
	long sum = m[2].pair.b + o->named.y + o->anonymous + f->items[1] + b->c + u.parts.low;
	HERE; // STOP print *m; print m[1]; print m[2].pair; print m->text; print m->kind; print m[1].number; print m[1].number.d; print m[1].number.parts; print m->flags; print m[2].more; print *o; print o->named; print o->named.in; print o->anonymous; print o->either; print o->or; print *f; print f->items; print f->items[1]; print *f->items@3; print *b; print b->a; print b->c; print b->f; print u; print u.parts; print/x u; print u.bytes; print *none; print sizeof(*none); ptype m; ptype struct message; ptype o; ptype struct outer; ptype f; ptype b; ptype u; ptype none; whatis m->kind; whatis o->named; ptype o->named; ptype m->kind; whatis f->items; print sizeof(*f); print sizeof(*o); print &o->named.y; print &o->either; print &m[1].number.parts.high; print/x *b; print/t b->c; print b->a + 1; print b->d; print b->e; print -b->f; print *m@2; print/d *m; print o->nosuch; print m->pair.b * 2; print u.i == 0; print u.d > 0; print (enum empty)0
	return sum;
}
int run(int n)
{
	struct outer o = {1, {2, 3, {'d'}}, {4, {5}}, 6};
	struct bits b = {-5, 1, -200, 1, 0xffffffffffffffff, -1};
	union number u = {.d = n};
	struct empty none;
	long r = use(messages, &o, (struct flexible *)&store, &b, u, &none);
	HERE; // STOP print messages; print o; print b; print u; print store; print messages[0].text; ptype store; whatis store; ptype messages; print/x messages[1]; print b.e; print &store; print r
	return r;
}
