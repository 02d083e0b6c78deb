// Threads that start threads and end, without pause. For a line on standard input
// it prints the number of started threads.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_ulong started;

static void *link_of_chain(void *arg)
{
	pthread_t t;
	pthread_attr_t a;
	atomic_fetch_add(&started, 1);
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	while (pthread_create(&t, &a, link_of_chain, NULL) != 0)
		;
	return NULL;
}

int main(void)
{
	char line[16];
	pthread_t t;
	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, link_of_chain, NULL);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		printf("%lu\n", atomic_load(&started));
		fflush(stdout);
	}
	return 0;
}
