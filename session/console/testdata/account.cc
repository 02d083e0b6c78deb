// Methods, also virtual ones and those of a second base class.

struct named {
  int letters;
  int length() const;
};
int named::length() const { return letters; }

struct shape {
  int sides;
  virtual int area(int scale) const;
};
int shape::area(int scale) const { return sides * scale; }

struct account : shape, named {
  int cents;
  int get() const;
  int add(int n);
  int area(int scale) const override;
  static int limit(int n);
};
int account::get() const { return cents; }
int account::limit(int n) { return n * 100; }
int account::area(int scale) const { return cents * scale; }
int account::add(int n)
{
  int before = cents;
  cents += n;
  return before;
}

static int measure(const shape &s, const named *n) { return s.area(2) + n->length(); }

extern "C" int pay(int n);

int pay(int n)
{
  account a;
  a.sides = 4;
  a.letters = 3;
  a.cents = 0;
  for (int i = 1; i <= n; i++)
    a.add(i);
  return a.get() + account::limit(1) + measure(a, &a);
}
