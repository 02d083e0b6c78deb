// A ring buffer of messages between a producer and a consumer.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
#define SIZE 4
typedef struct message {
	_Alignas(16) uint8_t kind;
	int64_t sent;
	union { int32_t point[2]; float gain; char text[8]; };
} message;
typedef struct ring {
	_Atomic unsigned head, tail;
	atomic_bool closed;
	atomic_int dropped;
	volatile int *volatile watch;
	message slots[SIZE];
} ring;
static volatile int clock_ticks = 100;
static ring line = {.watch = &clock_ticks};

static inline unsigned used(ring *r) { return r->head - r->tail; }
__attribute__((noinline)) static bool transmit(ring *restrict r, const message *restrict m)
{
	unsigned head = r->head;
	if (used(r) == SIZE) {
		r->dropped++;
		HERE; // STOP print *r; print r->dropped; print r->head - r->tail; print r->closed; print r->head; print m->kind; print *m; print m->text; print m->point; print/x m->point; print m->gain; print r->slots[head % SIZE]; print head % 4; print used(r); print *r->watch; print r->watch; whatis r->watch; whatis *r->watch; whatis r->head; whatis r->head + 1; whatis &r->head; whatis r->closed; whatis r->dropped; whatis r; whatis *r; whatis m; whatis *m; whatis m->kind; ptype r; ptype message; ptype struct ring; print &r->dropped; print sizeof(ring); print sizeof(message); print (long)&((ring *)0)->slots; print/d &((message *)0)->sent; print clock_ticks; whatis clock_ticks; whatis &clock_ticks; whatis clock_ticks + 1; print r->closed == 0; print !r->closed; bt; finish
		return false;
	}
	memcpy(&r->slots[head % SIZE], m, sizeof *m);
	r->head = head + 1;
	return true;
}
__attribute__((noinline)) static const message *receive(ring *r)
{
	if (!used(r))
		return 0;
	const message *m = &r->slots[r->tail++ % SIZE];
	clock_ticks += 5;
	HERE; // STOP print *m; print m - r->slots; print m->sent; print m->text; print m->point[1]; print r->tail; print r->tail % 4; print clock_ticks++; print clock_ticks; print --clock_ticks; print clock_ticks -= 5; print clock_ticks; whatis m->point; whatis &m->point; whatis m->text[0]; whatis &m->text; whatis *m->text; print m->text[0] = 'J'; print m->text; x/8xb m->text; x/s m->text; x/2dw m->point; x/dg &m->sent; print/c m->text; print/x m->text; print/d m->text; print/c m->point[0]; print/x *m; up; print m; print got; down; display clock_ticks; display/x m->kind; info display; undisplay; display
	return m;
}
int run(int n)
{
	message m = {.kind = 'A', .sent = -1};
	int sent = 0, got = 0;
	for (int i = 0; i < SIZE + 1; i++, m.kind++) {
		strcpy(m.text, "hello");
		m.text[0] += i;
		sent += transmit(&line, &m);
	}
	for (const message *p; (p = receive(&line)) && got < n; got++)
		sent += p->kind == 'B';
	HERE; // STOP print line; print line.slots; print line.slots[1]; print line.slots[1].text; print line.slots[3].kind; print/c line.slots[3].kind; print/x line.slots[0].point; print line.slots[0].gain; print line.head; print line.tail; print line.dropped; print m; print m.kind; print m.sent; print/x m.sent; print/u m.sent; print sent; print got; print sent > got ? sent : got; print (sent, got); print sent == got || sent; print sent & got | 1; print sent ^ got; print ~sent; print sent <= got; print -sent * 2; print +sent; set var line.head = 3; print line.head; set var line.closed = 1; print line.closed; print line.closed + 1; set var clock_ticks = -1; print clock_ticks; print/x clock_ticks; print/u clock_ticks; print/t clock_ticks; print/o clock_ticks; whatis line; whatis line.slots; whatis line.slots[0].sent; whatis m.kind; ptype m; print _Alignof(message); print sizeof(_Bool); whatis (_Bool)5; print (_Bool)5; whatis (const volatile int)3; print sizeof(atomic_int); whatis line.watch; whatis *line.watch; ptype line.watch; info line transmit; info address line; info symbol &line.slots[1]; info symbol line.watch
	return sent + got;
}
