#define HERE __asm__ volatile("nop" ::: "memory")
enum state { IDLE, RUNNING, WAITING = 10, DONE };
enum event { START = 'a', STOP_EVENT, TICK = 1000000 };
typedef enum { LOW = 1, MIDDLE = 2, HIGH = 4, URGENT = 8 } priority_t;
typedef enum state (*transition)(enum state, enum event);
struct machine { enum state now, before; transition next; priority_t priority; union { int count; struct { short lo, hi; } halves; } u; volatile unsigned char ticks; const char *const *labels; };
static const char *const labels[] = {"idle", "running", 0};
__attribute__((noinline)) static enum state step(enum state s, enum event e)
{
	enum state to = s;
	switch (e) {
	case START: to = RUNNING; break;
	case STOP_EVENT: to = DONE; break;
	default: to = s == RUNNING ? WAITING : IDLE;
	}
	HERE; // STOP print s; print e; print to; print to + 1; print (enum state)11; print (enum state)3; print to == RUNNING; print to > IDLE; print/d to; print/x e; print START; print 'a' == START; bt; finish
	return to;
}
int run(int n)
{
	struct machine m = {IDLE, DONE, step, LOW | HIGH, {n}, 200, labels};
	m.before = m.now;
	m.now = m.next(m.now, n > 2 ? START : TICK);
	HERE; // STOP print m; print m.now; print m.next; print *m.next; print m.priority; print m.priority | URGENT; print (priority_t)7; print (priority_t)16; print (priority_t)0; print m.u; print m.u.halves; print m.u.halves.lo; print m.ticks; print m.labels[1]; print *m.labels; print m.labels; print labels; ptype m; ptype struct machine; ptype transition; whatis m.next; whatis m.u; ptype m.u; whatis m.priority; ptype priority_t; print sizeof m; print &m.u; print &m.u.halves.hi; print/x m; print m.next == step; print &m.ticks; whatis &m.ticks; whatis m.labels; ptype m.labels
	return m.now;
}
