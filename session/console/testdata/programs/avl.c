// A balanced tree of intervals, with parent pointers and an in-order walk.
#define HERE __asm__ volatile("nop" ::: "memory")
typedef struct interval { double from, to; } interval;
typedef struct node node;
struct node {
	node *child[2], *parent;
	interval key;
	signed char balance;
	int height;
};
typedef int (*visitor)(const node *, void *);
static node pool[8];
static int allocated;
node *root;

static int height(const node *n) { return n ? n->height : 0; }
static void update(node *n)
{
	int l = height(n->child[0]), r = height(n->child[1]);
	n->height = (l > r ? l : r) + 1;
	n->balance = r - l;
}
__attribute__((noinline)) static node *rotate(node *n, int side)
{
	node *up = n->child[!side], *moved = up->child[side];
	n->child[!side] = moved;
	up->child[side] = n;
	up->parent = n->parent;
	n->parent = up;
	if (moved)
		moved->parent = n;
	update(n);
	update(up);
	HERE; // STOP print *n; print *up; print n->balance; print/d n->balance; print n->key; print n->key.from; print n->key.to - n->key.from; print up->child[side] == n; print *up->child[0]; print n - pool; print up->key.from < n->key.from; whatis n->balance; whatis n->balance + 1; whatis n->key.from + 1; whatis n->key.from < 1; whatis n->child; whatis n->child[0]; whatis *n->child; ptype n; ptype n->key; whatis n->key; ptype node; print !side; print -side; print ~side; print side << 3; whatis side << 3L; print n->key.from * 2; print n->key.from / 3; print (int)n->key.to; print (float)n->key.to; print/x n->key; print/f n->height; print height(n); print height(0); print $.nosuch; bt; finish
	return up;
}
__attribute__((noinline)) static node *insert(node *at, node *parent, double from, double to)
{
	if (!at) {
		node *fresh = &pool[allocated++];
		*fresh = (node){.parent = parent, .key = {from, to}, .height = 1};
		return fresh;
	}
	int side = from > at->key.from;
	at->child[side] = insert(at->child[side], at, from, to);
	update(at);
	if (at->balance > 1)
		at = rotate(at, 0);
	if (at->balance < -1)
		at = rotate(at, 1);
	HERE;
	return at;
}
__attribute__((noinline)) static int add_length(const node *n, void *context)
{
	double *total = context;
	*total += n->key.to - n->key.from;
	HERE; // STOP print *n; print *total; print context; print *(double *)context; print *(interval *)&n->key; print n->parent; print n->parent == root; print {double} context; print {interval} &n->key; print &n->key.to; print &n->key; print *&n->key; x/2fg &n->key; x/fg context; whatis context; whatis *(double *)context; whatis {interval} &n->key; print sizeof(*n); whatis n; whatis *n; ptype visitor; bt; up; info args; down; finish
	return *total > 4;
}
static int walk(const node *n, visitor v, void *context)
{
	return n && (walk(n->child[0], v, context) || v(n, context) || walk(n->child[1], v, context));
}
int run(int n)
{
	double total = 0;
	for (int i = 0; i < 5; i++)
		root = insert(root, 0, i * 1.5, i * 1.5 + n / 2.0);
	int stopped = walk(root, add_length, &total);
	HERE; // STOP print *root; print root->child[0]->key; print *root->child[0]; print *root->child[1]->child[1]; print pool[0]; print pool[1].key; print pool[0].key.to; print allocated; print total; print/f total; print/x total; print (long)total; print total == 6; print total > 1e3; print 1e3; print 1.5e-3; print 2.5f; print 1.0 / 3; print 10 / 4; print 10 / 4.; print 10 % 4; print total * 1e10; print total / 1e-10; print stopped; print stopped && root; print root && !root; print pool[2]@2; print root - pool; print (root - pool) % 3; print &pool[3] - &pool[1]; print &pool[1] < &pool[2]; print walk; print add_length; whatis walk; whatis root; whatis pool; ptype root; print sizeof(node); print sizeof pool; print root->nosuch; print nosuch->root; set var root->key.from = 9.75; print root->key; set var root->key = pool[0].key; print root->key; set var total = 3; print total; set var root->balance = -1; print root->balance; print root->height = 300; print root->balance = 300
	return stopped + root->height;
}
