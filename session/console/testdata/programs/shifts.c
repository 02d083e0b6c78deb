// Shifts and casts that C does not define, x with sizes, printf, displays of several functions.
#define HERE __asm__ volatile("nop" ::: "memory")
static int calls;
__attribute__((noinline)) static int twice(int n) { calls++; return n * 2; }
__attribute__((noinline)) static int inner(int n)
{
	double sum = n * 1.5;
	HERE; // STOP display sum; display/x n; display calls; set $sum = 7; display 1 + $sum; display $n; display "n"[0]; info display; next; finish; info display; undisplay 1; info display
	return (int)sum;
}
int run(int n)
{
	int sum = inner(n), down = -3;
	unsigned char byte = 200;
	short words[4] = {1, -2, 300, -4};
	signed char bytes[4] = {-20, 30, 'a', 0};
	HERE;
	HERE;
	__asm__ volatile("" :: "r"(words), "r"(bytes), "r"(&byte), "r"(&down) : "memory");
	HERE; // STOP print down >> down; print down >> 40; print 5 >> down; print 5 << down; print ~n >> ~255; print (char)down >> -n; print -1LL >> 70; x/4ah words; x/2aw words; x/ag words; x/3fb bytes; x/2fh words; x/2dh words; x/2w words; printf "%f %.1f\n", byte, words[1]; printf "%5.2f|%g\n", bytes[0], byte; print (float)words; whatis twice(1).member; whatis twice(2)[0].x; print calls; print twice(4); print calls; info display; undisplay
	return sum + byte;
}
