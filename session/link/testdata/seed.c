// Source of the seed files of the fuzz tests:
//
//	CC -c -fdebug-prefix-map=$PWD=/src seed.c -o NAME
//
// with gcc -O1 -fPIC -g (seed-amd64.o), gcc -O1 -fno-pic -fcommon
// (seed-amd64-nopic.o), aarch64-linux-gnu-gcc -O1 -fPIC -g -gz (seed-arm64.o)
// and aarch64-linux-gnu-gcc -O1 -fno-pic (seed-arm64-nopic.o).
extern int host(int);
__thread int tl = 3;
static const char *const w[] = {"a", "b"};
int v = 4;
static int z[9];
__attribute__((constructor)) static void init(void) { z[1] = v;
}
int f(int n) { tl++;
switch (n) { case 0: return host(1);
case 1: return v;
case 2: return z[n];
case 3: return w[1][0];
case 4: return 9;
case 5: return tl;
} return n;
}
