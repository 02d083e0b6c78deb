#define HERE __asm__ volatile("nop" ::: "memory")
int shadow = 1;
static int only_here = 2;
extern int later;
__attribute__((noinline)) static int count(int step)
{
	static int calls = 0, history[4];
	calls += step;
	history[calls & 3] = step;
	HERE; // STOP print calls; print history; print shadow; print ::shadow; print count::calls; print step; print &calls; print &history; info locals
	return calls;
}
int run(int n)
{
	int shadow = 10, result = count(1);
	HERE; // STOP print shadow; print n; info locals
	{
		int shadow = 20, inner = 3;
		result += shadow + inner;
		HERE; // STOP print shadow; print inner; info locals; print ::shadow
		for (int shadow = 30; shadow < 31; shadow++) {
			unsigned char inner = 200;
			result += count(shadow) + inner;
			HERE; // STOP print shadow; print inner; info locals; print count::calls; print 'scopes.c'::shadow; print result; print later; print only_here; print &shadow; whatis inner; print inner + 100; print inner << 4
		}
	}
	result += count(2) + later;
	HERE; // STOP print shadow; print inner; print result; print count::nosuch; print run::result; print nosuch::x; print &only_here; print *&later
	return result;
}
int later = 5;
