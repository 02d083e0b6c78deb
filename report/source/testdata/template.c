// What compilers do to frames: the round trips of roundtrip_test.go start from
// here. Each function keeps more alive across its calls than a leaf would.

extern void use(void *);
extern int next(int);

int leaf(int x) { return x + 1; }

int frame(int x) {
	int y = next(x), z = next(y);
	return x + next(z) + y;
}

// The size of the frame is known at run time only.
int variable(int n) {
	char *room = __builtin_alloca(n);
	use(room);
	return room[n - 1] + next(n);
}

// The stack is realigned: gcc's CFA is the value that a slot of the frame holds.
int realigned(int n) {
	char wide[64] __attribute__((aligned(64)));
	char *room = __builtin_alloca(n);
	use(wide);
	use(room);
	return wide[n & 63] + room[0] + next(n);
}

// Several ways out, and a part that is seldom reached.
int exits(int n) {
	if (n < 0) {
		use(&n);
		__builtin_trap();
	}
	int a = next(n);
	if (a == 3)
		return next(a) + n;
	while (a-- > 0)
		n += next(a);
	return n;
}

// More arguments than registers: pushed before the call.
extern int many(int, int, int, int, int, int, int, int, int, int, int);
int pushes(int a) { return many(a, 1, 2, 3, 4, 5, 6, 7, 8, 9, next(a)) + a; }
