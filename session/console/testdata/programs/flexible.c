// A log of records with flexible array members, in one buffer.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
typedef struct record { uint16_t size, kind; char text[]; } record;
struct series { int count; double points[]; };
struct old_style { int n; short tail[0]; };
struct table { const char *name; size_t rows; struct { int id; char tag; } row[]; };
struct log { struct log *self; uint8_t *start, *end; unsigned records; };
static struct table colours = {"colours", 3, {{1, 'r'}, {2, 'g'}, {4, 'b'}}};

__attribute__((noinline)) static record *append(struct log *l, int kind, const char *text)
{
	size_t n = strlen(text) + 1;
	record *r = (record *)l->end;
	r->size = (sizeof *r + n + 3) & ~3u;
	r->kind = kind;
	memcpy(r->text, text, n);
	l->end += r->size;
	l->records++;
	HERE; // STOP print *r; print r->text; print r->text[0]; print *r->text@n; print (char *)r->text; print &r->text; print &r->text[1]; print sizeof *r; print sizeof(record); print r->size; whatis r->text; whatis &r->text; whatis &r->text[0]; whatis r->text + 1; whatis *r->text; ptype r; ptype record; ptype r->text; print l->end - l->start; print l->end - (uint8_t *)r; print *l; print l->self == l; print *l->self->self; print (record *)l->start; print ((record *)l->start)->text; print *(record *)l->start; print *(record *)((char *)l->start + ((record *)l->start)->size); x/s r->text; x/2xh r; print r->kind = 7; print *r; bt; up; info locals; down; finish
	return r;
}

__attribute__((noinline)) static double total(const struct series *s)
{
	double sum = 0;
	for (int i = 0; i < s->count; i++)
		sum += s->points[i];
	HERE; // STOP print *s; print s->points; print s->points[0]; print s->points[0]@s->count; print *s->points@2; print &s->points[2]; print sum; print sum / s->count; print (int)sum; print sizeof(*s); whatis s->points; whatis s->points[0]; whatis &s->points; whatis *s->points; ptype s; print s->count; print (char)s->count; x/3fg s->points; print sum > s->points[0]; print -sum; print s->points[1] - s->points[0]; bt; finish
	return sum;
}

int run(int n)
{
	static uint8_t space[256];
	struct log l = {&l, space, space};
	struct series *s = calloc(1, sizeof *s + n * sizeof(double));
	struct old_style *o = calloc(1, 64);
	append(&l, 1, "started");
	record *last = append(&l, 2, "ready to serve");
	s->count = n;
	for (int i = 0; i < n; i++)
		s->points[i] = 1.25 * i * i;
	o->n = 2, o->tail[0] = -1, o->tail[1] = 300;
	int sum = total(s);
	HERE; // STOP print l; print *last; print last->text; print *last->text@5; print colours; print colours.row; print colours.row[1]; print colours.row[1].tag; print colours.row[0]@3; print *colours.row@2; print sizeof colours; print *o; print o->tail; print o->tail[1]; print *o->tail@2; print o->tail[0]@2; print &o->tail[1]; print sizeof(struct old_style); print *s; print s->points[2]; print sum; ptype o; ptype colours; whatis colours.row; whatis colours.row[0]; whatis o->tail; whatis o->tail[0]; ptype struct series; print (char *)space + 4; print *(record *)space; print ((record *)space)->text; print space[0]; print/x *space@6; print l.end - space; print last == (record *)(space + 12); print (uint8_t *)last - space; print l.records; print -elements 4 -- *space@10; set var colours.row[1].id = 77; print colours.row[1]; set var last->text[0] = 'R'; print last->text[0]; x/s last->text; x/s colours.name; print append; print total(s); print total(s) / 2; whatis total(s); whatis append
	return sum + l.records;
}
