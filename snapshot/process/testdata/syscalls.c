// Has one thread for each of several blocking system calls. For a line on standard
// input it prints the names of those that have returned meanwhile, each with its
// error number.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int pipe_fd[2], sockets[2], slow_sockets[2];
static char buffer[4096];

static long in_nanosleep(void)
{
	struct timespec t = {1000, 0};
	return nanosleep(&t, NULL);
}

static long in_clock_nanosleep(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += 1000;
	return syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static long in_select(void)
{
	struct timeval t = {1000, 0};
	return select(0, NULL, NULL, NULL, &t);
}

static long in_poll(void)
{
	return poll(NULL, 0, 1000000);
}

static long in_futex(void)
{
	static int word;
	struct timespec t = {1000, 0};
	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
}

static long in_futex_without_timeout(void)
{
	static int word;
	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static long in_read(void)
{
	return read(pipe_fd[0], buffer, 1);
}

static long in_recv(void)
{
	return recv(sockets[0], buffer, 1, 0);
}

static long in_recv_with_timeout(void)
{
	struct timeval t = {1000, 0};
	setsockopt(slow_sockets[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
	return recv(slow_sockets[0], buffer, 1, 0);
}

static long in_pause(void)
{
	return pause();
}

static long in_wait(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		for (;;) {
			char c;
			// Ends with its parent, which alone has the other end open.
			close(pipe_fd[1]);
			if (read(pipe_fd[0], &c, 1) <= 0)
				_exit(0);
		}
	}
	return waitpid(pid, NULL, 0);
}

static long in_epoll_wait(void)
{
	struct epoll_event e;
	return epoll_wait(epoll_create1(0), &e, 1, 1000000);
}

static long in_sigtimedwait(void)
{
	sigset_t s;
	struct timespec t = {1000, 0};
	sigemptyset(&s);
	sigaddset(&s, SIGUSR2);
	return sigtimedwait(&s, NULL, &t);
}

static long in_semop(void)
{
	struct sembuf b = {0, -1, 0};
	int id = semget(IPC_PRIVATE, 1, 0600);
	pid_t pid = fork();
	if (pid == 0) {
		// Removes the semaphore when the parent has ended.
		char c;
		close(pipe_fd[1]);
		while (read(pipe_fd[0], &c, 1) > 0)
			;
		semctl(id, 0, IPC_RMID);
		_exit(0);
	}
	return semop(id, &b, 1);
}

static long in_inotify_read(void)
{
	return read(inotify_init(), buffer, sizeof buffer);
}

static struct waiting {
	const char *name;
	long (*call)(void);
	volatile int returned;
} calls[] = {
	{"nanosleep", in_nanosleep},
	{"clock_nanosleep", in_clock_nanosleep},
	{"select", in_select},
	{"poll", in_poll},
	{"futex", in_futex},
	{"futex-without-timeout", in_futex_without_timeout},
	{"read", in_read},
	{"recv", in_recv},
	{"recv-with-timeout", in_recv_with_timeout},
	{"pause", in_pause},
	{"wait", in_wait},
	{"epoll_wait", in_epoll_wait},
	{"sigtimedwait", in_sigtimedwait},
	{"semop", in_semop},
	{"inotify-read", in_inotify_read},
};

static void *run(void *arg)
{
	struct waiting *w = arg;
	pthread_setname_np(pthread_self(), w->name);
	errno = 0;
	w->call();
	w->returned = errno ? errno : -1;
	for (;;)
		pause();
	return NULL;
}

int main(void)
{
	char line[16];
	if (pipe(pipe_fd) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, slow_sockets))
		return 1;
	for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		pthread_t t;
		pthread_create(&t, NULL, run, &calls[i]);
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++)
			if (calls[i].returned)
				printf("%s=%d ", calls[i].name, calls[i].returned);
		printf("\n");
		fflush(stdout);
	}
	return 0;
}
