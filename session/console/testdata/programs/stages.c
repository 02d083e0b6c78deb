// A pipeline of stages that is stepped through by hand.
#include <stdlib.h>
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
#define SCALE(x) ((x) * 3)

struct stage {
	const char *name;
	int (*run)(struct stage *, int);
	int calls;
	long total;
};
static int level;
static int limits[3] = {10, 20, 30};

__attribute__((noinline)) static int scale(struct stage *s, int n)
{
	s->calls++;
	n = SCALE(n);
	if (n > limits[0])
		level++;
	s->total += n;
	return n;
}

__attribute__((noinline)) static int clamp(struct stage *s, int n)
{
	s->calls++;
	for (int i = 0; i < 3; i++) {
		if (n < limits[i]) {
			s->total += i;
			break;
		}
		HERE;
	}
	while (n > 100)
		n /= 2;
	return n;
}

__attribute__((noinline)) static int factorial(int n)
{
	if (n <= 1)
		return 1;
	int rest = factorial(n - 1);
	return n * rest;
}

__attribute__((noinline)) static void touch(int *p, int n)
{
	*p += n;
	HERE;
	*p -= 1;
}

int run(int n)
{
	struct stage stages[] = {{"scale", scale}, {"clamp", clamp}};
	int value = n, sum = 0;
	HERE; // STOP delete; tbreak scale; continue; info frame; bt; bt full; finish; advance clamp; bt; info frame; finish
	for (int i = 0; i < 2; i++) {
		value = stages[i].run(&stages[i], value);
		sum += value;
	}
	HERE; // STOP delete; break factorial if n == 2; continue; bt; info args; up; info locals; down; finish; delete
	sum += factorial(4);
	HERE; // STOP delete; break factorial; ignore $bpnum 2; info breakpoints; continue; bt; info breakpoints; tbreak factorial; delete
	sum += factorial(3);
	HERE; // STOP delete; watch level; rwatch limits[1]; awatch sum; info watchpoints; info breakpoints; continue; continue; info breakpoints; print $bpnum; delete
	level = 5;
	sum += limits[1];
	level = 5;
	level = 6;
	touch(&sum, 4);
	HERE; // STOP delete; tbreak touch; info breakpoints; continue; info breakpoints; up; print sum; down; bt full; return; bt; print sum; info line; list; list -
	touch(&sum, 5);
	sum += 1;
	HERE; // STOP delete; display sum; display/x level; display/2xw limits; display/4d level; info display; undisplay 3; undisplay 3 4; next; next; next; info display; undisplay 1; next; undisplay; next
	sum += 2;
	level += 1;
	sum += 3;
	level += 2;
	sum += 4;
	HERE; // STOP delete; break clamp if n > 3; continue; info args n; info args nosuch; info locals i; info frame; until; until; until; until; info line; up; down; finish; delete
	sum += clamp(&stages[1], 25);
	HERE; // STOP delete; stepi; stepi 2; nexti; nexti 2; x/2i $pc; print/d sum; x &sum; x/2xw limits; print $_; print $__; info registers rip; step 3; info source; next 2; call level; call sum + 1; call factorial(3); print $; call (void)factorial(2); set var sum; set var sum++; print sum; list factorial; list +; list *factorial; info line; info line scale; info line; list; list 500; list -; show values 2
	sum += scale(&stages[0], sum);
	sum += clamp(&stages[0], 1000);
	HERE; // STOP delete; break scale; continue; return 5; next; print sum; next; info breakpoints; disable; info breakpoints; break scale; enable; break scale if n == 2; tbreak scale; info breakpoints; delete; enable once 1; x/0x &sum; print $bpnum
	sum += scale(&stages[0], 1);
	sum += 1;
	HERE;
	HERE;
	return sum;
}
