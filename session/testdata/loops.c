// Loops for breakpoint_test.go and watchpoints.

long cell;
long cells[8];

// tick is called in the loop of count: its number, and the sum so far.
__attribute__((noinline)) long tick(long n, long sum) {
	__asm__ volatile("" ::: "memory");
	return sum + n;
}

// count adds the numbers from 1 to n.
long count(long n) {
	long sum = 0;
	for (long i = 1; i <= n; i++)
		sum = tick(i, sum);
	return sum;
}

long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// store writes cell n times: each value twice.
long store(long n) {
	for (long i = 0; i < n; i++) {
		__asm__ volatile("" ::: "memory");
		cell = i / 2;
		cells[i % 8] += i;
	}
	return cell;
}

long (*through)(long, long) = tick;

// calls calls through memory that is watched, and keeps what is pushed for it so.
long calls(long n) {
	long sum = 0;
	for (long i = 1; i <= n; i++)
		sum = through(i, sum);
	return sum;
}
