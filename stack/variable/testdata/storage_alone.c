/* gcc -g -static -o alone storage_alone.c */
#include <stdlib.h>

void at_rest(int number) {
	static __thread char first = 1;
	static __thread _Alignas(128) char aligned[] = "_ligned";
	static __thread int last;
	first += number - 1;
	aligned[0] = 'a';
	last += 2 * number;
	abort();
}

int main(void) { at_rest(5); }
