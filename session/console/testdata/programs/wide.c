// Text in wide characters, UTF-8 and UTF-16: a converter and a table of names.
#include <stdint.h>
#include <uchar.h>
#include <wchar.h>
#define HERE __asm__ volatile("nop" ::: "memory")
typedef wchar_t letter;
struct text { const wchar_t *wide; const char16_t *utf16; const char32_t *utf32; const unsigned char *utf8; letter initial; wchar_t name[6]; char16_t mark; };
enum { INVALID = 0xfffd };

__attribute__((noinline)) static char32_t decode(const unsigned char **at)
{
	const unsigned char *p = *at;
	char32_t c = *p++;
	int more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	c &= more ? 0x3f >> more : 0x7f;
	while (more--)
		if ((*p & 0xc0) == 0x80)
			c = c << 6 | (*p++ & 0x3f);
		else
			c = INVALID;
	*at = p;
	if (c > 0x7f)
		HERE; // STOP print c; print/x c; print/d c; print p; print *p; print/x *p; print/c *p; print p - 2; print p[-1]; print/x p[-1]; print **at; print *at; print c == L'\u00e9'; print c == 0xe9; print c + 1; print (wchar_t)c; print (char)c; print (char16_t)c; whatis c; whatis c + 1; whatis (wchar_t)c; whatis *p; whatis &c; ptype c; ptype char32_t; whatis char16_t; print INVALID; print/x INVALID; print sizeof(wchar_t); print sizeof(char16_t); print L'x'; print u'x'; print U'x'; whatis L'x'; whatis u'x'; whatis U'x'; print L'x' + 1; print sizeof(L'x'); print L"ab"; print u"ab"; print U"ab"; print sizeof(L"ab"); whatis L"ab"; print 'x'; print '\377'; print (wchar_t)233; print (wchar_t)0x4e2d; print (char16_t)65; print (char32_t)0; bt; finish
	return c;
}

__attribute__((noinline)) static int width(const struct text *t, int limit)
{
	int n = 0;
	while (n < limit && t->wide[n])
		n++;
	HERE; // STOP print *t; print t->wide; print t->utf16; print t->utf32; print t->utf8; print t->initial; print t->name; print t->mark; print t->wide[0]; print t->wide[1]; print *t->wide@3; print *t->utf16@2; print *t->utf32@2; print *t->utf8@3; print/x *t->wide@2; print/x t->name; print/d t->name; print/c t->name[0]; print t->name[1]; print t->wide + 1; print &t->name[1]; print &t->name; print *t->name@2; print t->wide[0] == L'N'; print t->wide[0] + 1; print (char)t->wide[0]; whatis t->wide; whatis *t->wide; whatis t->utf16; whatis t->utf16[0]; whatis t->name; whatis t->name[0]; whatis t->initial; whatis t->mark + 1; whatis &t->name; ptype t; ptype letter; ptype wchar_t; whatis letter; print sizeof(struct text); print n; print limit - n; x/3xw t->wide; x/2xh t->utf16; x/4cb t->utf8; x/s t->utf8; x/2dw t->utf32; print t->wide == 0; bt; finish
	return n;
}

int run(int n)
{
	const unsigned char utf8[] = "n\xc3\xa9t\xe4\xb8\xad";
	const unsigned char *at = utf8;
	wchar_t wide[8];
	int count = 0;
	while (*at)
		wide[count++] = decode(&at);
	wide[count] = 0;
	static const char16_t utf16[] = u"zw\u00f6lf";
	struct text t = {L"Na\u00efve", utf16, U"\U0001f600!", utf8, L'Q', L"abc", u'm'};
	int w = width(&t, n + 2);
	HERE; // STOP print t; print wide; print wide[0]; print wide[1]; print (wchar_t *)wide; print *wide@2; print wide[0]@3; print/x wide[0]@3; print utf8; print utf16; print utf16[2]; print &utf16[1]; print *utf16@2; print sizeof utf16; print sizeof wide / sizeof *wide; print &wide[1]; print wide + 1; print count; print w; print at - utf8; print t.initial; print t.name; print &t.name[2]; print t.utf32[0]; print/x t.utf32[0]; whatis wide; whatis wide + 1; whatis &wide[1]; whatis utf16; whatis utf8; whatis *utf16; ptype wide; ptype utf16; whatis &utf16; set var wide[0] = L'X'; print wide[0]; set var t.initial = 'Y'; print t.initial; set var t.name[0] = 0x263a; print t.name; print/x t.name[0]; print wide[1] = 66; print wide[1]++; print wide[1]; print t.mark = 97; output wide[0]; output/c t.mark; print decode; whatis decode; info symbol utf16; info line width
	return count + w;
}
