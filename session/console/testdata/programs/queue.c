#define HERE __asm__ volatile("nop" ::: "memory")
#include <stdlib.h>
#include <stdint.h>
#define OFFSET(type, member) ((size_t) & ((type *)0)->member)
struct link { struct link *next, *previous; };
struct task { uint16_t id; int8_t nice; struct link link; void (*entry)(struct task *); uint64_t mask[2]; };
struct queue { struct link head; int length; };
static struct task *task_of(struct link *l) { return (struct task *)((char *)l - OFFSET(struct task, link)); }
static void noop(struct task *t) { t->nice--; }
__attribute__((noinline)) static void push(struct queue *q, struct task *t)
{
	t->link.next = &q->head;
	t->link.previous = q->head.previous;
	q->head.previous->next = &t->link;
	q->head.previous = &t->link;
	q->length++;
	HERE; // STOP print *q; print *t; print t->id; print t->nice; print/d t->nice; print t->entry; print t->mask; print/x t->mask; print t->link; print t->link.next == &q->head; print &t->link; print *t->link.next; print (struct task *)((char *)&t->link - 8); print q->length; whatis t->id; whatis t->nice; ptype t; ptype q; print &((struct task *)0)->link; print (long)&((struct task *)0)->link; whatis &t->mask; print t->mask[0] >> 60; print t->mask[1] & 0xff; info args; finish
}
int run(int n)
{
	struct queue q = {{&q.head, &q.head}, 0};
	for (int i = 0; i < n; i++) {
		struct task *t = calloc(1, sizeof *t);
		t->id = 65530 + i;
		t->nice = -i;
		t->entry = noop;
		t->mask[0] = ~0ull;
		push(&q, t);
	}
	int sum = 0;
	for (struct link *l = q.head.next; l != &q.head; l = l->next) {
		struct task *t = task_of(l);
		t->entry(t);
		sum += t->nice;
		HERE; // STOP print *l; print *t; print sum; print t == (struct task *)l; print q; print l->next->previous == l; print *t->entry; print *q.head.next; print t->nice + 1; print (unsigned char)t->nice; print t->id + 10
	}
	return sum;
}
