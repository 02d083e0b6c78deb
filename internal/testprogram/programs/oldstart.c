// A program that starts as those of older C libraries on arm64 do: _start has no
// call frame information, or with -DCFI one that does not say that the return address
// is undefined. It crashes below main. Build it with -nostartfiles.
#include "ready.h"

#ifdef CFI
#define START ".cfi_startproc\n"
#define END ".cfi_endproc\n"
#else
#define START
#define END
#endif

// As sysdeps/aarch64/start.S of glibc 2.28 builds it without -fPIC.
__asm__(".text\n.globl _start\n.type _start,%function\n_start:\n" START
	"\tmov x29,#0\n\tmov x30,#0\n\tmov x5,x0\n\tldr x1,[sp]\n\tadd x2,sp,#8\n\tmov x6,sp\n"
	"\tadrp x0,main\n\tadd x0,x0,#:lo12:main\n\tnop\n\tnop\n\tmov x3,#0\n\tnop\n\tnop\n\tnop\n\tmov x4,#0\n\tnop\n\tnop\n\tnop\n"
	"\tbl __libc_start_main\n\tbl abort\n" END ".size _start,.-_start\n");

NOINLINE static int fault(volatile int *p) { return *p + 1; }

int main(void)
{
	ready();
	return (int)after(fault((volatile int *)8));
}
