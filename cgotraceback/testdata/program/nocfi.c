// Built without call frame information, with frame pointers: see nocfi.go.
#include "program.h"

extern volatile int sink;
void crash(void);

__attribute__((noinline, optimize("no-omit-frame-pointer", "no-asynchronous-unwind-tables", "no-unwind-tables"))) void no_cfi_inner(int kind) {
	if (kind == NO_CFI)
		crash();
	for (int i = 0; i < 1000000; i++)
		sink += i;
}

__attribute__((noinline)) void no_cfi_outer(int kind) {
	no_cfi_inner(kind);
	sink++;
}
