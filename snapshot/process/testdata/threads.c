// Starts the number of threads in its first argument. Each increments its counter
// once in the number of milliseconds in the second one (1). Prints "ready" when all run,
// and the sum of the counters for a line on standard input.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long counters[1024];
static pthread_barrier_t barrier;
static int period = 1;

static void *count(void *arg)
{
	unsigned long n = (unsigned long)arg;
	pthread_barrier_wait(&barrier);
	for (;;) {
		struct timespec t = {period / 1000, period % 1000 * 1000000};
		nanosleep(&t, NULL);
		counters[n]++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	char line[16];
	if (argc > 2)
		period = atoi(argv[2]);
	pthread_barrier_init(&barrier, NULL, n + 1);
	for (long i = 0; i < n; i++) {
		pthread_t t;
		char name[32];
		if (pthread_create(&t, NULL, count, (void *)i) != 0)
			return 1;
		snprintf(name, sizeof name, "counter %ld", i % 1000);
		pthread_setname_np(t, name);
	}
	pthread_barrier_wait(&barrier);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		unsigned long sum = 0;
		for (int i = 0; i < n; i++)
			sum += counters[i];
		printf("%lu\n", sum);
		fflush(stdout);
	}
	return 0;
}
