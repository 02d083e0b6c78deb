#include <stdlib.h>

int depth;

int load(int *p)
{
  return *p;
}

int through(int *p)
{
  int got = load(p);
  return got + 1;
}

int divide(int a, int b)
{
  return a / b;
}

int trap(void)
{
  __builtin_trap();
}

int recurse(int n)
{
  volatile char buffer[256];
  buffer[0] = n;
  depth = n;
  return recurse(n + 1) + buffer[0];
}

int forever(void)
{
  volatile int n = 0;
  for (;;)
    n++;
}

int leave(int code)
{
  exit(code);
}

int give_up(void)
{
  abort();
}

int twice(void)
{
  void *p = malloc(8);
  free(p);
  free(p);
  return 0;
}
