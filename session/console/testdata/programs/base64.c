// Base64: an encoder and a decoder with its table.
#include <stddef.h>
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
typedef unsigned char byte;
typedef struct { byte in[3]; char out[4]; int n; } group;
static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static signed char reverse[128];
enum { PAD = '=', BAD = -1 };

__attribute__((noinline)) static void encode_group(group *g)
{
	unsigned bits = g->in[0] << 16 | g->in[1] << 8 | g->in[2];
	for (int i = 0; i < 4; i++)
		g->out[i] = i > g->n ? PAD : alphabet[bits >> (18 - 6 * i) & 63];
	HERE; // STOP print *g; print/x g->in; print g->out; print/c g->in; print g->in; print bits; print/x bits; print/t bits; print/o bits; print bits >> 18; print bits >> 18 & 63; print alphabet[bits >> 18 & 63]; print g->n; print g->out[g->n]; print g->out[3] == PAD; print PAD; print BAD; print/c PAD; print g->in[0] << 16; whatis g->in[0] << 16; whatis g->in[0] & g->in[1]; whatis ~g->in[0]; whatis -g->in[0]; print ~g->in[0]; print -g->in[0]; whatis g->out[0] + g->out[1]; whatis g->in; whatis &g->in; whatis *g; ptype g; ptype byte; x/3xb g->in; x/3ub g->in; x/4cb g->out; x/3db g; x/2ob g; x/tb g; print *g->in@2; print (char)g->in[0]; print sizeof(group); bt; finish
}

__attribute__((noinline)) static size_t encode(char *to, const void *from, size_t n)
{
	const byte *p = from;
	char *start = to;
	for (; n; ) {
		group g = {.n = n < 3 ? n : 3};
		memcpy(g.in, p, g.n);
		encode_group(&g);
		memcpy(to, g.out, 4);
		to += 4, p += g.n, n -= g.n;
	}
	*to = 0;
	return to - start;
}

__attribute__((noinline)) static int decode(byte *to, const char *from)
{
	unsigned long word = 0;
	int count = 0;
	for (; *from && *from != PAD; from++) {
		signed char digit = reverse[(byte)*from];
		if (digit == BAD)
			return -1;
		word = word << 6 | digit;
		if (++count % 4 == 0) {
			to[0] = word >> 16, to[1] = word >> 8, to[2] = word;
			to += 3;
			HERE; // STOP print word; print/x word; print digit; print/d digit; print/c digit; print/x digit; print *from; print from; print from[1]; print to[-3]; print to[-1]; print *(to - 3)@3; print/c to[-3]; print count; print count % 4; print count++; print count--; print reverse['B']; print/d reverse['B']; print reverse[0]; print alphabet[reverse['c']]; print (int)reverse[*from]; print word >> 16; whatis word >> 16; whatis digit; whatis reverse; whatis reverse[0]; whatis digit + word; whatis count * 1ul; ptype reverse; up; info locals; print text; print *text@4
		}
	}
	return count;
}

int run(int n)
{
	char text[32];
	byte back[32] = {0};
	memset(reverse, BAD, sizeof reverse);
	for (int i = 0; alphabet[i]; i++)
		reverse[(byte)alphabet[i]] = i;
	size_t length = encode(text, "3.14 pi", 4 + n);
	int digits = decode(back, text);
	HERE; // STOP print (char *)text; print (char *)back; print length; print digits; print alphabet; print sizeof alphabet; print alphabet[26]; print &alphabet[26]; print *alphabet@5; print reverse[65]@3; print/d reverse[65]@4; print text[0]@4; print text[0]@length; print/x back[0]@4; print back[0]@7; print length / 4 * 3; print length % 5; print -length; print length - 20; print (int)length - 20; whatis length; whatis length - 20; whatis (int)length; whatis alphabet; whatis &alphabet; whatis &alphabet[0]; whatis "abc"; whatis 'a'; print sizeof('a'); print "abc"[1]; print sizeof("abc"); print *"abc"@2; print encode; print decode(back, text); print decode; print encode_group; whatis encode; whatis decode; ptype group; whatis text; whatis back; set var text[0] = 'x'; print (char *)text; set var back[0] = 65; print back[0]; print/c back[0]; print back[0] += 200; print (char)back[0]; print reverse['x'] = 130; print reverse['x']; x/s text; x/2s alphabet; x/s alphabet + 60; x/3c back + 1; output length; output/x digits
	return digits + length;
}
