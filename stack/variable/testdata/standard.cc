// Values of the types of C++'s library, in nested frames.
#include <atomic>
#include <bitset>
#include <deque>
#include <forward_list>
#include <functional>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#define KEPT __attribute__((noinline, noclone))

struct Point { int x, y; };
struct Named { std::string name; std::vector<int> list; Point at; const std::string &ref; std::string *ptr; };
struct Node { std::string key; std::unique_ptr<Node> next; };
struct Json { std::string name; std::map<std::string, Json> object; std::list<Json> array; };
struct Deep { std::vector<Deep> children; };
struct Deleter { int state; void operator()(Point *p) const { delete p; } };
enum class Color { Red, Green };
struct alignas(64) Wide { int n; };
typedef std::map<std::string, std::vector<int>> Index;

volatile int one = 1;
template <typename... T> KEPT void keep(T &...) { asm volatile("" ::: "memory"); }

KEPT void sums(std::optional<int> o, std::optional<std::string> os, std::optional<int> none, std::pair<int, std::string> p,
               std::tuple<int, double, std::string> t, std::tuple<Point> t1, std::variant<int, std::string> v,
               std::variant<int, std::string> v1, std::stack<int> st, std::queue<int> q, std::priority_queue<int> pq,
               std::pair<Point, Point> pp) {
  std::tuple<> t0;
  std::vector<int> vec{1, 2, 3};
  auto it = vec.begin();
  std::string text = "text";
  auto si = text.begin();
  std::variant<Point, int> vp = Point{1, 2};
  std::optional<Point> op = Point{1, 2};
  std::tuple<std::tuple<int, int>, std::pair<int, int>> tt{{1, 2}, {3, 4}};
  std::set<int> se{4};
  auto sit = se.begin();
  std::atomic<bool> ab{true};
  std::atomic<long> al{3};
  std::atomic<Point *> ap{nullptr};
  Json json{"root", {{"a", Json{"leaf", {}, {}}}}, {Json{"element", {}, {}}}};
  Deep deep{{Deep{}, Deep{{Deep{}}}}};
  int number = 5;
  std::pair<int &, int> referring(number, 2);
  std::tuple<int &, const std::string &> tied(number, text);
  std::shared_ptr<void> untyped = std::make_shared<int>(3);
  std::shared_ptr<const void> constant = untyped;
  std::vector<int>::iterator nowhere;
  std::bitset<500> many_bits;
  many_bits.set(3).set(499);
  std::optional<std::vector<int>> ov = vec;
  std::stack<int, std::vector<int>> sv;
  std::variant<std::vector<int>, std::map<int, int>> vm = std::map<int, int>{{1, 2}};
  keep(o, os, none, p, t, t0, t1, v, v1, st, q, pq, pp, vec, it, text, si, vp, op, tt, se, sit, ab, al, ap, ov, sv, vm, json, deep, referring, tied, untyped, constant, nowhere, many_bits);
  if (one) __builtin_trap();
}

KEPT void pointers(std::unique_ptr<Point> p, std::unique_ptr<Point> none, std::unique_ptr<int[]> a, std::unique_ptr<Point, Deleter> d,
                   std::shared_ptr<Point> s, std::shared_ptr<Point> noShared, std::weak_ptr<Point> w, std::weak_ptr<Point> expired,
                   std::unique_ptr<Node> node, std::unique_ptr<std::string> str) {
  std::shared_ptr<Point> second = s;
  std::shared_ptr<const std::string> made = std::make_shared<std::string>("made");
  sums(5, "os", {}, {1, "p"}, {1, 2.5, "t"}, {Point{1, 2}}, 7, "v", std::stack<int>({1, 2}), std::queue<int>({1}), {}, {{1, 2}, {3, 4}});
  keep(p, none, a, d, s, noShared, w, expired, node, str, second, made);
}

