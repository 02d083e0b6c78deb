// A hash map with open addressing and generic values.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
#define TOMBSTONE ((char *)-1)

typedef struct { union { long i; double d; unsigned char raw[8]; }; const char *s; } value;
typedef struct {
	char *key;
	uint32_t hash;
	enum kind { NONE, INT = 'i', REAL = 'd', TEXT = 's' } kind;
	value v;
} slot;
struct map { slot *slots; size_t capacity, count; double load; uint32_t (*hash)(const void *, size_t); };

__attribute__((noinline)) static uint32_t fnv1a(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint32_t h = 2166136261u;
	while (n--)
		h = (h ^ *p++) * 16777619u;
	return h;
}
__attribute__((noinline)) static slot *find(struct map *m, const char *key)
{
	size_t length = strlen(key), probes = 0;
	uint32_t h = m->hash(key, length);
	slot *s = m->slots + h % m->capacity, *const limit = m->slots + m->capacity;
	while (s->key && (s->hash != h || strcmp(s->key, key))) {
		probes++;
		if (++s == limit)
			s = m->slots;
	}
	HERE; // STOP print h; print/x h; print h % m->capacity; print probes; print length; print *s; print s - m->slots; print limit - s; print *m; print m->hash; print *m->hash; print m->hash == fnv1a; print fnv1a("abc", 3); print/x fnv1a("", 0); print m->hash("abc", 3); print m->load; print m->count / (double)m->capacity; print (double)m->count; print key; print s->key == 0; print s->kind; print/d s->kind; print (enum kind)'d'; print (enum kind)5; print INT; print/c INT; print INT == 'i'; whatis INT; whatis s->kind; ptype s; ptype slot; ptype value; ptype m->hash; whatis m->hash; whatis *m->hash; whatis m->hash(key, 1); whatis h % m->capacity; whatis h * 2; whatis h - 1.0f; whatis s->v; whatis s->v.raw; print sizeof(slot); print sizeof(value); bt; up; info args; print m->count; up
	return s;
}
__attribute__((noinline)) static value *put(struct map *m, const char *key, enum kind kind, value v)
{
	slot *s = find(m, key);
	if (!s->key) {
		size_t n = strlen(key) + 1;
		s->key = memcpy(malloc(n), key, n);
		s->hash = m->hash(key, n - 1);
		m->count++;
	}
	s->kind = kind;
	s->v = v;
	m->load = (double)m->count / m->capacity;
	HERE; // STOP print v; print v.i; print v.d; print v.s; print/x v; print/x v.raw; print/d v.raw[0]; print v.raw[0]; print kind; print *s; print s->v; print s->key; print *s->key@3; print (long)v.d; print (int)v.i; print (char)v.i; print *(double *)&v; print *(long *)v.raw; whatis v; ptype v; whatis v.raw; whatis v.raw[0]; whatis v.i + v.d; print v.i + 1.5; print m->load; finish
	return &s->v;
}
int run(int n)
{
	struct map m = {calloc(9, sizeof(slot)), 8, 0, 0, fnv1a};
	put(&m, "answer", INT, (value){.i = 42 * n});
	put(&m, "pi", REAL, (value){.d = 3.14159});
	value *greeting = put(&m, "greeting", TEXT, (value){.s = "hello"});
	put(&m, "answer", INT, (value){.i = 7});
	HERE; // STOP print m; print *m.slots; print m.slots[2]@2; print *m.slots@2; print greeting->s[1]; print greeting->s; print *greeting->s@5; print m.slots[m.hash("pi", 2) % 8]; print m.slots[fnv1a("answer", 6) % 8].v.i; print m.slots[fnv1a("answer", 6) % 8].key; print m.load * 100; print m.count; print m.capacity - m.count; print find(&m, "pi")->v.d; print *find(&m, "answer"); print find(&m, "none")->key; print find(&m, "answer") == find(&m, "answer"); print put; print $_siginfo.nosuch; whatis find(&m, "pi"); whatis find(&m, "pi")->v; ptype find; whatis put; whatis m.slots; ptype struct map; print ((slot *)m.slots)->key; print TOMBSTONE; print (char *)-1; print (void *)0; print (long)(char *)-1; whatis (char *)-1; print *(long *)0; print *(char *)16; print ((struct map *)0)->count; print &((struct map *)0)->count; print/x -1; print/u -1; print/o 8; print/t 10; print/c 65; print/f 3; print/x 3.5; print/z 5; print/d 'a'; print/a fnv1a; print/s greeting->s; print/x greeting->s[0]
	return m.count + greeting->s[0];
}
