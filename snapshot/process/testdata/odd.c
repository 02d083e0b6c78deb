// Unusual processes, by argument:
//   leader: the first thread has ended, another one continues
//   vfork:  the first thread waits in vfork for its child, another one continues
//   hidden: the process is not dumpable
//   deleted, replaced: its file was deleted, or replaced by another one
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void answer(void)
{
	char line[16];
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		puts("runs");
		fflush(stdout);
	}
	_exit(0);
}

static void *run_on(void *arg)
{
	usleep(50000);
	answer();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	const char *mode = argc > 1 ? argv[1] : "";
	if (!strcmp(mode, "leader")) {
		pthread_create(&t, NULL, run_on, NULL);
		pthread_exit(NULL);
	} else if (!strcmp(mode, "vfork")) {
		pthread_create(&t, NULL, run_on, NULL);
		if (vfork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			sleep(1000);
			_exit(0);
		}
	} else if (!strcmp(mode, "hidden")) {
		prctl(PR_SET_DUMPABLE, 0);
	}
	answer();
	return 0;
}
