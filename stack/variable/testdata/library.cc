// Values of the classes of the standard library of C++.
#include <cstdlib>
#include <string>
#include <vector>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <list>
#include <unordered_map>
#include <variant>
#include <tuple>
#include <deque>
#include <array>
#include <utility>
#include <string_view>
#include <atomic>
#include <mutex>

struct point { int x, y; };

__attribute__((noinline)) void last(std::string text, const std::string &reference, std::string *pointer, std::vector<int> numbers,
	const std::vector<std::string> &texts, std::map<std::string, int> map, std::unique_ptr<point> &unique, std::shared_ptr<point> shared)
{
	std::string empty, longer(100, 'x');
	std::wstring wide = L"wide";
	std::vector<bool> bits(70, true);
	std::vector<unsigned long> words = {1, 2};
	std::vector<std::pair<int, double>> pairs = {{1, 1.5}};
	std::vector<point> none;
	std::set<int> set = {1, 2, 3};
	std::multimap<long, std::string> multi = {{1, "a"}};
	std::list<int> list = {1, 2};
	std::deque<char> deque(3, 'c');
	std::unordered_map<std::string, unsigned> hashed = {{"a", 1}};
	std::optional<int> some = 5, nothing;
	std::optional<std::string> text_or = "abc";
	std::variant<int, std::string> variant = "v";
	std::tuple<int, const char *, double> tuple = {1, "two", 3.0};
	std::array<short, 3> array = {1, 2, 3};
	std::string_view view = "view";
	std::weak_ptr<point> weak = shared;
	std::atomic<int> atomic{7};
	std::mutex mutex;
	std::vector<int>::iterator begin = numbers.begin();
	std::map<std::string, int>::iterator first = map.begin();
	std::vector<std::vector<int>> nested = {{1}, {2, 3}};
	abort();
}

int main()
{
	std::string text = "short";
	auto unique = std::make_unique<point>(point{1, 2});
	last("argument", text, &text, {1, 2, 3}, {"one", "two"}, {{"a", 1}, {"b", 2}}, unique, std::make_shared<point>(point{3, 4}));
}
