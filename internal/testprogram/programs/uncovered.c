// Functions without call frame information between functions with it, in assembly and
// in uncovered_plain.c, which is linked too. The first argument selects the innermost
// functions. With a second argument the program crashes instead of looping:
//   leaf        assembly that leaves the stack alone, called directly
//   indirect    the same, through a pointer
//   tail        the same, by a function that jumps to it
//   record      assembly with its frame record at the bottom of a large frame, which
//               calls a function that calls the leaf
//   plain       the same in C
//   waits       a leaf in C
#include <string.h>
#include "ready.h"

int leaf(volatile int *);
int record(int (*)(volatile int *), volatile int *);
int plain(int (*)(volatile int *), volatile int *);
int waits(volatile int *);

#if defined __x86_64__
__asm__(".text\n.globl leaf\n.type leaf,@function\n"
	"leaf:\tmov (%rdi),%eax\n\ttest %eax,%eax\n\tjz leaf\n\tret\n.size leaf,.-leaf\n"
	".globl record\n.type record,@function\n"
	"record:\tpush %rbp\n\tmov %rsp,%rbp\n\tsub $96,%rsp\n\tmov %rdi,%rax\n\tmov %rsi,%rdi\n\tcall *%rax\n\tleave\n\tret\n"
	".size record,.-record\n");
#elif defined __aarch64__
__asm__(".text\n.globl leaf\n.type leaf,%function\n"
	"leaf:\tldr w1,[x0]\n\tcbz w1,leaf\n\tret\n.size leaf,.-leaf\n"
	".globl record\n.type record,%function\n"
	"record:\tstp x29,x30,[sp,#-128]!\n\tadd x29,sp,#0\n\tstp x19,x20,[sp,#16]\n\tmov x2,x0\n\tmov x0,x1\n\tblr x2\n"
	"\tldp x19,x20,[sp,#16]\n\tldp x29,x30,[sp],#128\n\tret\n.size record,.-record\n");
#endif

volatile int sink;
static int (*volatile pointer)(volatile int *) = leaf;

NOINLINE static int direct(volatile int *p) { return leaf(p) + sink++; }
NOINLINE static int indirect(volatile int *p) { return pointer(p) + sink++; }
NOINLINE static int tail(volatile int *p) { return leaf(p); }
NOINLINE static int calls_tail(volatile int *p) { return tail(p) + sink++; }
NOINLINE static int calls_waits(volatile int *p) { return waits(p) + sink++; }

NOINLINE static int inner(const char *how, volatile int *p)
{
	int n = 0;
	if (!strcmp(how, "leaf"))
		n = direct(p);
	else if (!strcmp(how, "indirect"))
		n = indirect(p);
	else if (!strcmp(how, "tail"))
		n = calls_tail(p);
	else if (!strcmp(how, "record"))
		n = record(direct, p);
	else if (!strcmp(how, "plain"))
		n = plain(direct, p);
	else if (!strcmp(how, "waits"))
		n = calls_waits(p);
	return n + sink++;
}

NOINLINE static int middle(const char *how, volatile int *p)
{
	volatile char space[300];
	space[sink & 1] = 1;
	return inner(how, p) + sink++;
}

NOINLINE static int outer(const char *how, volatile int *p) { return middle(how, p) + sink++; }

int main(int argc, char **argv)
{
	static volatile int zero;
	ready();
	return outer(argc > 1 ? argv[1] : "leaf", argc > 2 ? (volatile int *)8 : &zero) + sink++;
}
