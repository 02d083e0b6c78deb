volatile int seen;

static inline __attribute__((always_inline)) int square(int x)
{
  int y = x * x;
  seen = y;
  return y;
}

__attribute__((noinline)) int add(int a, int b)
{
  int s = square(a) + square(b);
  seen++;
  return s;
}

__attribute__((noinline)) int squares(int n)
{
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += add(i, i + 1);
  return sum;
}
