// Values of the types of C++17's library that are not templates.
#include <any>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <future>
#include <ios>
#include <vector>
#define KEPT __attribute__((noinline, noclone))
volatile int one = 1;
template <typename... T> KEPT void keep(T &...) { asm volatile("" ::: "memory"); }
struct Big { long a[4]; };
struct MyCategory : std::error_category {
  const char *name() const noexcept override { return "mine"; }
  std::string message(int) const override { return "x"; }
};
MyCategory my;
KEPT void last(std::any empty, std::any number, std::any text, std::any list, std::any big, std::any pointer, std::filesystem::path p) {
  std::vector<std::error_code> codes;
  for (int n = 1; n <= 140; n++)
    codes.push_back(std::error_code(n, std::generic_category()));
  std::filesystem::path root("/"), relative("a"), nothing, longer("/usr/./lib//x/"), two("a/b");
  std::error_code ec, missing = std::make_error_code(std::errc::no_such_file_or_directory);
  std::error_code sys(2, std::system_category()), odd(4711, std::system_category());
  std::error_condition cond, cond2 = std::errc::permission_denied;
  std::error_code mine(3, my), zero(0, my);
  std::error_code fut = std::make_error_code(std::future_errc::no_state), io = std::make_error_code(std::io_errc::stream);
  std::any of_path = relative, of_any = number, of_map = std::map<int, std::string>{{1, "one"}};
  keep(codes, empty, number, text, list, big, pointer, p, root, relative, nothing, longer, two, ec, missing, sys, odd, cond, cond2, mine, zero, fut, io, of_path, of_any, of_map);
  *(volatile int *)0 = 1;
}
int main() { last({}, 5, std::string("text"), std::vector<int>{1, 2, 3}, Big{{1, 2, 3, 4}}, "literal", "/a/b.c"); }
