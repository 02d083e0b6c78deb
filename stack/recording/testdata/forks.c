// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Works in a thread, in a child by fork, and in a child by fork and exec of
// the program itself.

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

volatile unsigned long sink;

__attribute__((noinline)) void spin(int n)
{
	for (long i = 0; i < n * 100000L; i++)
		sink += i;
}

__attribute__((noinline)) void *in_thread(void *argument)
{
	spin(400);
	return argument;
}

__attribute__((noinline)) void in_child(void) { spin(400); }

int main(int argc, char **argv)
{
	if (argc > 1) {
		in_child();
		return 0;
	}
	pthread_t thread;
	pthread_create(&thread, 0, in_thread, 0);
	spin(400);
	pid_t forked = fork();
	if (forked == 0) {
		in_child();
		_exit(0);
	}
	pid_t executed = fork();
	if (executed == 0) {
		execl("/proc/self/exe", "again", "again", (char *)0);
		_exit(1);
	}
	pthread_join(thread, 0);
	waitpid(forked, 0, 0);
	waitpid(executed, 0, 0);
	return 0;
}
