/* Functions whose frames differ, to be run one instruction at a time. */

typedef unsigned long word;

static word memory[64];

__attribute__((noinline)) static word mix(word a, word b) { return (a ^ b << 3) * 31 + (a >> 5); }

word leaf(word a, word b, word c) { return a * b + c; }

word chain(word a, word b, word c) { return mix(a, b) + mix(b, c) + mix(c, a); }

word pressure(word a, word b, word c)
{
	word d = mix(a, b), e = mix(b, c), f = mix(c, d), g = mix(d, e), h = mix(e, f), i = mix(f, g);
	return mix(a, i) + mix(b, h) + mix(c, g) + d + e + f + g + h + i;
}

word recursive(word a, word b, word c) { return a % 7 == 0 ? b : recursive(a - 1, b + c, c) + 1; }

word allocates(word a, word b, word c)
{
	volatile word *p = __builtin_alloca((a % 9 + 1) * sizeof *p);
	for (word i = 0; i <= a % 9; i++)
		p[i] = mix(b, i);
	return p[a % 9] + c;
}

word allocates_twice(word a, word b, word c)
{
	volatile word *p = __builtin_alloca((a % 5 + 1) * sizeof *p);
	p[0] = mix(a, b);
	if (b % 2) {
		volatile word *q = __builtin_alloca((c % 5 + 1) * sizeof *q);
		q[0] = p[0];
		return mix(q[0], c);
	}
	return p[0];
}

__attribute__((noinline)) static word seventh(word a, word b, word c, word d, word e, word f, word g, word h)
{
	return mix(a + b + c + d + e + f, g) + h;
}

word many_arguments(word a, word b, word c) { return seventh(a, b, c, a, b, c, a + 1, b + 1) + a; }

word realigned(word a, word b, word c)
{
	volatile word v[8] __attribute__((aligned(64)));
	for (int i = 0; i < 8; i++)
		v[i] = mix(a + i, b);
	return v[a % 8] + v[b % 8] + c;
}

__attribute__((noinline)) static word realigned_many(word a, word b, word c, word d, word e, word f, word g, word h)
{
	volatile word v[4] __attribute__((aligned(32)));
	v[a % 4] = mix(g, h);
	return v[a % 4] + b + c + d + e + f + g * h;
}

word realigned_arguments(word a, word b, word c) { return realigned_many(a, b, c, a, b, c, a, b); }

word switched(word a, word b, word c)
{
	switch (a % 8) {
	case 0: return mix(b, c);
	case 1: return mix(c, b) + 1;
	case 2: return b - c;
	case 3: memory[b % 64] = c; return mix(memory[c % 64], a);
	case 4: return recursive(b, c, a);
	case 5: return b | c;
	case 6: return mix(mix(a, b), c);
	}
	return c;
}

word early(word a, word b, word c)
{
	if (a % 3 == 0)
		return b;
	word d = mix(a, b);
	if (d % 3 == 0)
		return mix(d, c);
	word e = mix(d, c);
	return e % 5 ? mix(e, d) + mix(a, e) + d : e;
}

word tail(word a, word b, word c) { return a % 2 ? leaf(a + 1, b, c) : chain(c, b, a); }

__attribute__((noinline)) static word sum(int n, ...)
{
	__builtin_va_list list;
	word s = 0;
	__builtin_va_start(list, n);
	while (n-- > 0)
		s = mix(s, __builtin_va_arg(list, word));
	__builtin_va_end(list);
	return s;
}

word variadic(word a, word b, word c) { return sum(3, a, b, c) + sum(8, a, b, c, a, b, c, a, b); }

struct big { word v[9]; };

__attribute__((noinline)) static struct big make(word a, word b)
{
	struct big r;
	for (int i = 0; i < 9; i++)
		r.v[i] = mix(a + i, b);
	return r;
}

word by_value(word a, word b, word c)
{
	struct big r = make(a, b);
	return r.v[c % 9] + r.v[0];
}

word loops(word a, word b, word c)
{
	word s = 0;
	for (word i = 0; i < a % 6 + 2; i++)
		for (word j = 0; j < b % 4 + 1; j++)
			s += memory[(i * 8 + j) % 64] = mix(s + i, c + j);
	return s;
}

word indirect(word a, word b, word c)
{
	word (*volatile f[])(word, word, word) = {leaf, chain, early, tail};
	return f[a % 4](b, c, a) + f[b % 4](c, a, b);
}

word floats(word a, word b, word c)
{
	volatile double x = (double)(a % 100) * 1.5, y = (double)(b % 100) + 0.25;
	return (word)(x * y) + mix((word)x, c);
}

word large(word a, word b, word c)
{
	volatile char v[9000];
	for (int i = 0; i < 9000; i += 4096)
		v[i] = (char)mix(a, i);
	return v[b % 3 * 4096] + c;
}
