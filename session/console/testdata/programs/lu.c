// LU decomposition with pivots, of a matrix whose size is known at run time.
#include <math.h>
#include <stddef.h>
#define HERE __asm__ volatile("nop" ::: "memory")
typedef double real;
typedef struct { size_t n; real *a; int *pivot; float condition; long double determinant; } system_t;

__attribute__((noinline)) static int pivot_of(size_t n, const real a[n][n], size_t column)
{
	int best = column;
	for (size_t i = column + 1; i < n; i++)
		if (fabs(a[i][column]) > fabs(a[best][column]))
			best = i;
	HERE; // STOP print best; print n; print column; print a; print *a; print a[0]; print a[1][1]; print a[best][column]; print &a[1]; print *a[0]@2; print a[0][0] + a[1][1]; print a[0][0] / 3; print a[0][0] * 1e5; print a[2][0] < a[1][0]; print (int)a[0][1]; print -a[0][0]; print !a[0][0]; whatis a; whatis a[0][0]; whatis a[0][0] * 2; whatis a[0][0] > 1; whatis best + n; whatis best + 1.0; whatis best * 1.0f; whatis a[0][0] + 1.0f; bt; up; info locals; print *s; print s->a[0]@s->n; down; finish
	return best;
}

__attribute__((noinline)) static int decompose(system_t *s)
{
	size_t n = s->n;
	real (*a)[n] = (real (*)[n])s->a;
	s->determinant = 1;
	for (size_t k = 0; k < n; k++) {
		int p = pivot_of(n, (const real (*)[n])a, k);
		s->pivot[k] = p;
		if (a[p][k] == 0)
			return -1;
		if ((size_t)p != k) {
			for (size_t j = 0; j < n; j++) {
				real t = a[k][j];
				a[k][j] = a[p][j], a[p][j] = t;
			}
			s->determinant = -s->determinant;
		}
		for (size_t i = k + 1; i < n; i++) {
			real factor = a[i][k] /= a[k][k];
			for (size_t j = k + 1; j < n; j++)
				a[i][j] -= factor * a[k][j];
		}
		s->determinant *= a[k][k];
	}
	HERE; // STOP print *s; print s->determinant; print s->condition; print *s->pivot@3; print *s->a@9; print s->a[8]; print s->a[0] * s->a[4] * s->a[8]; print/x s->determinant; print (double)s->determinant; print (int)s->determinant; print (float)s->a[4]; print s->determinant / 7; print s->determinant == s->a[0]; whatis s->determinant / 7; whatis s->condition * 2; whatis s->condition * 2.0; whatis s->determinant + s->condition; whatis s->a[0] + s->condition; print sizeof(s->determinant); print sizeof(s->condition * 1.0); print/f s->n; print/f s->a[4]; x/3fg s->a; x/fw &s->condition; x/2dw s->pivot; x/xg s->a; print sizeof(real); ptype real; whatis (real)1; print (real)1 / 3; print 1.0f / 3; print 1.0L / 3; print 1e400; print -1e400; print 0.1 + 0.2; print 0.1f; print 1.0 == 1; print 5.0 / 0; print 1e16; print 123456789.0; print 1e-5; print 0.0001; print 100000.0; print -0.0; print 2.0 > 1; print 7.5 + 1 / 2
	return 0;
}

int run(int n)
{
	size_t size = n;
	real matrix[size][size];
	int pivots[3] = {-1, -1, -1};
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			matrix[i][j] = 1.0 / (i + j + 1) + (i == j) * i;
	system_t s = {size, *matrix, pivots, 0.25f};
	int failed = decompose(&s);
	HERE; // STOP print s; print matrix; print matrix[1]; print matrix[1][2]; print *matrix; print **matrix; print sizeof matrix; print sizeof matrix[0]; print sizeof matrix / sizeof matrix[0]; print &matrix[1][1]; print &matrix[1]; whatis matrix; whatis matrix[0]; whatis &matrix; whatis &matrix[0]; ptype matrix; print pivots; print s.determinant; print s.condition; print (long)s.determinant; print s.determinant > 0; print s.a[0] == matrix[0][0]; print *s.a@s.n; print s.a == matrix[0]; print (s.a + 3) - s.a; set var s.a[0] = 2.5e-3; print s.a[0]; set var s.condition = 1; print s.condition; print s.condition = 0.1; set var s.determinant = 3; print s.determinant; print s.condition + 1; print matrix[0][0]++; print matrix[0][0]; print matrix[0][0] *= 2; print failed ? matrix[0][0] : 7; ptype s; print/d matrix[2][2]; print/x pivots; print/f pivots[0]; print/c pivots[0]; output matrix[0]
	return failed + pivots[1];
}
