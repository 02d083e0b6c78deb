// Values of every type of C, for comparison with gdb. Lines with STOP are where
// the program is stopped.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>
#include <uchar.h>

#define NOINLINE __attribute__((noinline, noclone))

enum color { RED, GREEN, BLUE };
enum flags { READ = 1, WRITE = 2, EXEC = 4, WIDE = 0x30 };
enum sparse { LOW = -5, HIGH = 1000 };
enum odd { FIVE = 5, TWO = 2 };

struct node {
	int value;
	struct node *next;
	char name[8];
};
typedef struct node node_t;

struct bits {
	unsigned a : 3;
	int b : 5;
	unsigned long c : 40;
	bool d : 1;
	enum color e : 2;
	unsigned : 0;
	short f : 9;
};

struct outer {
	int tag;
	union {
		int i;
		float f;
	};
	struct {
		short x, y;
	} inner;
	union {
		char bytes[4];
		uint32_t word;
	} u;
	int (*op)(int);
	double d[3];
};

struct empty {};
struct opaque;
struct flexible {
	int n;
	int data[];
};
struct deep { struct { struct { struct { int v; } c; } b; } a; };

int global = 42;
static const char *const words[] = {"zero", "one", "two", NULL};
static struct node chain[3];
double ratio = 1.0 / 3;
struct opaque *hidden;
int matrix[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
int many[300];
volatile int sink;
extern char **environ;

static int twice(int x) { return 2 * x; }
static int add(int x, int y, ...) { return x + y; }

NOINLINE void integers(signed char sc, unsigned char uc, short s, unsigned short us, int i, unsigned u, long l, unsigned long ul, long long ll)
{
	char c = 'a';
	char tab = '\t', nul = 0, esc = 27, quote = '\'', high = (char)0xe9, back = '\\';
	bool yes = true, no = false;
	int8_t i8 = -7;
	uint8_t u8 = 200;
	uint64_t big = 0xffffffffffffffffu;
	wchar_t wc = L'w';
	char16_t c16 = u'x';
	char32_t c32 = U'y';
	__int128 wide = (__int128)1 << 100;
	unsigned __int128 uwide = (unsigned __int128)-1;
	wide = -wide;
	size_t size = sizeof(struct outer);
	const volatile int cv = 3;
	sink += c + sc + uc + s + us + i + u + l + ul + ll + cv; // STOP
	sink += tab + nul + esc + quote + high + back + yes + no + i8 + u8 + big + wc + c16 + c32 + (int)wide + (int)uwide + size;
}

NOINLINE void floats(float f, double d, long double ld)
{
	float third = 1.0f / 3, million = 1e6f, tiny = 1e-30f, fi = 100;
	double pi = 3.14159265358979, neg = -0.0, huge = 1e300, frac = 0.1, whole = 123456789, e17 = 1e17, small = 0.0001, smaller = 0.00001;
	double inf = __builtin_inf(), nan = __builtin_nan(""), ninf = -inf;
	long double lx = 1.1L, lbig = 1e4000L;
	_Complex double z = 1 + 2i;
	sink += f + d + ld; // STOP
	sink += third + million + tiny + fi + pi + neg + frac + whole + small + smaller + (huge > 1) + (e17 > 1) + (lx > 1) + (lbig > 1) + (inf > 1) + (nan > 1) + (ninf > 1) + (__real__ z > 1);
}

NOINLINE void pointers(const char *text, node_t *n, void *any, int *ip, char **argv)
{
	int (*op)(int) = twice;
	int (*va)(int, int, ...) = add;
	int (*table[2])(int) = {twice, NULL};
	const char *null = NULL;
	char *bad = (char *)1;
	unsigned char *us = (unsigned char *)"unsigned\001\0021";
	const char *runs = "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbc";
	char buffer[64] = "buffer";
	char full[4] = {'f', 'u', 'l', 'l'};
	char esc[] = "tab\there \"quoted\" back\\slash \033[1m \0017 \377";
	char zeros[32] = {0};
	wchar_t wide[] = L"wide";
	char16_t s16[] = u"u16 \u20ac";
	const wchar_t *wp = wide;
	char longs[300];
	memset(longs, 'x', sizeof longs);
	for (int k = 0; k < 300; k += 3)
		longs[k] = 'a' + k % 26;
	const char *lp = longs;
	int (*ap)[4] = matrix;
	char *const cp = buffer;
	struct node **pp = &n;
	struct opaque *op2 = hidden;
	int *gp = &global, *mp = &matrix[1][2];
	void (*vp)(void) = (void (*)(void))pointers;
	sink += text[0] + n->value + (any != 0) + *ip + op(1) + va(1, 2) + (argv != 0); // STOP
	sink += (table[0] != 0) + (null == 0) + (bad != 0) + us[0] + runs[0] + buffer[0] + full[0] + esc[0] + zeros[0] + wide[0] + s16[0] + (wp != 0) + (lp != 0) + ap[0][0] + cp[0] + (pp != 0) + (op2 == 0) + *gp + *mp + (vp != 0);
}

NOINLINE void structures(struct outer o, struct bits b, struct node *list, struct empty e)
{
	enum color c = BLUE, unknown = (enum color)9, both = (enum color)3;
	enum flags fl = READ | EXEC, none = (enum flags)0, extra = (enum flags)(WRITE | 0x100), wf = WIDE;
	enum sparse sp = LOW, sq = (enum sparse)7;
	enum odd od = (enum odd)7, of = FIVE;
	node_t local = {7, list, "local"};
	struct node *array[3] = {list, &local, NULL};
	struct deep deep = {.a.b.c.v = 5};
	union { int i; char c[4]; float f; } u = {0x41424344};
	int small[5] = {1, 2, 3, 4, 5};
	int repeated[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3};
	struct node nodes[12] = {{1}};
	static int counter = 3;
	static struct { int n; int data[3]; } fixed = {3, {1, 2, 3}};
	struct flexible *flex = (struct flexible *)&fixed;
	int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
	double ds[4] = {0, 0.5, 1, 1.5};
	bool flags[3] = {true, false, true};
	counter++;
	sink += o.tag + b.a + list->value + c + local.value; // STOP
	sink += unknown + both + fl + none + extra + wf + sp + sq + od + of + (array[0] != 0) + deep.a.b.c.v + u.i + small[0] + repeated[3] + nodes[0].value + flex->n + grid[1][1] + (ds[1] > 1) + flags[0] + sizeof e;
}

NOINLINE int lengths(int n, int m)
{
	int vla[n];
	char text[m + 1];
	for (int k = 0; k < n; k++)
		vla[k] = k * k;
	memset(text, 'v', m);
	text[m] = 0;
	sink += vla[n - 1]; // STOP
	return vla[0] + text[0];
}

NOINLINE int scopes(int x)
{
	int shadow = 1;
	{
		int shadow = 2, inner = x;
		{
			long shadow = 3;
			sink += shadow + inner; // STOP
		}
		sink += shadow + inner; // STOP
	}
	return shadow;
}

NOINLINE int recurse(int n, const char *why)
{
	int here = n * 10;
	if (n == 0) {
		sink++; // STOP
		return here;
	}
	int r = recurse(n - 1, why) + here;
	sink += r;
	return r;
}

static inline __attribute__((always_inline)) int squared(int side)
{
	int area = side * side;
	sink += area; // STOP
	return area + 1;
}

NOINLINE int inlined(int w)
{
	int first = squared(w);
	int second = squared(w + 1);
	return first + second;
}

NOINLINE int changed(int v, int *where)
{
	v += *where;
	*where = v;
	sink = v; // STOP
	return sink;
}

NOINLINE long lost(long a, long b)
{
	sink = 0;
	sink++; // STOP
	return b;
}

NOINLINE long calls(long a, long b)
{
	long c = lost(a + 1, b);
	long d = lost(5, c);
	sink = (int)d;
	return c + d;
}

NOINLINE double pieces(struct node pair, float scale)
{
	struct { int x, y; } p = {pair.value, pair.value + 1};
	int *q = &p.x;
	sink += p.x + *q; // STOP
	return scale * p.y;
}

int main(int argc, char **argv)
{
	for (int k = 0; k < 300; k++)
		many[k] = k;
	for (int k = 0; k < 3; k++) {
		chain[k].value = k + 1;
		chain[k].next = k < 2 ? &chain[k + 1] : NULL;
		strcpy(chain[k].name, words[k]);
	}
	struct outer o = {1, {.f = 1.5f}, {2, -3}, {.bytes = "abc"}, twice, {1, 2.5, -1e10}};
	struct bits b = {5, -3, 0x123456789aul, true, GREEN, -100};
	struct empty e;
	int on = argc;
	integers(-1, 255, -2, 65535, -3 * on, 4000000000u, -5, 6, -7);
	floats(1.5f * on, -2.25, 3.5L);
	pointers("text", chain, &o, &on, argv);
	structures(o, b, chain, e);
	lengths(5 * on, 3);
	scopes(4 * on);
	recurse(3, "because");
	inlined(6 * on);
	changed(8, &on);
	calls(1, on);
	pieces(chain[0], 2);
	return 0;
}
