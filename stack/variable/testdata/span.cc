// Spans, whose length can be a part of the type.
#include <span>
#include <vector>

__attribute__((noinline)) void last(std::span<int> any, std::span<int, 2> fixed, std::span<const char> empty) {
  std::span<long> nothing;
  __builtin_trap();
}

int main() {
  std::vector<int> v{1, 2, 3};
  last(v, std::span<int, 2>(v.data(), 2), {});
}
