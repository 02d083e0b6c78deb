// Functions with a part in .text.unlikely, and with tail calls. Build with -O2.

#define KEPT __attribute__((noinline, noipa))

volatile int sink;

KEPT __attribute__((cold)) void rare(void)
{
  sink += 1;
}

KEPT int split(void)
{
  sink += 5;
  if (__builtin_expect(sink < 100, 0)) {
    rare();
    sink += 2;
    rare();
    sink += 9;
    rare();
  }
  sink++;
  return sink * 2;
}

KEPT int leaf(void)
{
  sink += 3;
  return sink;
}

KEPT int second(void)
{
  sink += 4;
  return leaf();
}

KEPT int first(void)
{
  sink += 5;
  return second();
}

KEPT int outer(void)
{
  int r = first();
  sink++;
  sink += 2;
  sink += 3;
  return r + sink;
}

int route(int n)
{
  sink = n;
  sink += split();
  sink = 0;
  sink += split();
  sink += outer();
  sink += outer();
  return sink;
}
