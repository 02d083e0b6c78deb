// Ends in the way of its argument, or continues.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;

static void jump_back(int signal)
{
	siglongjmp(back, 1);
}

static void say_handled(int signal)
{
	(void)!write(1, "handled\n", 8);
}

static void die_of_default(int s)
{
	signal(s, SIG_DFL);
}

static __attribute__((noinline)) void fault(void)
{
	*(volatile int *)0x10 = 1;
}

static void *fault_in_thread(void *arg)
{
	pthread_setname_np(pthread_self(), "faulty");
	fault();
	return NULL;
}

static void *idle(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

static void *nothing(void *arg)
{
	return arg;
}

static void say(const char *s)
{
	puts(s);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_t t;
	if (!strcmp(mode, "exit"))
		return 7;
	if (!strcmp(mode, "segv"))
		fault();
	if (!strcmp(mode, "abort"))
		abort();
	if (!strcmp(mode, "trap"))
		raise(SIGTRAP);
	if (!strcmp(mode, "term"))
		raise(SIGTERM);
	if (!strcmp(mode, "thread")) {
		for (int i = 0; i < 3; i++)
			pthread_create(&t, NULL, idle, NULL);
		pthread_create(&t, NULL, fault_in_thread, NULL);
		pthread_join(t, NULL);
	}
	if (!strcmp(mode, "handled")) {
		signal(SIGSEGV, jump_back);
		for (volatile int i = 0; i < 100; i++)
			if (!sigsetjmp(back, 1))
				fault();
		return 0;
	}
	if (!strcmp(mode, "redefault")) {
		signal(SIGSEGV, die_of_default);
		fault();
	}
	if (!strcmp(mode, "fork")) {
		// The crash of a child is not a crash of the command.
		int status;
		pid_t pid = fork();
		if (pid == 0)
			fault();
		waitpid(pid, &status, 0);
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? 3 : 4;
	}
	if (!strcmp(mode, "churn")) {
		for (int i = atoi(argv[2]); i > 0; i--) {
			pthread_create(&t, NULL, nothing, NULL);
			pthread_join(t, NULL);
		}
		return 5;
	}
	if (!strcmp(mode, "handles-quit"))
		signal(SIGQUIT, say_handled);
	if (!strcmp(mode, "ignores-quit"))
		signal(SIGQUIT, SIG_IGN);
	if (!strcmp(mode, "handles-term"))
		signal(SIGTERM, say_handled);
	say("ready");
	for (char line[16]; fgets(line, sizeof line, stdin);)
		say("runs");
	return 0;
}
