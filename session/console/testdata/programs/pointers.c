#define HERE __asm__ volatile("nop" ::: "memory")
typedef int (*binary)(int, int);
typedef struct op { const char *name; binary call; struct op *parent; } op_t;
typedef void handler(void *, int);
static int add(int a, int b) { return a + b; }
static int mul(int a, int b) { return a * b; }
int counter;
static void touch(void *where, int by) { *(int *)where += by; }
op_t table[] = {{"add", add, 0}, {"mul", mul, &table[0]}};
handler *notify = touch;
void *opaque = &counter;
int (*(*chooser)(int))(int, int);
static binary choose(int which) { return which ? mul : add; }
int (*compare)(const void *, const void *) = 0;
int (*const fixed[2])(int, int) = {add, mul};
__attribute__((noinline)) static int apply(const op_t *op, int a, int b, int *restrict out, int **pp)
{
	HERE; // STOP print *op; print op->call; print *op->call; print op->parent; print *op->parent; print op->name; print *op->name; print out; print *out; print pp; print *pp; print **pp; ptype op; whatis op; ptype op->call; whatis op->call; ptype binary; whatis binary; ptype op_t; whatis op_t; ptype handler; print op->parent->name; print op->name[0]; print op == &table[1]; print out == *pp; print op - table; print op + 1; print &op->name; print &op->call; whatis out; ptype out; whatis pp; ptype struct op
	*out = op->call(a, b);
	HERE; // STOP bt; up; info locals; print slot; print &slot; down; print *out
	notify(*pp, 2);
	return **pp;
}
int run(int n)
{
	int slot = 1, *to = &slot;
	chooser = choose;
	int r = apply(&table[n & 1], n, 4, &slot, &to);
	HERE; // STOP print table; print notify; print *notify; print opaque; print *(int *)opaque; print chooser; print compare; print fixed; print fixed[1]; print *fixed[0]; ptype chooser; whatis chooser; ptype compare; ptype fixed; whatis fixed; ptype notify; whatis notify; whatis opaque; ptype opaque; print add; print &add; print *add; whatis add; ptype add; print table[0].call == add; print choose; whatis choose; ptype choose; print to; print *to; print &to; print *&to; print (long)to == (long)&slot; print (char)*to; print/x *to; print to[0]; print *to + 1; print ++*to; print slot; print slot--; print slot; print to + 1 > to; print &to[2] - &to[0]; print (void *)0; print (char *)0; print *(char *)0; print 0 == opaque; print !opaque; print opaque && 1; whatis &to; whatis *to; whatis (char)1; whatis (op_t *)0; print ((op_t *)0)->name; print *table@2; print table[1].parent[0]; print sizeof(op_t); print sizeof table; info symbol add; info symbol opaque; info line add; info line run; x/i add; print counter; print table[2 - 1].name
	notify(opaque, r);
	return counter;
}
