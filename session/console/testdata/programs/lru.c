// A cache that forgets the entry that was not used for the longest time.
#include <stdbool.h>
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
#define container_of(p, type, member) ((type *)((char *)(p) - __builtin_offsetof(type, member)))

struct link { struct link *prev, *next; };
struct page {
	unsigned number;
	struct link lru;
	char text[12];
	struct page *bucket;
	bool dirty;
};
typedef struct cache {
	struct link head;
	struct page *table[4];
	struct page pages[3];
	int used, hits, misses;
} cache_t;

static void unlink_page(struct link *l) { l->prev->next = l->next; l->next->prev = l->prev; }
static void push_front(struct link *head, struct link *l)
{
	l->next = head->next;
	l->prev = head;
	head->next->prev = l;
	head->next = l;
}

__attribute__((noinline)) static struct page *evict(cache_t *c)
{
	struct link *oldest = c->head.prev;
	struct page *victim = container_of(oldest, struct page, lru), **at;
	unlink_page(oldest);
	for (at = &c->table[victim->number % 4]; *at != victim; at = &(*at)->bucket)
		;
	*at = victim->bucket;
	HERE; // STOP print *victim; print victim->text; print oldest == &victim->lru; print c->head; print c->head.next->next; print *(struct page *)((char *)oldest - 8); print ((struct page *)((char *)oldest - 8))->number; print victim - c->pages; print *at; print at; print &(*at)->bucket; print *victim->text@3; print victim->text + 2; print &victim->text; print *victim->text; print victim->text[0]; whatis victim->text; whatis &victim->text; whatis victim->text + 0; whatis &victim->lru; whatis at; whatis *at; whatis **at; ptype at; whatis victim->number % 4; print victim->number % 4; print c->hits * 100 / (c->hits + c->misses); print c->hits / 2.0; print 100.0 * c->hits / (c->hits + c->misses); print (float)c->hits / 3; print victim->dirty; print (int)victim->dirty; print victim->dirty ? 10 : 20; info symbol c; bt; up; print key; print text
	return victim;
}

__attribute__((noinline)) static const char *get(cache_t *c, unsigned key, const char *text)
{
	struct page *p;
	for (p = c->table[key % 4]; p; p = p->bucket)
		if (p->number == key) {
			c->hits++;
			unlink_page(&p->lru);
			push_front(&c->head, &p->lru);
			return p->text;
		}
	c->misses++;
	p = c->used < 3 ? &c->pages[c->used++] : evict(c);
	p->number = key;
	strncpy(p->text, text, sizeof p->text - 1);
	p->bucket = c->table[key % 4];
	c->table[key % 4] = p;
	push_front(&c->head, &p->lru);
	HERE; // STOP print *p; print c->table; print *c->table[key % 4]; print p->text; print text; print *text@4; print/x *text@4; print/c text[1]; print text[0] == 'o'; print c->used; print p->text[5]; print &p->text[1]; print (char)(p->text[0] + 1); x/s p->text; x/2s text; x/6c text; tbreak evict; print key == 1; print -key; print key - 2; whatis key - 2; whatis -key; print key - 2 > 0; print (int)key - 2 < 0; list get; list 10,13; list evict,; info line get; info line 20
	return p->text;
}

int run(int n)
{
	static cache_t cache = {.head = {&cache.head, &cache.head}};
	const unsigned keys[] = {1, 5, 1, 2, n + 6, 1};
	const char *texts[] = {"one", "five", "", "two", "nine", "again"};
	int total = 0;
	for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
		total += strlen(get(&cache, keys[i], texts[i]));
	HERE; // STOP print cache; print cache.pages; print cache.pages[1].text; print &cache.pages[1].lru; print cache.head.next == &cache.pages[2].lru; print *cache.head.next; print *cache.head.next->next; print keys; print texts; print texts[3]; print *texts@2; print texts[1][2]; print &texts[1]; print *texts[1]@4; whatis texts; whatis *texts; whatis **texts; ptype cache; ptype struct link; whatis cache.pages; whatis cache.pages[0].lru; print sizeof(cache_t); print sizeof(struct page); print sizeof cache.pages / sizeof cache.pages[0]; print cache.hits > cache.misses; print total; set var cache.pages[0].text[0] = 'X'; print cache.pages[0].text; set var cache.pages[0].dirty = 1; print cache.pages[0]; print -elements 4 -- cache.pages[0].text; print -pretty -- cache.head
	return total + cache.hits;
}
