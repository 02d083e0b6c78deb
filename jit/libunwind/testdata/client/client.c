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

extern void generate(uintptr_t *inner, uintptr_t *outer);
extern void publish(int format);
extern void withdraw(int function);
extern void publish_procedures(void);
extern void withdraw_procedures(void);
extern void churn(void);

static uintptr_t inner, outer;
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
	generate(&inner, &outer);
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
