// A dispatcher of events, with handlers in tables, functions that return functions, and a long jump.
#include <stddef.h>
#include <stdint.h>
#define HERE __asm__ volatile("nop" ::: "memory")
typedef void (*handler_t)(int);
typedef handler_t (*chooser)(int, handler_t);
typedef struct { handler_t handlers[4]; volatile long raised[4]; const char *names[4]; uint32_t blocked; } process;
struct action { union { void (*simple)(int); int (*detailed)(int, const struct action *, void *); } call; unsigned long mask; int flags; };
static process self = {.names = {"none", "hangup", "interrupt", [3] = "alarm"}};
static void *checkpoint[5];
static long counts[2][3];
static const struct action defaults[2];
extern int total_events;
int total_events = 40;
long depth;

__attribute__((noinline)) static void count(int number)
{
	static int nested;
	static struct { short last; char letter; } memory = {-1, 'm'};
	nested++;
	counts[nested & 1][number % 3] += number;
	memory.last = number;
	total_events += nested;
	HERE; // STOP print nested; print memory; print memory.last; print number; print counts; print counts[1]; print *counts; print counts[nested & 1][number % 3]; print &counts[1][2]; print *counts@2; print total_events; print depth; print self.handlers; print self.handlers[number]; print *self.handlers[number]; print self.handlers[number] == count; print self.handlers[0] == 0; print self.names; print self.names[number]; print *self.names[number]@3; print self.raised; print self.raised[number]; print/x self.blocked; print !(self.blocked & 1); print self; whatis self; whatis self.handlers; whatis self.handlers[0]; whatis *self.handlers[0]; whatis self.raised; whatis self.raised[0]; whatis self.raised[0] + 1; whatis &self.raised; whatis count; whatis &count; whatis *count; whatis counts; whatis counts[0]; whatis *counts; whatis **counts; whatis &counts; whatis &counts[0]; ptype count; ptype self; ptype handler_t; ptype chooser; whatis chooser; print sizeof self; print sizeof counts / sizeof counts[0]; bt; info symbol self.handlers[number]; info line count; print nested += 2; print nested; print memory.letter = 'n'; print memory; up; info args
}
static void ignore(int number) { (void)number; }
static handler_t choose(int number, handler_t otherwise) { return number > 1 ? count : otherwise; }
static int detailed(int number, const struct action *a, void *context) { return number + a->flags + *(int *)context; }

__attribute__((noinline)) static int raise_all(process *p, const struct action *a, int n)
{
	chooser pick = choose;
	int context = 100, result = 0;
	for (int i = 1; i < n; i++) {
		p->handlers[i] = pick(i, ignore);
		if (!(p->blocked >> i & 1)) {
			p->raised[i]++;
			p->handlers[i](i);
		}
	}
	result = a->call.detailed(n, a, &context);
	HERE; // STOP print *p; print *a; print a->call; print a->call.detailed; print *a->call.detailed; print a->call.detailed == detailed; print a->mask; print/x a->mask; print/t a->flags; print p->handlers[1]; print p->handlers[2] == p->handlers[1]; print *p->handlers@3; print p->raised; print *p->raised@2; print p->raised[1]; print p->names[3]; print p->names; print n; print result; print p == &self; print defaults; print &defaults[1]; print defaults[0].call; print sizeof(defaults) / sizeof(*defaults); whatis defaults; whatis a->call; whatis a->call.detailed; whatis *a->call.simple; whatis *p->handlers; whatis p->raised[0]; whatis defaults[0].flags; ptype a; ptype a->call; ptype a->call.detailed; ptype struct action; ptype p->handlers; ptype p->handlers[0]; print choose; print *choose; whatis choose; ptype choose; whatis &choose; print detailed; whatis detailed; ptype detailed; info symbol a->call.simple; info symbol ignore; info address self; finish
	return result;
}

int run(int n)
{
	volatile int jumps = 0;
	struct action a = {{.detailed = detailed}, 0x80000001ul, 1 << n};
	self.blocked = 1;
	if (!__builtin_setjmp(checkpoint))
		jumps = 1;
	if (jumps++ == 1)
		__builtin_longjmp(checkpoint, 1);
	int r = raise_all(&self, &a, n + 1);
	HERE; // STOP print jumps; print r; print a.flags; print a.mask; print a.call.simple; print/x a.mask; print self.raised; print self.handlers[3]; print counts; print counts[0][0] + counts[1][2]; print total_events; print total_events++; print total_events; print checkpoint[4]; print sizeof checkpoint; whatis jumps; whatis jumps + 1; whatis &jumps; whatis checkpoint; whatis checkpoint[0]; whatis counts[1][1]; whatis self.names; ptype counts; ptype checkpoint; ptype process; print (handler_t)0; print (void (*)(int))count; print (handler_t)count == count; print *(handler_t)count; print (long)count == (long)self.handlers[2]; whatis (handler_t)0; whatis (void (*)(int))0; whatis (int (*)[3])0; whatis (char *(*)(int, long))0; ptype (handler_t)0; print sizeof(handler_t); print sizeof(int (*)[3]); set var self.handlers[0] = ignore; print self.handlers[0]; set var a.call.simple = 0; print a.call; set var counts[1][2] = -7; print counts[1]; set var self.names[0] = self.names[1]; print self.names; print jumps = 50; print jumps; print a.mask >> 31; print a.mask << 33; print a.flags & n; print -n; print count; output self.names; output n
	return r + jumps;
}
