// A calculator with tables of functions, registers in unions with bit-fields, and wide names.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uchar.h>
#include <wchar.h>
#define HERE __asm__ volatile("nop" ::: "memory")

union status {
	uint16_t word;
	struct { uint16_t carry : 1, zero : 1, : 2, mode : 3; int16_t shift : 5; uint16_t top : 4; };
	struct { uint8_t low, high; } bytes;
};
typedef long (*operation)(long, long);
struct machine;
typedef int (*handler)(struct machine *, const wchar_t *);
struct machine {
	union status status;
	_Alignas(16) unsigned char wide[16];
	union { long value; double real; struct { int first, second; }; };
	operation table[4];
	const struct entry { const wchar_t *name; handler run; enum level { Low = -1, Mid, High = 7 } level; bool enabled; } *entries;
	atomic_int count;
	_Atomic(long *) last;
	volatile const int *limit;
	long (*(*choose)(struct machine *, int))(long, long);
	char32_t symbol;
	char16_t text[4];
};
static long add(long a, long b) { return a + b; }
static long sub(long a, long b) { return a - b; }
static long mul(long a, long b) { return a * b; }
static operation choose(struct machine *m, int i) { return m->table[i & 3]; }
static const int limit = 99;
static long history[2][3];

__attribute__((noinline)) static int start(struct machine *m, const wchar_t *name)
{
	m->status.mode = 5;
	m->status.shift = -3;
	HERE; // STOP print *m; print m->status; print/x m->status; print/t m->status.word; print m->status.shift; print/x m->status.shift; print/t m->status.mode; print/d m->status.mode; print/c m->status.mode; print -m->status.shift; print m->status.mode + 1; whatis m->status.mode; whatis m->status.shift; ptype m->status; ptype union status; print &m->status.mode; print sizeof(m->status.mode); print m->status.mode = 3; print m->status.word; print m->status.shift = 15; print m->status; set var m->status.top = 9; print/x m->status.word; print m->first; print m->second; print &m->second; print &((struct machine *)0)->real; print name; print *name; print name[1]; print/x name[1]; print *name@3; x/4wx name; x/2dw name; whatis *name; whatis name; ptype name; print m->symbol; print m->text; print m->text[0]; print/x m->text; whatis m->text; whatis m->symbol
	//> print m->count; print m->count + 1; whatis m->count; print m->last; print *m->last; whatis m->last; whatis *m->limit; print *m->limit; print m->limit; print m->table; print m->table[1]; print *m->table[1]; print m->table[1](5, 3); print (*m->table[0])(1, 2); print m->choose(m, 2)(4, 5); print m->choose; ptype m->choose; whatis m->choose; whatis m->choose(m, 1); ptype operation; whatis operation; whatis handler; ptype handler; ptype struct entry; whatis struct entry; whatis m->entries; print m->entries[0]; print m->entries[1].name; print m->entries[1].run; print m->entries[0].run == start; print m->entries->level; print m->entries[1].level; print (enum level)7; print (enum level)3; print (enum level)-1; print Low; print Mid + 1; print High; print/d High; print/x Low; whatis Low; whatis (enum level)7; ptype enum level; print sizeof(enum level); print m->entries->enabled; print !m->entries->enabled; print/x m->wide; print m->wide; print/d m->wide; print/c m->wide; print/s m->wide; print/z m->wide[1]; print/o m->wide[2]; print/t m->wide[1]; x/16xb m->wide; x/4xh m->wide; x/2xw m->wide; x/2tb m->wide; x/2ob m->wide; x/2ub m->wide; x/2c m->wide; x/1dg m->wide; x/a m->table; x/3s m->wide; bt; bt full; up; info locals; down; info source; info symbol add; info symbol start; info symbol history; info symbol &history[1]; info line add; info line start; info line dispatch.c:45; finish
	return m->status.word;
}

