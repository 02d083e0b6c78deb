#define HERE __asm__ volatile("nop" ::: "memory")
struct tree { int value; struct tree *left, *right; };
static struct tree nodes[7];
static int depth;
__attribute__((noinline)) static struct tree *build(int low, int high)
{
	if (low > high)
		return 0;
	int middle = (low + high) / 2;
	struct tree *t = &nodes[middle];
	t->value = middle * 10;
	depth++;
	t->left = build(low, middle - 1);
	t->right = build(middle + 1, high);
	HERE; // STOP bt; bt 2; up; info locals; print t; print low; up; print middle; frame 0; print *t; print nodes[0]; print t->left == 0; frame 1; down; frame function run; frame 0; finish
	return t;
}
__attribute__((noinline)) static int sum(const struct tree *t, int (*visit)(int))
{
	if (!t)
		return 0;
	int here = visit(t->value), left = sum(t->left, visit), right = sum(t->right, visit);
	HERE; // STOP print here; print left + right; print *t; print t->left; print visit; print *visit; bt 1; whatis visit; ptype visit; ptype t; whatis *t
	return here + left + right;
}
static int half(int v) { return v / 2; }
int run(int n)
{
	struct tree *root = build(0, 2 * n);
	int total = sum(root, half);
	HERE; // STOP print nodes; print *root; print *root->left; print root->left->left->value; print root->right->right; print total; print depth; print &nodes[3] == root; print root - nodes; print nodes[1].value + nodes[2].value; print *nodes@2; print *root->left->right; print sizeof(nodes) / sizeof(nodes[0]); whatis root->left; ptype root->left; whatis nodes; print *root->left->left->left
	return total;
}
