// A trie over letters, with a shared pool of nodes and counts in a bit set.
#include <stddef.h>
#include <stdint.h>
#define HERE __asm__ volatile("nop" ::: "memory")
typedef uint16_t index_t;
enum { LETTERS = 4, NODES = 12 };
struct trie {
	struct cell { index_t next[LETTERS]; uint8_t count, final; } cells[NODES];
	uint64_t used;
	index_t top;
};
static struct trie words;
static unsigned long long const masks[2][2] = {{1, 0xffULL}, {0xffff0000ULL, ~0ULL}};

static int letter(char c) { return c >= 'a' && c < 'a' + LETTERS ? c - 'a' : -1; }

__attribute__((noinline)) static struct cell *insert(struct trie *t, const char *word)
{
	index_t at = 0;
	const char *p;
	for (p = word; *p; p++) {
		index_t *slot = &t->cells[at].next[letter(*p)];
		if (!*slot) {
			*slot = ++t->top;
			t->used |= 1ULL << t->top;
		}
		at = *slot;
		t->cells[at].count++;
	}
	t->cells[at].final = 1;
	HERE; // STOP print *t->cells@3; print t->cells[at]; print t->used; print/x t->used; print/t t->used; print/o t->used; print at; print p - word; print word; print *(p - 1); print p[-1]; print letter('c'); print letter(*word); print letter('z'); print &t->cells[at]; print &t->cells[at] - t->cells; print t->cells[0].next; print/x t->cells[0].next; print t->cells[t->cells[0].next[0]]; print t->top; whatis t->top; whatis t->used; whatis t->used << 1; whatis 1ULL << t->top; whatis t->cells; whatis t->cells[0]; whatis t->cells[0].next; whatis &t->cells[0].next; whatis *t->cells[0].next; ptype t; ptype struct cell; whatis struct cell; ptype index_t; whatis index_t; print LETTERS; whatis LETTERS; ptype LETTERS; print (enum {A})1; print NODES - LETTERS; print sizeof(struct trie); x/4xh t->cells; x/2ub &t->cells[1].count; bt; up; info locals
	return &t->cells[at];
}

__attribute__((noinline)) static unsigned count(const struct trie *t, index_t from, unsigned depth)
{
	unsigned n = t->cells[from].final;
	for (int i = LETTERS - 1; i >= 0; i--) {
		index_t to = t->cells[from].next[i];
		if (to)
			n += count(t, to, depth + 1);
	}
	if (depth < 2)
		HERE; // STOP print n; print from; print depth; print t->cells[from]; bt; bt 1; frame; up; print from; print depth; down; finish
	return n;
}

int run(int n)
{
	static const char *list[] = {"abc", "abd", "a", "dad", 0};
	struct cell *last = NULL;
	for (const char **w = list; *w; w++)
		last = insert(&words, *w);
	unsigned total = count(&words, 0, 0);
	HERE; // STOP print total; print *last; print last - words.cells; print words.top; print words; print words.cells[1]; print words.cells[1].next; print words.cells[1].next[1]; print/x words; print masks; print/x masks; print masks[1][0]; print masks[1]; print *masks; print **masks; whatis masks; whatis masks[0]; whatis *masks; whatis &masks; whatis &masks[0]; ptype masks; print words.used & masks[0][1]; print words.used & ~masks[0][0]; whatis words.used & 1; print words.used >> 1; print words.used == 0x1fe; print -1 >> 1; print -1U >> 1; print (unsigned char)-1; print (short)65535; print 'a' < 'b'; print 'a' + 1; print (char)('a' + 1); print '\n'; print '\0'; print '\101'; print '\x41'; print '\''; print "a" "b"; print list; print list[0]; print *list@3; print list[4]; print *list[1]@2; print &list[1][1]; print sizeof(list) / sizeof(list[0]); whatis list; whatis list[0][0]; whatis &list; print words.cells[0].next == words.cells[1].next; print &words.cells[2].count; print *(uint16_t *)&words.cells[0]; print *(index_t (*)[4])&words.cells[0]; whatis (index_t (*)[4])&words.cells[0]; ptype index_t[3]; whatis index_t *; whatis unsigned long long; ptype struct trie *; print last->final ? "yes" : "no"; print sizeof(index_t[3]); info line count; info symbol count; info scope letter; print letter; print *letter
	return total + n;
}
