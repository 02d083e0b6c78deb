// A memory allocator: blocks in one arena, with a free list for each power of two.
#include <stddef.h>
#include <stdint.h>
#define HERE __asm__ volatile("nop" ::: "memory")
#define CLASSES 5
#define ALIGNED(n) (((n) + 15) & ~(size_t)15)

struct block {
	uint32_t size;
	uint16_t class;
	uint16_t used : 1, guard : 15;
	union {
		struct block *next;
		unsigned char payload[16];
	};
};

struct arena {
	struct block *free[CLASSES];
	struct { unsigned long calls; size_t bytes, peak; } stats;
	char *at, *limit;
};

static char memory[1024] __attribute__((aligned(16)));
static struct arena heap = {.at = memory, .limit = memory + sizeof memory};

__attribute__((noinline)) static int class_of(size_t size)
{
	int class = 0;
	for (size_t most = 16; most < size && class < CLASSES - 1; most <<= 1)
		class++;
	return class;
}

__attribute__((noinline)) static void *take(struct arena *a, size_t size)
{
	int class = class_of(size);
	struct block *b = a->free[class];
	if (b) {
		a->free[class] = b->next;
	} else {
		b = (struct block *)a->at;
		a->at += offsetof(struct block, payload) + ((size_t)16 << class);
		b->class = class;
		b->guard = 0x5a5a;
	}
	b->size = size;
	b->used = 1;
	a->stats.calls++;
	a->stats.bytes += size;
	if (a->stats.bytes > a->stats.peak)
		a->stats.peak = a->stats.bytes;
	HERE; // STOP print *b; print b->used; print/x b->guard; print a->stats; print *a; print a->at - memory; print a->limit - a->at; x/4xb b; x/2dw b
	//> print class_of(100); print class_of(size) == class; print sizeof(struct block); print &((struct block *)0)->payload; print (long)&((struct block *)0)->payload; ptype b; ptype a->stats; whatis a->stats.peak; whatis b->payload; whatis &b->payload; whatis *b->payload; ptype struct arena; print (char *)b == memory; print a == &heap; print *a->free@2; print a->free[class]; print ALIGNED(5)
	//> info symbol a; info symbol memory; info symbol &memory[8]; info line take; info address memory; bt; up; info locals; print blocks; down
	return b->payload;
}

__attribute__((noinline)) static void give(struct arena *a, void *p)
{
	struct block *b = (struct block *)((char *)p - offsetof(struct block, payload));
	b->used = 0;
	b->next = a->free[b->class];
	a->free[b->class] = b;
	a->stats.bytes -= b->size;
	HERE; // STOP print *b; print *a->free[b->class]; print a->free; print/x *b; print b->next == 0; print (struct block *)((char *)p - 8) == b; print ((struct block *)((char *)p - 8))->size; whatis (char *)p - 8; whatis (struct block *)p; print *(struct block *)((char *)p - 8); print !b->used; print -b->used; print b->guard + 1; whatis b->guard; whatis b->guard + 1; ptype b->used; whatis b->size << 1; print b->size << 1; print b->class > 2 || b->used; finish
}

int run(int n)
{
	void *blocks[4];
	for (int i = 0; i < 4; i++)
		blocks[i] = take(&heap, 10 << i | n);
	give(&heap, blocks[1]);
	give(&heap, blocks[3]);
	blocks[1] = take(&heap, 20);
	HERE; // STOP print heap; print heap.free; print heap.stats.bytes; print heap.stats.peak - heap.stats.bytes; print blocks; print blocks[1] == blocks[0]; print blocks[2] > blocks[0]; print (char *)blocks[1] - (char *)blocks[0]; print *(struct block *)((char *)blocks[1] - 8); print memory[0]@8; print/x memory[0]@12; print sizeof memory; print sizeof(heap.free) / sizeof(*heap.free); print/d memory[0]@4; x/3xw memory; x/2xg &heap.stats; x/3uh memory; whatis memory; whatis &memory; whatis memory + 1; whatis &memory[0]; whatis *memory; ptype heap; ptype heap.stats; whatis blocks; whatis *blocks; whatis blocks + 1; set var heap.stats.calls = 77; print heap.stats; set var heap.free[0] = 0; print heap.free[0]; print heap.stats.calls++; print ++heap.stats.calls; print heap.stats.calls += 2; print $; print $ + 1; print $$2; print $_
	return heap.stats.bytes;
}
