// A text window: two-dimensional arrays, pointers to pointers, structures by value, and lines of the same name.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
#define ROWS 3

typedef struct { float x, y; } point;
typedef struct { point a, b; } box;
typedef struct { long id; double weight; } pair;
typedef struct { char text[24]; int64_t at; } large;
struct node { int key; struct node *left, *right, **owner; };
typedef struct node tree[2];
typedef enum { RED = 1 << 0, GREEN = 1 << 1, BLUE = 1 << 2, ALL = 7 } colours;
struct packed { char tag; int32_t n; short s; } __attribute__((packed));
typedef int vector __attribute__((vector_size(16)));
static char screen[ROWS][8] = {"first", "second", {'n', 'o', 'n', 'e', 'n', 'd', 'e', 'd'}};
static const char *const titles[] = {"a", NULL, "long title with \"quotes\" and \t tab"};
int shared = 3;

__attribute__((noinline)) static point middle(box b) { point p = {(b.a.x + b.b.x) / 2, (b.a.y + b.b.y) / 2}; HERE; return p; }
__attribute__((noinline)) static pair weigh(point p, int n) { pair w = {n, p.x * 2}; HERE; return w; }
__attribute__((noinline)) static large name(int n) { large l = {"large", n}; HERE; return l; }
__attribute__((noinline)) static char letter(int row, int column) { HERE; return screen[row][column]; }
__attribute__((noinline)) static const char *title(int n) { HERE; return titles[n]; }
__attribute__((noinline)) static float half(float f) { HERE; return f / 2; }
__attribute__((noinline)) static _Bool even(int n) { HERE; return n % 2 == 0; }
__attribute__((noinline)) static void nothing(void) { HERE; }
__attribute__((noinline)) static colours mix(colours a, colours b) { HERE; return a | b; }
__attribute__((noinline)) static unsigned char byte(int n) { HERE; return n; }
__attribute__((noinline)) static int deep(int n) { int r = n > 0 ? deep(n - 1) + n : shared; HERE; return r; }

__attribute__((noinline)) static int walk(struct node *n, char **names, int count)
{
	int sum = 0;
	for (int i = 0; i < count; i++) {
		size_t shared = strlen(names[i]);
		sum += shared;
	}
	{
		int shared = n->key;
		sum += shared;
		HERE; // STOP print *n; print n->left; print *n->left; print n->left->key; print n->right; print *n->right; print **n->owner; print n->owner[0]->key; print n->left->owner; print names; print *names; print names[1]; print *names@count; print **names; print names[0][1]; print &names[1]; print shared; print ::shared; print &shared; print 'window.c'::shared; print sum; print screen; print screen[1]; print screen[2]; print screen[0][1]; print *screen; print **screen; print sizeof(screen); print sizeof screen[0]; whatis screen; whatis screen[0]; whatis &screen; whatis &screen[0]; print titles; print titles[2]; print titles[1]; print sizeof(titles)/sizeof(titles[0]); whatis titles; whatis titles[0]; whatis *titles; x/s titles[2]; x/2s screen; x/3s screen[1]; x/8c screen[2]; x/2xg screen; x/i $pc; print/c screen[1]; print/x screen[1]; print/d screen[1][0]; print/s screen[1]; print/a walk; print/a n; print -1; print/x -1; print/u -1; print/o 8; print/t 10; print/t -1; print/c 97; print/d 'a'; print/x 'a'; print/f 1; print/f 3; print/x 1.5; print/d 2.7; print/c 353; print/z 5; print/x sum; print/t sum; print/x *n; print/x n->key; print/c n->key; print/s names[0]; bt; bt 1; bt full 1; bt full; where; info frame; up; frame; info locals; info args; down; frame 1; frame 0; frame function run; down 9; frame 9; info args; info args nam; info locals sum; info locals nosuch; info symbol screen; info symbol titles; info symbol &shared; info symbol 0; info line walk; info line 43; info line 200; info source; finish
	}
	return sum;
}

