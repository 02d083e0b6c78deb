#define HERE __asm__ volatile("nop" ::: "memory")
#include <stdint.h>
struct flags { unsigned ready : 1, mode : 3; int level : 5; unsigned : 3; unsigned long wide : 40; _Bool on : 1; };
union word { uint32_t all; struct { uint16_t low, high; } half; uint8_t bytes[4]; float real; };
struct __attribute__((packed)) header { uint8_t kind; uint32_t length; uint64_t stamp; uint16_t sum; };
enum color { RED, GREEN = 5, BLUE };
enum mask { NONE = 0, READ = 1, WRITE = 2, EXEC = 4 };
enum negative { BELOW = -3, ABOVE = 3 };
struct flags global = {1, 5, -3, 1UL << 39, 1};
static union word shared = {0x3f800000};
struct header top = {7, 1024, 0x1122334455667788, 0xbeef};
__attribute__((noinline)) static int use(struct flags *f, union word *w, struct header *h, enum color c, enum mask m, enum negative g)
{
	HERE; // STOP print *f; print f->wide; print/x f->wide; print f->level; print/x f->level; print/d f->mode; print/t *f; print/x *f; print *w; print/x *w; print w->half; print w->real; print w->bytes; print/d w->bytes; print w->bytes[3]; print *h; print/x *h; print h->stamp; print &h->sum; print c; print/d c; print m; print/d m; print g; print (enum color)6; print (enum color)2; print (enum mask)3; print (enum mask)9; print (enum negative)0; print GREEN; print BLUE + 1; print READ | EXEC; ptype struct flags; ptype union word; ptype struct header; ptype enum color; ptype enum mask; ptype enum negative; whatis c; whatis GREEN; whatis f->wide; whatis f->level; whatis w->half; ptype w->half; print sizeof(struct header); print sizeof(union word); print f->level = 3; print *f; print f->mode++; print *f; print c == GREEN; print c > 1; print m & 1; print sizeof(f->level); print &f->level; print f->wide + 1; print f->mode - 6; print -f->mode; ptype h->length; whatis h->length; whatis uint32_t; ptype uint64_t; whatis sizeof(int); whatis 1 == 2; whatis 'a'; whatis 1.5; whatis 1.5f; whatis 10000000000; whatis 1u; whatis "abc"; whatis f->mode + 1
	f->level--;
	return f->mode + w->half.low + h->kind + c + m + g;
}
int run(int n)
{
	int r = use(&global, &shared, &top, BLUE, READ | EXEC, BELOW);
	HERE; // STOP print global; print shared; print top; print r; print global.wide == 549755813888; print $_exitcode
	return r + n;
}
