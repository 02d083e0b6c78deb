// Functions with mangled names, virtual functions, and text in
// UTF-8.

#include <utility>

std::pair<int, int> both(1, 2);

struct shape {
  int sides;
  virtual int area(int scale) const;
  virtual void draw();
  void plain(char);
};
int shape::area(int scale) const { return sides * scale; }
void shape::draw() {}
void shape::plain(char) {}

namespace space {
template <class T> T twice(T t) { return t + t; }
int count;
} // namespace space

typedef int (shape::*measure)(int) const;

extern "C" int visit(int n);

static int with(shape *s, measure m, void (shape::*plain)(char), long (*twice)(long), const char *text, const wchar_t *wide, char16_t half)
{
  int *count = &space::count;
  const char *names[2] = {"Ärger", "plain"};
  *count += (s->*m)(2) + twice(*text);
  (void)plain, (void)wide, (void)half, (void)names;
  return *count; // shown
}

int visit(int n)
{
  shape s;
  s.sides = n;
  return with(&s, &shape::area, &shape::plain, space::twice<long>, "grüße 中文 \U0001F600", L"wäre", u'é');
}