int run(int n)
{
	tree t = {{1, &t[1], NULL, NULL}, {2}};
	struct node *root = t;
	t[0].owner = t[1].owner = &root;
	char *names[] = {"ab", "cde", ""};
	int sum = walk(root, names, 3);
	box b = {{1, 2}, {3, 4.5}};
	point p = middle(b);
	pair w = weigh(p, n);
	large l = name(n);
	struct packed packed = {'t', -2, 5};
	vector v = {1, -2, 3, 4};
	colours c = mix(RED, BLUE), odd = 9;
	uint8_t small = 200; int8_t negative = -56; unsigned short u16 = 65535; unsigned long long u64 = ~0ull;
	double values[] = {0.1, 1e100, -0.0, 1.0 / 3, 100000, 1e16, 123456789.125}, zero = 0;
	values[2] /= zero;
	float single = 0.1f; long double extended = 1.25L;
	void *raw = &packed; const void *fixed = l.text;
	HERE; // STOP print middle(b); print weigh(p, 4); print middle(b).x; print name(2); print name(7).at + 1; print letter(1, 2); print half(3); print half(2.5); print even(3); print mix(RED, GREEN); print byte(300); call nothing(); call (void)letter(0, 0); call letter(0, 0); print deep(3); print weigh(p, 4).weight * 2; whatis middle(b); whatis nothing(); whatis nothing; print middle; print *middle; print deep; print packed; print/x packed; print &packed.n; print sizeof(packed); ptype packed; whatis packed; print v; print v[1]; print/x v; whatis v; ptype v; print v + v; print c; print odd; print (colours)3; print (colours)0; print (colours)8; print/d c; print c | GREEN; print c == 5; print RED; print ALL; print sizeof(c); whatis c; ptype c; ptype colours; whatis RED; whatis RED | BLUE; print small; print negative; print u16; print u64; print/x small; print/x negative; print/d small; print/c small; print/t negative; print/o u16; print u64 + 1; print -small; print small + negative; whatis small; whatis small + 1; whatis u16; whatis u64; whatis small + u64; whatis 'a'; whatis 1.5; whatis 1.5f; whatis 1u; whatis 1ul; whatis 5 > 3; whatis sizeof(int); print values; print values[0]; print values[3]; print values[2]; print/x values[4]; print/f values[1]; print single; print extended; print single * 2; print single + extended; whatis single * 2; whatis single + 1.0; whatis extended; print (int)values[6]; print (float)values[3]; print (char)small; print (unsigned char)-1; print (short)65537; print (long)-1; print raw; print *raw; print fixed; print (const char *)fixed; print *(const char *)fixed@5; print l; print l.text; print &l.text; print *l.text@2; print sizeof(l); print t; print t[1]; print t[0].left->key; print &t[0] == root; print root - t; print &t[1] - root; whatis t; ptype t; whatis tree; ptype tree; ptype struct node; ptype point; whatis point; ptype box; ptype pair; print b; print b.a; print b.a.x + b.b.y; print &b.b; print *&b.b; print p; print w
	//> set var n = 10; print n; set var b.a.x = 7.5; print b; set var p = b.b; print p; set var names[0] = names[1]; print names; set var l.text[0] = 'L'; print l.text; print n = 12; print n++; print n; print ++n; print n += 5; print n *= 2; print n -= 1; print n /= 2; print n %= 4; print n |= 8; print n <<= 2; print -n; print v[0] = 9; print v; print c = GREEN; print c; print c = 6; print c; print small = 300; print values[0] = 1; print values[0] = n; print raw = 0; print raw; set $x = 5; print $x; print $x++; print $x; print $x * n; print $1; info display; display n; display/x small; display/i $pc; info display; undisplay 2; display; undisplay; rwatch shared; awatch t[0].key; info watchpoints; info breakpoints; delete; break deep; break deep if n == 1; condition 100 n == 2; ignore 100 2; tbreak deep; info breakpoints; delete; break nosuch; break window.c:9999; break window.c:26; info breakpoints; delete; list; list; list -; list deep; list 1,3; list 5,; list walk,; list ,20; list window.c:1; list window.c:1,window.c:2; list deep,run; list nosuch; list 9999; list +; list *deep; info line deep; info line; info source; printf "%5d|%-5d|%05d|%x|%c\n", n, n, n, 255, 99; printf "%s\n", names[1]; printf "%lu %llx %hd %p\n", u64, u64, u16, 0; printf "%%\n"; printf "no newline"; echo hello\n; echo; output n; output/x n; print sizeof(int); print sizeof(struct node *); print sizeof n; print _Alignof(long); print n ? "yes" : "no"; print $_siginfo; set $eflags = 0x246; print $eflags; info registers rip; info registers nosuch; info all-registers nosuch; print $nosuchregister; ptype int; ptype unsigned; ptype int *; ptype char[3]; ptype int (*)(int); whatis int; whatis unsigned long; whatis (char)1; whatis int *; ptype 5; ptype/o struct node; ptype/o struct packed; whatis struct node; print {int}&n; print {struct node}root; print *root@2; print root[0]@2; print root->left@2; print &root->right; print &*root; print *&root; print root == 0; print !root; print root && n; print (long)root == (long)&t; print ROWS; print NULL; print offsetof(struct node, left); print &((struct node *)0)->right; print (long)&((struct node *)0)->right; print sizeof(((struct node *)0)->key); print n.x; print root.key; print names->x; print *n; print n[0]; print nosuch; print nosuch(); print n(); print middle(1); print middle(); print 5 +; print (; print ); print 1 +* 2; print 0x; print 08; print 1..2; print #; print @; print n@; print n@0; print n@-1; print 5@2; x/0x &n; x/-1x &n; x nosuch; print/i n; print/2x n; whatis; ptype; info nosuch; nosuchcommand; list 3,1; frame nosuch; up until nosuch; advance nosuch; jump nosuch; delete 99; disable 99; undisplay 99; condition 99 n; ignore 99 1; commands 99; tbreak; set var; set var nosuch = 1; set var n; set var 5 = 6; watch; watch 5; watch nosuch; rwatch n + 1; display nosuch; call nosuch(); call n; return nosuch; show nosuch; set nosuch; info line nosuch; info scope; info scope nosuch
	return sum + (int)w.weight + l.at + (int)p.x + n;
}
