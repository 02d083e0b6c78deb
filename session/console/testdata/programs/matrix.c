#define HERE __asm__ volatile("nop" ::: "memory")
typedef double vec3[3];
typedef struct { vec3 row[3]; } mat3;
typedef struct { float x, y, z, w; } quad __attribute__((aligned(16)));
static const mat3 identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
__attribute__((noinline)) static double dot(const double *a, const vec3 b)
{
	double sum = 0;
	for (int k = 0; k < 3; k++)
		sum += a[k] * b[k];
	HERE; // STOP print *a@3; print a[1]; print b[2]; print sum; print sum / 3; print sum > 2; whatis b; ptype b; whatis a; x/3fg a; print *b@3; print &a[1]; finish
	return sum;
}
__attribute__((noinline)) static void scale(mat3 *m, double by)
{
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			m->row[i][k] *= by;
	HERE; // STOP print *m; print m->row[1]; print m->row[1][1]; print &m->row[1]; whatis m->row; whatis m->row[0]; ptype m; print by; print/x m->row[0]; print -by; print by * by; print m->row[0][0] == by; print (int)by; print (float)by / 3
}
int run(int n)
{
	mat3 m = identity;
	vec3 v = {1.5, -2, n};
	quad q = {0.5f, 1e10f, -1e-10f, n / 3.0f}, *pq = &q;
	double d = dot(v, v);
	scale(&m, 2.5);
	d += dot(m.row[0], v);
	HERE; // STOP print m; print v; print q; print *pq; print d; print identity; print identity.row[2]; print q.w; print v[0] + v[1]; print v[0] * q.x; whatis v; ptype v; whatis vec3; ptype vec3; whatis mat3; ptype mat3; ptype quad; whatis q.x + v[0]; print sizeof(quad); print sizeof(vec3); print &v; print &v[1]; print *v@2; print (long)v[2]; print v[0] > v[1]; print/f q; print/x q; print/d v; print 1.0 / 3; print 2.0f / 3; print 1e308 * 10; print -1e308 * 10; print 0.1 + 0.2; print 1e15; print 1e16; print 1e17; print 123456.789; print 100.0; print 5e-324
	return d;
}
