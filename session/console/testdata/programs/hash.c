#define HERE __asm__ volatile("nop" ::: "memory")
#include <string.h>
#define SLOTS 8
typedef unsigned int hash_t;
typedef struct entry { const char *key; long value; struct entry *chain; } entry;
typedef struct { entry *slots[SLOTS]; entry pool[6]; unsigned used : 8, spare : 24; } table;
static table names;
__attribute__((noinline)) static hash_t hash(const char *key)
{
	hash_t h = 5381;
	while (*key)
		h = h * 33 + (unsigned char)*key++;
	HERE; // STOP print h % SLOTS; print h & 7; print/x h; whatis h; ptype h; bt; up; info locals; print t->used; down
	return h;
}
__attribute__((noinline)) static entry *put(table *t, const char *key, long value)
{
	entry *e = &t->pool[t->used++];
	e->key = key;
	e->value = value;
	entry **slot = &t->slots[hash(key) % SLOTS];
	e->chain = *slot;
	*slot = e;
	HERE; // STOP print *e; print *t; print t->pool[0]; print t->slots; print *slot; print **slot; print e - t->pool; print *t->pool@2; print &t->pool[1]; ptype t; ptype table; whatis table; whatis t->pool; whatis t->slots; ptype entry; print sizeof(table); print t->used; print e->key[1]; print *e->key@3; finish
	return e;
}
int run(int n)
{
	put(&names, "alpha", n);
	entry *last = put(&names, "beta", n * 2L);
	HERE; // STOP print names; print last; print *last; print last->chain == 0; print names.pool[1].key; print &names.pool[1]; print last->value > n; print/x names.pool; print names.used + names.spare; print names.slots[0]; print (entry *)&names.pool; print *(struct entry *)last
	return last->value;
}
