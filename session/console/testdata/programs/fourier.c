// A fast Fourier transform with complex numbers of three sizes.
#include <complex.h>
#include <math.h>
#define HERE __asm__ volatile("nop" ::: "memory")
typedef double complex signal;
struct spectrum { signal bins[4]; float complex peak; int at; const char *unit; };
union view { double complex z; double parts[2]; struct { double re, im; }; };

static double squared(double complex z) { return creal(z) * creal(z) + cimag(z) * cimag(z); }

__attribute__((noinline)) static void transform(signal *x, int n, int stride, signal *out)
{
	if (n == 1) {
		*out = *x;
		return;
	}
	transform(x, n / 2, 2 * stride, out);
	transform(x + stride, n / 2, 2 * stride, out + n / 2);
	for (int k = 0; k < n / 2; k++) {
		signal even = out[k], odd = out[k + n / 2];
		if (n == 4 && k == 1)
			odd = cimag(odd) - creal(odd) * I;
		out[k] = even + odd;
		out[k + n / 2] = even - odd;
	}
	HERE; // STOP print *x; print x[1]; print *x@2; print out[0]; print *out@2; print n; print stride; print out[0] == out[1]; print &out[1]; print *&out[1]; whatis *x; whatis x; whatis x[0]; ptype x; ptype signal; whatis signal; print sizeof(*x); print *(double *)out; print *(double *)out@2; print ((double *)out)[1]; print out - x; x/2fg out; print/x out[0]; print n / 2; bt; up; down; finish
}

__attribute__((noinline)) static int strongest(struct spectrum *s)
{
	double best = -1;
	for (int k = 0; k < 4; k++)
		if (squared(s->bins[k]) > best) {
			best = squared(s->bins[k]);
			s->at = k;
			s->peak = s->bins[k];
		}
	HERE; // STOP print *s; print s->bins; print s->bins[s->at]; print s->peak; print best; print s->at; print s->unit; print *s->unit@2; whatis s->peak; whatis s->bins; whatis s->bins[0]; ptype s; ptype struct spectrum; print sizeof(s->peak); print &s->peak; print *&s->peak; print &s->bins[2]; print $_; print best / 4; print (float)best; print (int)best % 7; print best > 3 && s->at; print squared(s->bins[0]); x/2fw &s->peak; print -s->at; finish
	return s->at;
}

int run(int n)
{
	signal samples[4] = {1, 2 + 0.5 * I, n, -1 * I};
	struct spectrum s = {.unit = "Hz"};
	union view v;
	long double complex wide = 1.5L + 2 * I;
	transform(samples, 4, 1, s.bins);
	v.z = s.bins[1];
	int at = strongest(&s);
	HERE; // STOP print samples; print samples[1]; print s; print v; print v.parts; print v.re; print v.im; print v.z; print wide; print at; print/x at; print sizeof(v); print sizeof wide; whatis wide; whatis v; whatis v.z; whatis samples; whatis &samples[0]; ptype v; ptype union view; ptype samples; ptype wide; print v.re * v.im; print v.parts[0] == v.re; print *samples@2; print samples[0]; print &samples; print *(double *)&samples[1]; print *(union view *)&samples[1]; print ((union view *)samples)[1].im; print $.nosuch; set var v.im = 9; print v.z; print v; print v.parts[1]; print s.bins[at]; print transform; print strongest; info locals; print/f samples[1]; print/c samples[1]; print (float)v.re; print v.re + n; print n * 0.1
	return at + n;
}
