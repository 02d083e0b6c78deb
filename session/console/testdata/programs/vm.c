// A stack machine: code in bytes, a table of functions for its operations.
#include <stdint.h>
#define HERE __asm__ volatile("nop" ::: "memory")
#define STACK 8
enum op { OP_PUSH, OP_ADD, OP_MUL, OP_DUP, OP_JUMP_IF, OP_CALL, OP_HALT = 0xff };
typedef int64_t cell;
struct vm;
typedef void (*handler)(struct vm *);
struct vm {
	const uint8_t *code, *pc;
	cell stack[STACK];
	cell *sp;
	struct { const uint8_t *return_to; unsigned depth; } frames[3];
	unsigned short frame;
	_Bool running;
	enum op last;
};

static cell pop(struct vm *m) { return *--m->sp; }
static void push(struct vm *m, cell c) { *m->sp++ = c; }
static void do_push(struct vm *m) { push(m, (int8_t)*m->pc++); }
__attribute__((noinline)) static void do_add(struct vm *m)
{
	cell right = pop(m), left = pop(m);
	push(m, left + right);
	HERE; // STOP print *m; print left; print right; print m->sp[-1]; print m->sp - m->stack; print *m->pc; print/x *m->pc@3; print m->pc - m->code; print (enum op)*m->pc; print (enum op)m->code[1]; print m->last; print/d m->last; print m->last == OP_ADD; print *m->stack@(m->sp - m->stack); print m->stack[0]@2; print/x m->stack; x/3xb m->code; x/2dg m->stack; whatis left + 1; whatis left + 1u; whatis m->sp - m->stack; whatis *m->pc; whatis *m->pc + 0; whatis m->frames[0].depth; ptype m->frames; ptype handler; ptype cell; whatis cell; whatis (cell)1; print (cell)3.99; print sizeof(cell); print (handler)m->code == 0; print do_add; print *do_add; print &do_add; whatis do_add; whatis &do_add; whatis *do_add; ptype do_add; bt; up; info locals; up; down
}
static void do_mul(struct vm *m) { cell right = pop(m); m->sp[-1] *= right; }
static void do_dup(struct vm *m) { push(m, m->sp[-1]); }
static void do_jump(struct vm *m)
{
	int8_t offset = *m->pc++;
	if (pop(m) > 100)
		m->pc += offset;
}
__attribute__((noinline)) static void do_call(struct vm *m)
{
	uint8_t target = *m->pc++;
	m->frames[m->frame].return_to = m->pc;
	m->frames[m->frame++].depth = m->sp - m->stack;
	m->pc = m->code + target;
	HERE; // STOP print target; print/x target; print/c target; print/t target; print m->frames; print m->frames[0]; print m->frames[0].return_to == m->pc; print m->frames[m->frame - 1].depth; print m->frame; print &m->frames[1]; print m->frames[0].return_to - m->code; whatis m->frames; whatis &m->frames; whatis &m->frames[0]; whatis target; whatis target + target; whatis (uint8_t)(target + 1); print (uint8_t)(target + 255); print (int8_t)(target + 200); ptype m; print m->running; print !m->running; print m->running + 1; whatis m->running; print handlers; print handlers[OP_ADD]; print *handlers[1]; print handlers[OP_ADD] == do_add; print sizeof handlers; whatis handlers; whatis handlers[0]; ptype handlers; print/a handlers[1]; info symbol handlers[2]; info symbol do_mul; print *handlers@2; finish
}
static const handler handlers[] = {[OP_PUSH] = do_push, [OP_ADD] = do_add, [OP_MUL] = do_mul, [OP_DUP] = do_dup, [OP_JUMP_IF] = do_jump, [OP_CALL] = do_call};

__attribute__((noinline)) static cell execute(struct vm *m)
{
	for (m->running = 1; m->running;) {
		enum op op = *m->pc++;
		if (op == OP_HALT)
			m->running = 0;
		else
			handlers[op](m);
		m->last = op;
	}
	return pop(m);
}

int run(int n)
{
	const uint8_t program[] = {OP_PUSH, 5, OP_PUSH, n, OP_ADD, OP_DUP, OP_MUL, OP_DUP, OP_JUMP_IF, 2, OP_CALL, 13, OP_HALT, OP_PUSH, (uint8_t)-4, OP_ADD, OP_HALT};
	struct vm m = {.code = program, .pc = program, .sp = 0, .last = OP_HALT};
	m.sp = m.stack;
	cell result = execute(&m);
	HERE; // STOP print result; print m; print/x m.stack; print program; print/d program; print/x program[14]; print (signed char)program[14]; print sizeof program; print m.stack[0]; print m.sp == m.stack; print m.last; print m.pc - program; print OP_HALT; print (enum op)255; print (enum op)200; print OP_ADD | OP_MUL; print OP_ADD + 1; whatis OP_ADD; whatis OP_ADD + 1; ptype enum op; print sizeof(enum op); print sizeof(struct vm); whatis m.code; whatis *m.code; whatis program; whatis &program; whatis program + 1; print *program@3; print &program[4]; print program[4] == OP_ADD; display m.frame; display/x result; info display; undisplay 1; print $_exitcode; print do_push == handlers[0]
	return result;
}
