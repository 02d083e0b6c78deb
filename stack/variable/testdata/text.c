/* gcc -g -o text text.c; UTF-8, and bytes that are not text */
#include <stdlib.h>
#include <uchar.h>
#include <wchar.h>

struct person {
	char name[8];
	unsigned char raw[4];
	wchar_t wide;
	char16_t sixteen;
	char32_t whole;
};

static void last(const char *text, const char *bad, const wchar_t *wide, const char16_t *sixteen, const char32_t *whole,
		 struct person person, wchar_t one, char16_t small, char32_t large, char byte)
{
	char array[] = "Grüße, мир, 世界 😀";
	char repeated[] = "ééééééééééééééééx";
	char before[] = "aaaaaaaaaaaaaaé";
	char numbers[] = "é" "9\377" "9\1" "9";
	char wrong[] = "\377\377\377\377\377\377\377\377\377\377\377\377\377é\300\200\355\240\200z";
	char begun[] = "\344\344\270\226";
	char quotes[] = "é\"'\\";
	char ended[] = {0xe4, 0xb8};
	wchar_t letters[] = L"α\U0001F600\033 é";
	wchar_t none[] = {0x110000, 0xd800, 'a', 'g', 0};
	wchar_t many[20];
	char16_t pairs[] = u"😀α";
	char16_t halves[] = {'a', 0xd83d, 'b', 0xde00, 0xd83d};
	char16_t half[] = {'a', 0xd83d, 0};
	char32_t plain[] = U"😀é";
	/* gdb shows these unchanged: */
	char terminal[] = "\033[2J\302\205\302\23331m\177";
	char hidden[] = "a\u202eb\u2066c\u200bd\u200de\ufefff\ufe0fg\u2028h";
	wchar_t turned[] = L"a\u202e" L"1";
	char16_t ignored[] = u"\u2069\u3164\u115f";
	char cut[] = {'a', 'b', 0xe4, 0xb8};
	for (int i = 0; i < 20; i++)
		many[i] = L'π';
	abort();
}

int main(void)
{
	struct person person = {"naïve", {0xc3, 0xa9, 'x', 0}, L'é', u'é', U'😀'};
	last("naïve 世界", "bad \377\300z", L"wide é", u"six é😀", U"ü", person, L'é', u'é', U'😀', '\351');
}
