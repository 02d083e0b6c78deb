// Data for the conditions of condition_test.go.

struct node {
	struct node *next;
	long key;
};

static struct node nodes[2] = {{&nodes[1], 1}, {0, 2}};
long total;

long sum(long n)
{
	long result = 0;
	for (long i = 0; i < n; i++) {
		struct node *p = &nodes[i & 1];
		result += p->key; // HIT
	}
	total = result;
	return result;
}
