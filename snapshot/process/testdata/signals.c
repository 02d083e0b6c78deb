// Counts SIGUSR1 and the queued SIGRTMIN, and adds the values of the latter, in
// any of its threads. For a line on standard input it prints the three
// numbers.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_ulong usr1, rt, sum;

static void handle(int signal, siginfo_t *info, void *context)
{
	if (signal == SIGUSR1) {
		atomic_fetch_add(&usr1, 1);
	} else {
		atomic_fetch_add(&rt, 1);
		atomic_fetch_add(&sum, info->si_value.sival_int);
	}
}

static void *wait_for_signals(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

int main(void)
{
	char line[16];
	pthread_t t;
	struct sigaction a;
	sigset_t all;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = handle;
	a.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGRTMIN, &a, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, wait_for_signals, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		printf("%lu %lu %lu\n", atomic_load(&usr1), atomic_load(&rt), atomic_load(&sum));
		fflush(stdout);
	}
	return 0;
}
