#define HERE __asm__ volatile("nop" ::: "memory")
#include <string.h>
typedef enum token { END, NUMBER, PLUS = '+', TIMES = '*', OPEN = '(', CLOSE = ')' } token;
struct parser { const char *text, *at; token token; double value; int depth; struct { unsigned line, column; } place; };
static double sum(struct parser *p);
static void next(struct parser *p)
{
	while (*p->at == ' ')
		p->at++;
	if (*p->at >= '0' && *p->at <= '9') {
		p->value = 0;
		while (*p->at >= '0' && *p->at <= '9')
			p->value = p->value * 10 + (*p->at++ - '0');
		p->token = NUMBER;
	} else
		p->token = *p->at ? (token)*p->at++ : END;
	p->place.column = p->at - p->text;
}
__attribute__((noinline)) static double factor(struct parser *p)
{
	double v = p->value;
	if (p->token == OPEN) {
		p->depth++;
		next(p);
		v = sum(p);
		p->depth--;
	}
	next(p);
	HERE; // STOP print *p; print p->token; print p->at; print *p->at; print p->at - p->text; print p->place; print v; print v * 2; bt; up; info locals; print p->token == PLUS; print (token)'*'; print (token)5; print p->token + 0; finish
	return v;
}
__attribute__((noinline)) static double product(struct parser *p)
{
	double v = factor(p);
	while (p->token == TIMES) {
		next(p);
		v *= factor(p);
	}
	return v;
}
static double sum(struct parser *p)
{
	double v = product(p);
	while (p->token == PLUS) {
		next(p);
		v += product(p);
	}
	return v;
}
int run(int n)
{
	struct parser p = {.text = "2 + 3 * (4 + 1)"};
	p.at = p.text;
	next(&p);
	double v = sum(&p);
	HERE; // STOP print p; print v; print p.text; print p.text[2]; print p.at - p.text; ptype p; ptype token; whatis p.token; whatis p.place; print/x p.place; print p.depth == 0; print v + n; print (int)v % 5; print sizeof p
	return v;
}
