// Threads that wait in system calls of the C library, each in another function.
#include <pthread.h>
#include <semaphore.h>
#include "ready.h"

static int ends[2];
static sem_t semaphore;

static void *reads(void *unused)
{
	char byte;
	return (void *)after(read(ends[0], &byte, 1));
}

static void *waits(void *unused) { return (void *)after(sem_wait(&semaphore)); }
static void *sleeps(void *unused) { return (void *)after(sleep(1000)); }
static void *pauses(void *unused) { return (void *)after(pause()); }

int main(void)
{
	void *(*starts[])(void *) = {reads, waits, sleeps, pauses};
	pthread_t thread;
	if (pipe(ends) != 0 || sem_init(&semaphore, 0, 0) != 0)
		return 1;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, 0, starts[i], 0);
	usleep(100000);
	ready();
	return (int)after(pthread_join(thread, 0));
}
