/* gcc -g -w -o values values.c; values of types of all kinds */
#ifdef __clang__
#define _F16 float
#define _F128 long double
#else
#define _F16 _Float16
#define _F128 _Float128
#endif
#include <stdlib.h>
#include <complex.h>
#include <stdbool.h>
#include <stdarg.h>
enum fl { F1 = 1, F2 = 2, F4 = 4, F8 = 8 };
enum neg { NA = -5, NB = 3 };
enum gap { G3 = 3, G8 = 8 };
enum big { BB = 0xffffffffffull };
struct bits { unsigned a:3; int b:5; unsigned long long c:40; _Bool d:1; enum fl e:4; signed char :0; int f:31; };
union un { int i; float f; char c[4]; struct { short lo, hi; }; };
struct flex { int n; double d[]; };
struct zero { int n; int z[0]; };
struct nest { struct { int a; union { int b; float c; }; struct { int x, y; } named; }; int arr[2][3]; struct nest *next; };
struct empty {};
typedef struct { int q; } anon_t;
typedef int (*cb)(const char *, ...);
typedef int v4si __attribute__((vector_size(16)));
typedef float v8sf __attribute__((vector_size(32)));
typedef unsigned char v16 __attribute__((vector_size(16)));
int main(int argc, char **argv);

__attribute__((noinline)) void last(struct bits b, union un u, struct flex *fx, struct zero z, struct nest n, struct empty e, anon_t an,
	cb cb1, v4si v, enum fl e3, enum fl e16, enum fl e0, enum fl e17, enum neg ng, enum neg ng2, enum gap g11, enum gap g3,
	enum big bg, float complex fc, double complex dc, long double ld, long double complex ldc, __int128 i128, unsigned __int128 u128,
	_Bool t, bool two, _F16 h16, _F128 q, signed char sc, unsigned char uc, short s, const volatile int cvi, int *restrict rp,
	void *vp, char **argv, int (*ap)[3], const char *const cc, _Atomic int at, float nan, double inf, double neg0, double den,
	float fl, long long ll, unsigned long ul, char c0, char cq, char c7f, wchar_t *w0, double big, float small, ...)
{
	s = 4;
	int vla[s];
	for (int i = 0; i < s; i++) vla[i] = i * i;
	char cvla[s+3];
	for (int i=0;i<s+3;i++) cvla[i]='a'+i;
	int m[2][s];
	for (int i=0;i<2;i++) for (int j=0;j<s;j++) m[i][j]=i+j;
	struct bits bb[2] = {b, b};
	struct nest *np = &n;
	double dd[] = {0.1, 1e100, -0.0, 1e-5, 123456789.0, 1e16, 1e15, 3.0};
	float ff[] = {0.1f, 1e10f, 16777216.0f, 1e-7f};
	char text[20] = "abc\0def";
	char nul[5] = {0};
	char full[3] = {'a','b','c'};
	unsigned char uu[4] = {1,2,3,0};
	signed char ss[3]={-1,0,1};
	long arr[30];
	for (int i=0;i<30;i++) arr[i] = i/12;
	int zeros[300]={0};
	char *strs[3] = {"a", 0, "c"};
	v8sf v8 = {1,2,3};
	v16 vv={1,2};
	int (*fpa[2])(void) = {0, (int(*)(void))main};
	char long_[300];
	for (int i=0;i<300;i++) long_[i]="ab"[i%2];
	union un ua[2] = {u, {7}};
	void *self = &self;
	bool ba[3]={1,0,1};
	enum fl ea[4]={F1,F2|F4,0,16};
	int *ip = (int *)8;
	const char *bad = (char *)16;
	va_list ap2;
	register int reg = s * 7;
	static const int konst = 12;
	struct { int f; } un_named = {4};
	long double lda[2] = {1.5L, -2e300L};
	_F16 ha[2]={1.5,0.1};
	__int128 ia[2]={1,-1};
	float complex ca[2]={1+2*I,3};
	abort();
}

int main(int argc, char **argv)
{
	struct bits b = {5, -7, 0x123456789a, 1, F2|F4, -3};
	union un u = {0x41424344};
	struct flex *fx = malloc(100);
	fx->n=2;
	struct zero z={3};
	struct nest n = {{1, {2}, {3,4}}, {{1,2,3},{4,5,6}}, &n};
	struct empty e;
	anon_t an={9};
	int a3[3];
	unsigned char two=2;
	bool tw;
	__builtin_memcpy(&tw,&two,1);
	static int at0;
	last(b,u,fx,z,n,e,an,(cb)last,(v4si){1,2,3,4},F1|F2,16,0,F1|16,NA,-1,11,G3,BB,1+2*I,-1.5-0.0*I,3.25L,1+1*I,((__int128)-1)<<70,((unsigned __int128)1)<<127,1,tw,1.5,2.5,-1,200,-3,4,a3,fx,argv,&a3,"cc",5,__builtin_nanf(""),-__builtin_inf(),-0.0,4e-320,1.0f/3,-1ll,~0ul,0,'\'',0x7f,L"wide",1.7976931348623157e308,1e-45f, 1, 2.0);
}
