// A parser of JSON without strings' escapes, and a sum over what it has parsed.
#include <stdlib.h>
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
enum type { NUL, BOOL, NUMBER, STRING, ARRAY, OBJECT };
struct json {
	enum type type;
	union {
		double number;
		_Bool truth;
	};
	struct { const char *start; int length; } string;
	struct { struct json *items; const char **keys; unsigned count; };
};
struct parser { const char *at, *start; int depth; const char *error; };

static void skip(struct parser *p) { while (*p->at == ' ' || *p->at == ',' || *p->at == ':') p->at++; }
static double number(struct parser *p)
{
	double x = 0, scale = 1, sign = *p->at == '-' ? p->at++, -1 : 1;
	for (; *p->at >= '0' && *p->at <= '9' || *p->at == '.'; p->at++)
		if (*p->at == '.')
			scale = 0.1;
		else if (scale == 1)
			x = x * 10 + (*p->at - '0');
		else
			x += scale * (*p->at - '0'), scale /= 10;
	HERE; // STOP print x; print sign; print scale; print sign * x; print *p; print p->at; print *p->at; print p->at - p->start; print p->at[-1]; print p->depth; print *p->start@(p->at - p->start); x/s p->at; x/4c p->start; bt; up; print *into; print into->type; info locals; up; print p->depth; down 2; print x * 1000; print (int)x; print (long long)(x * 100); print x > 1 && x < 100; whatis x * 2; whatis sign < 0; ptype p; finish
	return sign * x;
}
__attribute__((noinline)) static int parse(struct parser *p, struct json *into)
{
	skip(p);
	switch (*p->at) {
	case 't': case 'f':
		into->type = BOOL;
		into->truth = *p->at == 't';
		p->at += into->truth ? 4 : 5;
		break;
	case 'n':
		into->type = NUL;
		p->at += 4;
		break;
	case '"': {
		const char *end = strchr(p->at + 1, '"');
		into->type = STRING;
		into->string.start = p->at + 1;
		into->string.length = end - p->at - 1;
		p->at = end + 1;
		HERE; // STOP print *into; print into->string; print *into->string.start@into->string.length; print into->string.length; print end - p->start; print end; print *end; print (char)*end; print p->at == end + 1; print into->type; print into->type == STRING; print (enum type)(into->type + 1); print into->type | 8; ptype into; whatis into->string; ptype into->string; whatis into->items; whatis into->keys; whatis &into->string; print &into->count; print sizeof(into->string); print sizeof *into; info line; bt; up
		break; }
	case '[': case '{': {
		char close = *p->at++ == '[' ? ']' : '}';
		into->type = close == ']' ? ARRAY : OBJECT;
		into->items = calloc(4, sizeof *into->items);
		into->keys = calloc(4, sizeof *into->keys);
		into->count = 0;
		p->depth++;
		for (skip(p); *p->at != close; skip(p)) {
			struct json key = {0};
			if (close == '}' && parse(p, &key))
				into->keys[into->count] = key.string.start;
			parse(p, &into->items[into->count++]);
		}
		p->at++;
		p->depth--;
		break; }
	default:
		into->type = NUMBER;
		into->number = number(p);
	}
	return 1;
}
int run(int n)
{
	const char text[] = "{\"a\": [1, -2.5, true], \"bc\": null}";
	struct parser p = {text, text};
	struct json j = {0};
	int ok = parse(&p, &j);
	HERE; // STOP print j; print j.type; print j.count; print j.items[0]; print *j.items@2; print j.items[0].items[1]; print j.items[0].items[1].number; print j.items[0].items[2].truth; print *j.items[0].items@3; print j.keys[0]; print *j.keys@2; print *j.keys[1]@2; print j.items[1].type; print j.items[0].count; print text; print sizeof text; print text[1]; print *text@5; print &text[3]; print &text; print p.at - text; print p; print p.error; print p.error == 0; whatis text; whatis &text; whatis &text[0]; whatis j; whatis j.items; whatis *j.items; ptype j; ptype struct parser; whatis j.keys[0]; whatis *j.keys[0]; print/c *text@3; print/x *text@3; print/d text[0]; print/x j.type; print/d j.items[0].type; print parse(&p, &j); print j.type; print ok; output ok; printf "%d %s\n", ok, text; printf "%c%5.2f|%x\n", text[1], j.items[0].items[1].number, 255; echo done\n
	return ok + j.count;
}
