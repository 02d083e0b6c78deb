/* gcc -g -o storage storage.c libstorage.so -ldl -pthread; storage PLUGIN
 * PLUGIN is a copy of the library under another name, which is loaded late. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void in_library(int number);
static void (*in_plugin)(int number);
static pthread_barrier_t loaded, all;

void at_rest(int number) {
	static __thread _Alignas(64) double share = 0.5;
	static __thread struct { char c; int n; } pair = {'p', 1};
	share += number;
	pair.n += number;
	pthread_barrier_wait(&all);
	for (;;)
		pause();
}

static void *run(void *argument) {
	int number = *(int *)argument;
	pthread_barrier_wait(&loaded);
	if (number % 2)
		in_plugin(number);
	else
		in_library(number);
	return 0;
}

static void *last(void *argument) {
	pthread_barrier_wait(&all);
	puts("ready");
	fflush(stdout);
	return argument;
}

int main(int argc, char **argv) {
	static int numbers[] = {1, 2, 3, 4};
	pthread_t thread;
	pthread_barrier_init(&loaded, 0, 4);
	pthread_barrier_init(&all, 0, 5);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, 0, run, &numbers[i]);
	pthread_create(&thread, 0, last, 0);
	void *plugin = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
	if (!plugin)
		return puts(dlerror());
	*(void **)&in_plugin = dlsym(plugin, "in_library");
	run(&numbers[3]);
}
