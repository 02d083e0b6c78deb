// A scanner with states and gotos, for expressions with numbers, names and operators.
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
enum lexeme { END, NAME, INTEGER, FLOATING, OPERATOR = '+', ERROR = -1 };
typedef struct token { enum lexeme kind; struct { unsigned short line, column; } place; const char *begin, *end; union { long integer; double floating; } as; } token;
typedef struct { const char *text; token tokens[8]; int count; char classes[4][3]; } lexer;
static const unsigned char class_of[128] = {['0' ... '9'] = 1, ['a' ... 'z'] = 2, ['_'] = 2, ['+'] = 3, ['*'] = 3, ['.'] = 4};

__attribute__((noinline)) static token *emit(lexer *l, enum lexeme kind, const char *begin, const char *end)
{
	token *t = &l->tokens[l->count++];
	t->kind = kind;
	t->begin = begin;
	t->end = end;
	t->place.line = 1;
	t->place.column = begin - l->text;
	HERE; // STOP print *t; print t->kind; print t->place; print t->place.column; print *t->begin@(t->end - t->begin); print t->end - t->begin; print t->begin; print *t->begin; print t->as; print t->as.integer; print l->count; print l->tokens[0]; print t - l->tokens; print &l->tokens[1]; print l->classes; print l->classes[0]; print l->classes[1][0]; print kind; print/d kind; print kind == NAME; print kind + 1; print (enum lexeme)(kind + 1); print OPERATOR; print/c OPERATOR; print ERROR; print (enum lexeme)43; print (enum lexeme)-1; print (enum lexeme)44; print begin[0]; print class_of[begin[0] & 127]; print class_of['a']; print/d class_of['0']@3; whatis t; whatis t->place; whatis t->place.line; whatis t->place.line + 1; whatis t->end - t->begin; whatis t->as; whatis l->classes; whatis l->classes[0]; whatis &l->classes[0]; whatis *l->classes; ptype t; ptype l; ptype enum lexeme; ptype lexer; print sizeof(token); print sizeof(lexer); bt; up; info locals; print mode; print l->text; down; finish
	return t;
}

__attribute__((noinline)) static int scan(lexer *l)
{
	const char *p = l->text, *start;
	double scale;
	token *t;
	int mode = 0;
begin:
	while (*p == ' ')
		p++;
	start = p;
	switch (class_of[*p & 127]) {
	case 1: mode = 10; goto number;
	case 2: goto identifier;
	case 3: emit(l, OPERATOR, start, ++p); goto begin;
	default: emit(l, *p ? ERROR : END, start, p); return mode;
	}
number: {
		long n = 0;
		while (class_of[*p & 127] == 1)
			n = 10 * n + *p++ - '0';
		if (*p == '.') {
			scale = n;
			goto fraction;
		}
		emit(l, INTEGER, start, p)->as.integer = n;
		goto begin;
	}
fraction: {
		double weight = 1;
		for (p++; class_of[*p & 127] == 1; p++)
			scale += (*p - '0') * (weight /= 10);
		t = emit(l, FLOATING, start, p);
		t->as.floating = scale;
		HERE; // STOP print scale; print weight; print *t; print t->as.floating; print t->as; print p - start; print start; print *start@3; print mode; print scale * 4; print scale > 2 && weight < 1; print (int)scale; print (char)(scale + 60); whatis scale + mode; whatis weight; whatis p - start; print t->as.floating == scale; print l->count; print *l->tokens@2; print l->tokens[l->count - 1].kind; x/fg &t->as; x/s start; info locals; bt; tbreak emit; info symbol scan; info line scan; list scan
		goto begin;
	}
identifier:
	while (class_of[*p & 127] == 2 || class_of[*p & 127] == 1)
		p++;
	emit(l, NAME, start, p);
	goto begin;
}

int run(int n)
{
	lexer l = {"rate * 2.5 + 40", .classes = {"ab", "cd", {'e'}}};
	l.text += n - 3;
	int mode = scan(&l);
	HERE; // STOP print l.count; print l.tokens[0]; print l.tokens[2].as.floating; print l.tokens[4].as.integer; print l.tokens[1].kind; print l.tokens[5].kind; print l.tokens[1]@2; print l.text; print *l.text@4; print l.classes; print l.classes[1]; print l.classes[2][0]; print &l.classes[1]; print *l.classes@2; print l.tokens[0].end - l.tokens[0].begin; print l.tokens[0].end == l.text + 4; print *l.tokens[0].begin@4; print mode; print class_of[97]; print -elements 3 -- class_of; print sizeof class_of; whatis class_of; whatis class_of[0]; whatis &class_of; whatis l.tokens; whatis l; whatis l.tokens[0].as; ptype l.tokens[0].place; print l.tokens[0].place; print l.tokens[3].place.column; print/x l.tokens[0].place; set var l.tokens[0].kind = END; print l.tokens[0].kind; set var l.tokens[0].kind = 2; print l.tokens[0].kind; set var l.tokens[0].place.line = 70000; print l.tokens[0].place; print l.tokens[1].kind = ERROR; set var l.classes[0][1] = 'Z'; print l.classes[0]; print scan; print emit; whatis emit; x/2s l.classes; x/2xh &l.tokens[1].place; print $; print $$; print $1
	return l.count + mode;
}
