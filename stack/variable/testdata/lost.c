// Functions in assembly lose the registers that a function must preserve, or keep them in
// others, as their call frame information says. The C functions that called them have
// variables in these registers.

typedef long word;
typedef word function(void);

// ROUTINE makes the function name(next): it enters a frame, does what code does, and calls
// next.
#define ROUTINE(name, enter, code, call) \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n.cfi_startproc\n" \
		enter code call ".cfi_endproc\n.size " #name ", . - " #name "\n.popsection"); \
	word name(function *)

// FIRST are the registers that compilers take first, SECOND others, and THIRD ones that a
// call changes. LOSE says that the caller's value is gone, MOVE that it is in another.
#if defined __x86_64__
#define ENTER "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
#define CALL "call *%rdi\nud2\n"
#define SPOIL(r) "mov $21845, %" #r "\n"
#define COPY(to, from) "mov %" #from ", %" #to "\n"
#define FRAME_POINTER rbp
#define FIRST(x) x(rbx) x(rbp) x(r12)
#define SECOND(x) x(r13) x(r14) x(r15)
#define THIRD(x) x(r8) x(r10) x(r11)
#define TO_SECOND(x) x(r13, rbx) x(r14, rbp) x(r15, r12)
#define TO_THIRD(x) x(r8, rbx) x(r10, rbp) x(r11, r12)
#elif defined __aarch64__
#define ENTER "stp x29, x30, [sp, -16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\n"
#define CALL "blr x0\nbrk 0\n"
#define SPOIL(r) "mov " #r ", 21845\n"
#define COPY(to, from) "mov " #to ", " #from "\n"
#define FRAME_POINTER x29
#define FIRST(x) x(x19) x(x20) x(x21)
#define SECOND(x) x(x22) x(x23) x(x24)
#define THIRD(x) x(x9) x(x10) x(x11)
#define TO_SECOND(x) x(x22, x19) x(x23, x20) x(x24, x21)
#define TO_THIRD(x) x(x9, x19) x(x10, x20) x(x11, x21)
#elif defined __s390x__
#define ENTER "stmg %r14, %r15, 112(%r15)\n.cfi_offset %r14, -48\n.cfi_offset %r15, -40\naghi %r15, -160\n.cfi_adjust_cfa_offset 160\n"
#define CALL "basr %r14, %r2\nj .+2\n"
#define SPOIL(r) "lghi %" #r ", 21845\n"
#define COPY(to, from) "lgr %" #to ", %" #from "\n"
#define FRAME_POINTER r11
#define FIRST(x) x(r10) x(r11) x(r12)
#define SECOND(x) x(r7) x(r8) x(r9)
#define THIRD(x) x(r3) x(r4) x(r5)
#define TO_SECOND(x) x(r7, r10) x(r8, r11) x(r9, r12)
#define TO_THIRD(x) x(r3, r10) x(r4, r11) x(r5, r12)
#define REGISTER(r) "%" #r
#elif defined __powerpc64__
#define ENTER "mflr 0\nstd 0, 16(1)\nstdu 1, -32(1)\n.cfi_def_cfa_offset 32\n.cfi_offset lr, 16\n"
#define CALL "mr 12, 3\nmtctr 3\nbctrl\ntrap\n"
#define SPOIL(r) "li " #r ", 21845\n"
#define COPY(to, from) "mr " #to ", " #from "\n"
#define FRAME_POINTER 31
#define FIRST(x) x(29) x(30) x(31)
#define SECOND(x) x(26) x(27) x(28)
#define THIRD(x) x(8) x(9) x(10)
#define TO_SECOND(x) x(26, 29) x(27, 30) x(28, 31)
#define TO_THIRD(x) x(8, 29) x(9, 30) x(10, 31)
#endif
#ifndef REGISTER
#define REGISTER(r) #r
#endif
#define LOSE(r) LOSE1(r)
#define LOSE1(r) ".cfi_undefined " REGISTER(r) "\n" SPOIL(r)
#define MOVE(to, from) COPY(to, from) ".cfi_register " REGISTER(from) ", " REGISTER(to) "\n"

ROUTINE(loses, ENTER, FIRST(LOSE) THIRD(SPOIL), CALL);
ROUTINE(loses_frame, ENTER, LOSE(FRAME_POINTER), CALL);
ROUTINE(loses_second, ENTER, SECOND(LOSE), CALL);
ROUTINE(moves, ENTER, TO_SECOND(MOVE) FIRST(SPOIL), CALL);
ROUTINE(moves_to_changed, ENTER, TO_THIRD(MOVE) FIRST(SPOIL), CALL);

#define NEVER __attribute__((noinline, noclone))

word *volatile nowhere;

NEVER word crash(void) { return *nowhere; }

// keeps has its arguments in registers of FIRST while through calls next.
NEVER word keeps(word n, word m, word (*through)(function *), function *next)
{
	word result = through(next);
	return result * n + m;
}

// Nothing is lost on the way out: the moved values are in registers that keeps saved.
NEVER word moved(void) { return keeps(11, 110, moves, crash) + 1; }

// The variables of moved_and_lost are in registers that called functions lose.
NEVER word lose_second(void) { return loses_second(moved) + 1; }
NEVER word moved_and_lost(void) { return keeps(12, 120, moves, lose_second) + 1; }

NEVER word lost(void) { return keeps(13, 130, loses, moved_and_lost) + 1; }
NEVER word changed(void) { return keeps(14, 140, moves_to_changed, lost) + 1; }

// kept has its variables in registers that are not lost.
NEVER word call(function *next) { return next() + 1; }
NEVER word kept(void) { return keeps(15, 150, call, changed) + 1; }

#ifdef FRAME
// The canonical frame address of framed depends on a lost register.
NEVER __attribute__((optimize("O0"))) word framed(word n)
{
	word m[n];
	m[0] = n;
	return loses_frame(crash) + m[0];
}
int main(void) { return framed(16); }
#elif defined VECTOR
// crash_in loses a register that its caller expects it to preserve (gcc's -fipa-ra).
__attribute__((noinline)) static void crash_in(word n)
{
	__asm__ volatile(".cfi_undefined xmm3");
	*nowhere = n;
	__asm__ volatile(".cfi_restore xmm3");
}
NEVER double vectors(word n, double a, double b, double c, double d)
{
	crash_in(n);
	return a * b + c * d + n;
}
int main(void) { return vectors(4, 1.25, 2.5, 3.5, 4.5); }
#elif defined FLOATS
// keeps_floats has its arguments in floating-point registers, which saves_floats saves.
NEVER double saves_floats(double a, float b)
{
	double d = a * 3, e = b * 5;
	d += call(crash) * e;
	return d * call(crash) + e * a;
}
NEVER double keeps_floats(double a, float b)
{
	double x = saves_floats(6.5, 7.5f);
	return a * x + b;
}
int main(void) { return keeps_floats(1.25, 2.5f); }
#else
int main(void) { return kept(); }
#endif
