// A small printf: varargs, a table of conversions, a buffer on the caller's stack.
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#define HERE __asm__ volatile("nop" ::: "memory")
typedef struct sink { char *at; const char *limit; size_t written; bool overflow; } sink;
typedef void conversion(sink *, va_list *, int width);
struct spec { char letter; conversion *convert; const char *const help; };

static void put(sink *s, char c)
{
	s->written++;
	if (s->at < s->limit)
		*s->at++ = c;
	else
		s->overflow = true;
}

__attribute__((noinline)) static void digits(sink *s, unsigned long n, unsigned base, int width)
{
	char text[24], *p = text + sizeof text;
	*--p = 0;
	do
		*--p = "0123456789abcdef"[n % base];
	while (n /= base);
	while (text + sizeof text - 1 - p < width)
		*--p = '0';
	HERE; // STOP print p; print *p; print p[0]; print text + sizeof text - p; print text + 24 - 1 - p; print base; print width; print n; print *s; print s->limit - s->at; print s->overflow; print s->written; print *p@2; print/x *p@2; print/d *p@2; whatis p; whatis text; whatis &text; whatis text + 1; whatis text + sizeof text - p; whatis sizeof text; whatis n % base; whatis n + width; ptype s; whatis s->at; whatis *s->limit; x/s p; x/2cb p; print base == 16 ? 'x' : 'd'; print "0123456789abcdef"[11]; bt; up; info args; print width; up; print *spec; print spec->letter; print spec - specs; info locals; down 2; finish
	while (*p)
		put(s, *p++);
}

static void convert_d(sink *s, va_list *list, int width)
{
	int n = va_arg(*list, int);
	if (n < 0)
		put(s, '-');
	digits(s, n < 0 ? -(long)n : n, 10, width);
}
static void convert_x(sink *s, va_list *list, int width) { digits(s, va_arg(*list, unsigned), 16, width); }
static void convert_s(sink *s, va_list *list, int width)
{
	for (const char *p = va_arg(*list, const char *); *p; p++)
		put(s, *p);
}
static const struct spec specs[] = {{'d', convert_d, "decimal"}, {'x', convert_x, "hexadecimal"}, {'s', convert_s, "text"}, {0}};

__attribute__((noinline)) static int format(char *to, size_t size, const char *how, ...)
{
	sink s = {to, to + size - 1};
	va_list list;
	va_start(list, how);
	for (; *how; how++) {
		if (*how != '%') {
			put(&s, *how);
			continue;
		}
		int width = 0;
		for (how++; *how >= '0' && *how <= '9'; how++)
			width = 10 * width + *how - '0';
		const struct spec *spec = specs;
		while (spec->letter && spec->letter != *how)
			spec++;
		if (spec->convert)
			spec->convert(&s, &list, width);
	}
	va_end(list);
	*s.at = 0;
	HERE; // STOP print s; print to; print *to@s.written; print s.at - to; print s.limit - to; print s.overflow; print size; print how; print *how; print how[-1]; print s.written < size; print (int)size - (int)s.written; print &s.overflow; print *s.at; print s.at[-1]; whatis s; whatis s.overflow; whatis format; ptype format; whatis &format; whatis *format; print format; print *format; whatis specs; whatis specs[0].convert; whatis *specs[0].convert; ptype specs; ptype struct spec; ptype conversion; whatis conversion; whatis specs[0].help; print specs; print specs[1]; print specs[1].convert == convert_x; print *specs@2; print specs[3].convert; print sizeof specs / sizeof *specs; print &specs[1].help; print *specs[1].help@3; print specs[2].letter; info symbol specs[0].convert; info line convert_s; bt; finish
	return s.written;
}

int run(int n)
{
	char line[32];
	int a = format(line, sizeof line, "%s=%4d;%x", "n", -n, 255u);
	int b = format(line + a, 6, " %d%s", 1234, "tail");
	HERE; // STOP print (char *)line; print a; print b; print line[0]; print line[0]@a; print *line@4; print &line[2]; print (char *)line + a; print line + a; print a + b > sizeof line; print a * b; print (a, b); print a & b; print a | b << 1; print a == b || a > 3; whatis a + b; whatis a > b; whatis a + 1l; whatis line; whatis line + 1; whatis &line[1]; whatis (a, 'c'); print a++ + b; print a; print --a; print a <<= 2; print a; print a >>= 1; print a %= 5; print a ^= 3; print a |= 8; print a &= 12; print a -= 20; print a /= 3; print -a % 3; print a = b = 6; print a; print b; x/s line; x/3c line; printf "%s|%d|%c|%5d|%-5d|%05x\n", line, 3, line[0], 45, 6, 255; printf "%lu %ld %f %g %e\n", sizeof(line), 5L, 1.5, 2.25, 1000.0; printf "%p %%\n", 0; printf "no\ttab\n"; echo text\n; output a; output/x line[0]; call 1 + 1; call (void)a; print/c line[0]@4; print specs[0].help; print sizeof(conversion *)
	return a + b;
}
