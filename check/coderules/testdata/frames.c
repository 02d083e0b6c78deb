// Calls functions without call frame information in all nestings of two.
#include <stddef.h>

typedef long function(void *, long);

function leaf, pushes, moves, pointer, aligned, argument, elsewhere, jumps, tail;

static function *const functions[] = {leaf, pushes, moves, pointer, aligned, argument, elsewhere, jumps, tail};
enum { COUNT = sizeof functions / sizeof *functions };

volatile long inner, kind;

// calls is a callback of the outer function. It calls the inner one.
static long calls(void *p, long n)
{
	return functions[inner]((void *)leaf, kind);
}

int main(void)
{
	for (size_t i = 1; i < COUNT; i++)
		for (inner = 0; inner < COUNT; inner++)
			for (kind = 0; kind < 3; kind++)
				functions[i]((void *)calls, kind);
	return 0;
}
