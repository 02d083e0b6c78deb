// Code that calls host functions, for host_test.go.

extern unsigned long many(long, long, long, long, long, long, long, long, long, long);
extern double mixed(long, double, float, long);
extern long text(char *);
extern long again(long);
extern long fail(void);

unsigned long callMany(void) { return many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10); }

double callMixed(void) { return mixed(-1, 3.5, 0.25f, 7) + 1; }

char message[] = "text of C";
long callText(void) { return text(message) + message[0]; }

long callAgain(long n) {
	long sum = 0;
	while (n-- > 0)
		sum += again(n);
	return sum;
}

// callDeep calls from each depth, the innermost first.
long callDeep(long n) { return n == 0 ? 0 : callDeep(n - 1) + again(n); }

long callFail(void) { return fail() + 1; }