__attribute__((noinline)) static int end(struct machine *m, const wchar_t *name)
{
	static int calls;
	char32_t letters[] = U"añ€😀";
	char16_t short_letters[] = u"x€";
	const char *narrow = u8"naïve";
	for (int calls = 0; calls < 2; calls++) {
		long calls_before = history[calls][0];
		HERE; // STOP print calls; info locals; print letters; print letters[1]; print/x letters; print *letters@2; print short_letters; print narrow; print narrow[3]; print/x narrow[3]; print &letters[1]; whatis letters; whatis letters[0]; whatis short_letters[0]; ptype letters; print sizeof(letters); print L'a'; print L"wide"; print u"x"; print sizeof(L"wide"); whatis L'a'; whatis U"x"; print history; print history[1]; print *history@1; print **history@2; print &history[1]; print &history; whatis history; whatis history[0]; whatis &history[0]; whatis *history; whatis &history[1][2]; print sizeof(history[0]); print history[0] == history[1]; print &history[1] - &history[0]; print end::calls; print &end::calls; print 'dispatch.c'::limit; print limit; whatis limit; print &limit; print *&limit; print -calls; print ~calls; print !calls; print calls++; print --calls; print calls ? 5 : 6; print calls == 0 && m; print calls || m->count; print (char)97; print 'a' + 1; print "abc"; print sizeof("abc"); print "ab" "cd"; print 07 + 0x10; print 10 / 4; print 10 / 4.0; print -7 / 2; print -7 % 3; print 5 % 0; print 1 / 0; print 1.0 / 0; print 1 << 31; print 1 << 40; print 2147483648; print 4294967296; print -2147483648; print 1e3; print 1.5f; print 10 > 9 > 8; print 5 & 3 | 8; print 5 ^ 1; print 1, 2; print 3 = 4
		calls_before++;
		history[calls][1] += calls_before;
	}
	return ++calls;
}

int run(int n)
{
	static const struct entry entries[] = {{L"start", start, Low, true}, {L"end", end, High, false}};
	static long last = 41;
	struct machine m = {.status.word = 0x8001, .wide = "\1\2\x80 text", .real = 1.5, .table = {add, sub, [2] = mul}, .entries = entries, .last = &last, .limit = &limit, .choose = choose, .symbol = U'😀', .text = u"ab"};
	m.count = n;
	int total = 0;
	long (*row)[3] = &history[1];
	for (int i = 0; i < 2; i++)
		total += entries[i].run(&m, entries[i].name);
	struct { int x, y; } points[] = {{1, 2}, {3, 4}}, *p = &points[1];
	int grid[n][2];
	for (int i = 0; i < n; i++)
		grid[i][0] = i, grid[i][1] = -i;
	HERE; // STOP print m; print entries; print entries[0]; print points; print *p; print p[-1]; print p - points; print *points@2; print points[0]@2; whatis points; whatis p; whatis *p; ptype p; ptype points; print *row; print (*row)[1]; print row[0][1]; print row; whatis row; whatis *row; print grid; print grid[1]; print grid[1][1]; print sizeof(grid); whatis grid; ptype grid; whatis grid[0]; print &grid[1]; print *grid@2; print/x grid; print total; print last; print &last; print *m.last; set var *m.last = 42; print last; print m.real; print/x m.real; print/f m.value; print/x m.value; print m.value; set var m.real = 2.5; print m.real; print m.first; set var m.entries = 0; print m.entries; print *m.entries; print m.entries->name; print run; print *run; print &run; whatis run; whatis &run; ptype run; print run == &run; print sizeof(run); info scope run; list add; list 10,12; list; list -; list start; list dispatch.c:20; list 30,; list ,30; list run,; info line; info display; display total; display/x n; info display; undisplay 1; info display; display; tbreak add; info breakpoints; delete; print $$2; print $_; x/2dw points; print $_; print $__; output total; printf "%d %c %5.2f %#x %ld\n", n, 65, m.real, total, last; x/ws entries[0].name; x/2hs m.text; x/s m.wide; x/2x m.wide; x/2xw m.wide; info locals m; info args x; echo text\n; p $nothing; p $nothing = 5; p $nothing * 2; p $rip == $pc; whatis $pc; whatis $sp; whatis $rax; p $_exitcode; p $bpnum; p nosuch; p m.nosuch; print n.x; p *n; print &5; print m + 1; ptype nosuch; ptype struct nosuch; whatis struct machine; print sizeof(struct machine); print (struct entry *)entries; print *(struct entry *)entries; print ((struct entry *)entries)[1].level
	return total + m.count + grid[1][0];
}
