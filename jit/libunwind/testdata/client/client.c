/* The C half of the program that TestClient builds: it walks its stack with
   libunwind from below the generated functions of publish.go.

	go build -buildmode=c-archive -o publish.a publish.go
	gcc -o client client.c publish.a -lunwind -lpthread */

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern void generate(uintptr_t *inner, uintptr_t *outer, uintptr_t *switching);
extern void publish(int format);
extern void publish_switching(void);
extern void withdraw_switching(void);
extern void withdraw(int function);
extern void publish_procedures(void);
extern void withdraw_procedures(void);
extern void churn(void);

static uintptr_t inner, outer, switching;
static const char *title;

/* The callback that inner calls: prints the frames from here to main. */
static void walk(void) {
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip, offset;
	char name[64];
	int n = 0;
	printf("%s:", title);
	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		if (ip > inner && ip < inner + 64)
			strcpy(name, "inner");
		else if (ip > outer && ip < outer + 64)
			strcpy(name, "outer");
		else if (ip > switching && ip < switching + 64)
			strcpy(name, "switching");
		else if (unw_get_proc_name(&cursor, name, sizeof name, &offset))
			strcpy(name, "?");
		printf(" %s", name);
	} while (strcmp(name, "main") && n++ < 20 && unw_step(&cursor) > 0);
	printf("\n");
	fflush(stdout);
}

static int through(const char *why) {
	title = why;
	((void (*)(void (*)(void), uintptr_t))outer)(walk, inner);
	return 0; /* so that the call of outer is not a tail call */
}

/* Two stacks besides main's, one at a lower address, and one at a higher one. */
static _Alignas(16) char low[1 << 16];
static char *high;

static volatile int calls;

static void call_switching(void (*callback)(void), char *end) {
	((void (*)(void (*)(void), uintptr_t, uintptr_t, char *))switching)(callback, inner, outer, end);
	calls++; /* so that it is not a tail call */
}

static void on_high(void) { call_switching(walk, high); calls++; }

static void through_switches(const char *why) {
	char array[1 << 14];
	title = why;
	high = (char *)((uintptr_t)(array + sizeof array) & ~(uintptr_t)15);
	call_switching(on_high, low + sizeof low);
	calls++;
}

/* stop waits while the test examines the process. */
static void stop(const char *why) {
	printf("stop %s\n", why);
	fflush(stdout);
	getchar();
}

static void stop_inside(void) { stop("inside"); }

static volatile int churned;

static void *churn_thread(void *p) {
	churn();
	churned = 1;
	return p;
}

static unsigned long walks, lost;

/* The callback while other code is published and withdrawn. libunwind searches its list
   without its lock, and can miss the entries after one that is cancelled;
   walks must not fail otherwise. */
static void quick_walk(void) {
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;
	int frames = 0, through_outer = 0;
	unw_flush_cache(unw_local_addr_space, 0, 0);
	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	while (frames++ < 20 && unw_step(&cursor) > 0) {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		through_outer |= ip > outer && ip < outer + 64;
	}
	walks++;
	lost += !through_outer;
}

int main(void) {
	pthread_t thread;
	setbuf(stdin, NULL);
	generate(&inner, &outer, &switching);
	through("nothing published");
	publish(2);
	through("remote table");
	stop("remote table");
	withdraw(0);
	through("inner withdrawn");
	withdraw(-1);
	through("all withdrawn");
	publish(4);
	through("IP offset");
	stop("IP offset");
	withdraw(0);
	stop("outer is left");
	withdraw(2);
	withdraw(1);
	withdraw(-1);
	stop("empty");
	publish_procedures();
	through("procedures only");
	((void (*)(void (*)(void), uintptr_t))outer)(stop_inside, inner);
	publish(0);
	through("procedures and tables");
	stop("procedures and tables");
	withdraw_procedures();
	through("tables only");
	publish_switching();
	through_switches("switched");
	withdraw_switching();

	/* Walk while other code is published and withdrawn. */
	pthread_create(&thread, NULL, churn_thread, NULL);
	while (!churned) {
		((void (*)(void (*)(void), uintptr_t))outer)(quick_walk, inner);
	}
	pthread_join(thread, NULL);
	through("after the churn");
	withdraw(-1);
	stop("end");
	return walks == 0 || lost == walks;
}
