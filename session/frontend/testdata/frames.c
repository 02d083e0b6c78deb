int numbers[100000] = {1, 2, 3};
static char label[] = "label";

__attribute__((noinline)) int leaf(int n)
{
  return n + label[0];
}

static inline __attribute__((always_inline)) int middle(int n)
{
  int twice = 2 * n;
  return leaf(twice) + 1;
}

int outer(int n)
{
  int n2 = n * n;
  {
    int n = n2 + 1;
    n2 += middle(n);
  }
  return n2;
}

int deep(int n)
{
  return n == 0 ? leaf(0) : deep(n - 1) + 1;
}

static inline __attribute__((always_inline)) int passing(int n)
{
  numbers[2] = n;
  return leaf(n + 1);
}

__attribute__((noinline, noipa)) int through(int n)
{
  numbers[1] = n;
  return passing(n * 2);
}

int starts(int n)
{
  return through(n) + numbers[n];
}
