// Fixed-point arithmetic for a controller, with saturation, and numbers of every width.
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#define HERE __asm__ volatile("nop" ::: "memory")
typedef int32_t q16;
typedef const volatile q16 port;
typedef struct gains { q16 p, i, d; } gains;
struct controller { const gains *restrict gains; q16 integral, last; port *output; int8_t trim; uint8_t scale; int16_t low; uint16_t high; bool saturated; };
#define Q(x) ((q16)((x) * 65536))
static const gains preset[] = {{Q(1.5), Q(0.25), Q(-0.125)}, {.d = Q(2)}};
static q16 output_port;

__attribute__((noinline)) static q16 multiply(q16 a, q16 b)
{
	int64_t wide = (int64_t)a * b;
	q16 r = wide >> 16;
	if (wide > (int64_t)INT_MAX << 16)
		r = INT_MAX;
	HERE; // STOP print a; print b; print wide; print r; print/x a; print/x wide; print/t r; print/o a; print a / 65536.0; print b / 65536.; print (double)r / (1 << 16); print r >> 16; print r & 0xffff; print -a; print ~a; print a * b; print (long)a * b; print a / b; print a % 1000; print -a / 7; print -a % 7; print a << 4; print a << 31; print 1 << 31; print 1 << 32; print 1L << 40; print wide >> 32; print wide > a; print a > b ? a : b; whatis -a; whatis ~a; whatis +a; whatis a << 1; whatis a >> 1; whatis a * b; whatis a / 65536.0; whatis a / 2.0f; whatis (long)a * b; whatis wide >> 1; whatis -wide; whatis wide + a; whatis !a; whatis a < b; whatis a && b; whatis a ? a : b; whatis a ? wide : b; whatis (q16)1; whatis (q16)1 + 1; whatis a++; whatis (a, wide); whatis a = 5; ptype a; ptype -a; ptype q16; ptype wide; whatis q16; print 2147483647 + 1; print 2147483648; print 4294967295; print 4294967296; print -2147483648; print 0xffffffff; print 0x7fffffff; print 0x100000000; print 1u - 2; print 1ul - 2; print 1 - 2u > 0; print -1 < 1u; print -1L < 1u; print 5 / -2; print 5u / -2; print 0x80000000 >> 4; print -16 >> 2; print -1u; whatis 2147483648; whatis 4294967295; whatis 0xffffffff; whatis 0x7fffffff; whatis 1u; whatis 1ul; whatis 1ll; whatis 1ull; whatis 'a' + 1u; whatis 1u + 1l; whatis 1.0f; whatis 1.0l; whatis 1.0f + 1; print sizeof(1.0f); print 1 == 1.0; print 07; print 010 + 0x10; print 1e3 + 1; bt; finish
	return r;
}

__attribute__((noinline)) static q16 update(struct controller *c, q16 error)
{
	int8_t before = c->trim;
	c->integral += error;
	c->trim += 100;
	c->scale -= 3;
	c->high--;
	c->low = c->high;
	q16 out = multiply(c->gains->p, error) + multiply(c->gains->i, c->integral) + multiply(c->gains->d, error - c->last);
	c->last = error;
	output_port = out;
	HERE; // STOP print *c; print c->gains; print *c->gains; print c->gains[1]; print c->gains->p / 65536.0; print *c->gains@2; print c->gains == preset; print c->gains - preset; print *c->output; print c->output; print c->trim; print/d c->trim; print/x c->trim; print/u c->trim; print/c c->trim; print/t c->trim; print/d c->scale; print c->scale; print/x c->scale; print c->low; print c->high; print/x c->low; print/u c->low; print/d c->high; print c->low == c->high; print c->low < c->high; print c->trim + c->scale; print c->trim * c->trim; print -c->trim; print ~c->scale; print c->scale << 1; print c->saturated; print before; print/d before; print out; print error; print out * 2.5; print out / 0x10000; whatis c->gains; whatis *c->gains; whatis c->gains->p; whatis c->gains->p + 1; whatis c->output; whatis *c->output; whatis *c->output + 1; whatis -*c->output; whatis c->trim; whatis c->trim + c->trim; whatis -c->trim; whatis ~c->scale; whatis c->scale << 1; whatis c->low * c->high; whatis c->high + 1; whatis c->saturated + 1; whatis !c->saturated; ptype c; ptype port; whatis port; ptype c->output; ptype c->gains; ptype *c->output; whatis before; print (int8_t)200; print (uint8_t)-1; print/d (int8_t)200; print (int16_t)40000; print (uint16_t)-1; print (q16)3.99; print (q16)-3.99; print (unsigned)3.7; print (char)65.5; up; info locals; down; finish
	return out;
}

int run(int n)
{
	struct controller c = {preset, 0, 0, &output_port, 100, 1, 5, 0, true};
	q16 out = update(&c, Q(0.5) * n);
	HERE; // STOP print out; print out / 65536.0; print c; print c.gains[0]; print preset; print preset[1].d; print/x preset; print preset[0].d >> 16; print sizeof preset; print &preset[1].d; print *preset@1; print output_port == out; print output_port; print c.trim; print c.trim == -56; print c.high == 65535; print c.low == -1; print c.scale - 255; print c.saturated == true; whatis preset; whatis preset[0]; whatis preset[0].p; whatis -preset[0].p; whatis preset[0].p * 2; whatis preset[0].p << 1; whatis ~preset[0].p; whatis +preset[0].p; whatis &preset; whatis &preset[0]; whatis c; whatis c.output; ptype preset; set var c.trim = 128; print c.trim; print/d c.trim; set var c.high = 70000; print c.high; set var c.saturated = 0; print c.saturated; set var c.low = c.high; print c.low; print c.scale = 300; print c.scale++; print c.scale; print --c.scale; print c.scale *= 10; print/d c.scale; print c.trim -= 1; print c.integral /= 3; print c.integral %= 7; print c.last ^= -1; print c.last |= 0x10; print c.last <<= 2; print c.last >>= 1; print c.saturated = 5; print c; print multiply(65536 * 2, 65536 * 3) / 65536; print multiply(Q, 1); print multiply(1.9, 65536); print update; output/x c.last; print $; print $$3
	return out >> 16;
}