KEPT void maps(std::map<std::string, int> m, std::map<int, int> none, std::multimap<int, Point> mm, std::set<std::string> s,
               std::multiset<int> ms, std::unordered_map<std::string, int> u, std::unordered_set<int> us,
               std::unordered_multimap<int, int> um, std::unordered_map<int, int> noU, Index index) {
  std::map<int, int> large;
  std::set<int> largeSet;
  for (int k = 0; k < 300; k++) {
    large[k * 7 % 300] = k;
    largeSet.insert(k);
  }
  std::unordered_set<long> hashed{1, 2, 3, 1000, 1L << 40};
  std::map<Color, std::map<int, std::string>> nested{{Color::Green, {{1, "one"}}}};
  std::map<std::pair<int, int>, std::pair<int, int>> pairs{{{1, 2}, {3, 4}}};
  std::map<char, Wide> wide{{'c', {4}}};
  std::set<Point, std::function<bool(const Point &, const Point &)>> custom([](const Point &a, const Point &b) { return a.x < b.x; });
  custom.insert({1, 2});
  auto shared = std::make_shared<Point>(Point{3, 4});
  std::weak_ptr<Point> expired;
  {
    auto gone = std::make_shared<Point>();
    expired = gone;
  }
  auto node = std::make_unique<Node>();
  node->key = "one";
  node->next = std::make_unique<Node>();
  pointers(std::make_unique<Point>(Point{1, 2}), nullptr, std::make_unique<int[]>(3), std::unique_ptr<Point, Deleter>(new Point{5, 6}, Deleter{9}),
           shared, nullptr, shared, expired, std::move(node), std::make_unique<std::string>("str"));
  keep(m, none, mm, s, ms, u, us, um, noU, index, large, largeSet, hashed, nested, pairs, wide, custom);
}

KEPT void sequences(std::vector<int> v, std::vector<int> &none, std::vector<std::string> s, std::vector<bool> bits, std::deque<int> d,
                    std::deque<int> &empty, std::list<std::string> l, std::list<int> noList, std::forward_list<int> f,
                    std::forward_list<int> noForward, std::initializer_list<int> i, std::bitset<70> b) {
  std::vector<int> many(250, 7), counted;
  for (int k = 0; k < 250; k++) counted.push_back(k);
  std::vector<std::vector<int>> nested{{1}, {2, 3}, {}};
  std::vector<Point> points{{1, 2}, {3, 4}};
  std::deque<std::string> strings;
  for (int k = 0; k < 60; k++) {
    strings.push_back(std::string(k % 3, 'a'));
    if (k < 30) strings.pop_front(), strings.push_back("b");
  }
  std::deque<Wide> deep{{1}, {2}};
  std::list<Point> pl{{5, 6}};
  std::vector<char> chars{'a', 'b'};
  std::list<Wide> wide{{3}};
  std::bitset<3> few("101");
  maps({{"k", 1}, {"l", 2}}, {}, {{1, {1, 2}}, {1, {3, 4}}}, {"s"}, {1, 1}, {{"u", 1}}, {5}, {{1, 2}}, {}, {{"i", {1}}});
  keep(v, none, s, bits, d, empty, l, noList, f, noForward, i, b, many, counted, nested, points, strings, deep, pl, chars, wide, few);
}

KEPT void strings(const std::string &empty, std::string small, std::string &large, std::string_view view, std::wstring wide,
                  std::u16string u16, std::u32string u32, const char *plain, std::string zeros, std::string *pointer) {
  std::string local = "a\"b\n";
  std::string_view nothing;
  Named named{"n", {1}, {1, 2}, small, &small};
  std::string array[2] = {"x", "y"};
  std::vector<int> none;
  std::deque<int> noDeque;
  sequences({1, 2, 3}, none, {"a", "b"}, {true, false, true}, {1, 2, 3}, noDeque, {"l"}, {}, {7, 8}, {}, {4, 5},
            std::bitset<70>("1000000000000000000000000000000000000000000000000000000000000000000101"));
  keep(empty, small, large, view, wide, u16, u32, plain, zeros, pointer, local, nothing, named, array);
}

int main() {
  std::string large(300, 'x'), empty, zeros("a\0b", 3);
  large[5] = 'y';
  strings(empty, "small", large, "view", L"wide", u"u16", U"u32", "plain", zeros, &large);
}
