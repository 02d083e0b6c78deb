#define HERE __asm__ volatile("nop" ::: "memory")
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>
#include <complex.h>
signed char sc = -5; unsigned char uc = 200; char c = 'x'; char high = '\x80';
short s = -300; unsigned short us = 65000; int i = -70000; unsigned u = 4000000000u;
long l = -5000000000; unsigned long ul = 18446744073709551615ul; long long ll = -1; unsigned long long ull = 1ull << 63;
bool yes = true, no = false; float f = 3.25f; double d = -1e-300; long double ld = 1.25L;
wchar_t wide[] = L"w\u00e9";
wchar_t one = L'q'; uint8_t byte = 7; int8_t small = -7; size_t size = 42; intptr_t ip = -1;
float _Complex cf = 1.5f + 2i; double _Complex cd = -1 + 0.5i;
double special[] = {1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0};
__int128 huge; unsigned __int128 uhuge;
const int constant = 12; volatile long vol = 34; int *const pc = &i; const char *pcc = "const"; char *const volatile pcv = 0;
__attribute__((noinline)) static double mix(signed char a, unsigned char b, short e, unsigned short g, float x, double y, long double z, bool t, char k)
{
	double r = a + b + e + g + x + y + z + t + k;
	HERE; // STOP print a + b; print/x a; print/t b; print/c b; print -a; print ~b; print x * y; print z * 2; print t + 1; print k; print !t; print a < b; print (unsigned)a; print (unsigned char)a; print (int)x; print (char)b; print x / 3; print y / 3; print e * g; print e >> 2; print g << 4; print a == -5; print x == 3.25; whatis a + b; whatis x + a; whatis x * y; whatis z + 1; whatis t + t; whatis e + g; whatis -k; whatis !x; whatis a ? b : e; whatis x < y; finish
	return r;
}
int run(int n)
{
	huge = ((__int128)1 << 100) - n;
	uhuge = (unsigned __int128)huge << 20;
	double r = mix(sc, uc, s, us, f, 2.5, ld, yes, c);
	HERE; // STOP print sc; print uc; print c; print high; print s; print us; print i; print u; print l; print ul; print ll; print ull; print yes; print no; print f; print d; print ld; print wide; print one; print byte; print small; print size; print ip; print cf; print cd; print special; print huge; print uhuge; print constant; print vol; print pc; print *pc; print pcc; print pcv; print/x sc; print/x uc; print/x c; print/x s; print/x l; print/x ul; print/x yes; print/x f; print/x d; print/x huge; print/d uc; print/d c; print/u sc; print/u s; print/o us; print/t sc; print/c us; print/c i; print/f i; print/f l; print/f u; print/f f; print/f d; print/a l; print/z us; print/z sc; print/s byte; print/c small; print/d yes; print/t yes; print/c wide; print/x wide; whatis sc; whatis uc; whatis us; whatis u; whatis ul; whatis ull; whatis yes; whatis ld; whatis wide; whatis one; ptype one; ptype byte; whatis byte; ptype size; whatis size; ptype bool; whatis ip; whatis cf; whatis cd; whatis huge; whatis uhuge; whatis constant; whatis vol; whatis pc; whatis pcc; whatis pcv; ptype pcv; ptype pcc; print special[0] > 1; print special[2] == special[2]; print u + 1; print i + u; print l + u; print ul + 1; print -ul; print uc + 100; print (short)i; print (long)f; print (int)d; print (float)d; print (_Bool)i; print (char)i; print ull / 3; print ull >> 60; print ull % 1000; print ll / 2; print l % 7; print l * 2; print i * i; print us * us; print f + 1; print d * 1e300; print ld + ld; print yes && no; print yes || no; print yes + yes; print c + 1; print c == 'x'; print c - 'a'; print sizeof(ld); print sizeof(wide); print sizeof(cd); print sizeof(huge); print constant + 1; print *pc + 1; print pcc[1]; print *pcc@3; print i = 5; print i += 3; print i++; print i; print --i; print f = 2; print d = 1; print c = 66; print us = 70000; print yes = 5; print sc = 200; print i & 6; print i ^ 3; print i | 8; print i << 2; print 1.5 + i; print 7 / 2 * 2.0; print cd * 2; print cf + cf; print -cd; print cd == cd; print 1 + cd
	return r;
}
