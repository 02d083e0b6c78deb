#define HERE __asm__ volatile("nop" ::: "memory")
#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
struct Item { int id; std::string name; };
typedef std::map<int, std::string> Names;
__attribute__((noinline)) int use(std::vector<int> &v, const std::string &s, Names *names, std::unique_ptr<Item> p)
{
	v.push_back(s.size());
	HERE; // STOP print v; print &v; print s; print *names; print p; print *p; print p->id; print v[1]; print v[0] + 1; print s[0]; print (*names)[1]; print v.size(); print s.size(); whatis v; whatis s; whatis names; whatis p; print s.c_str(); print/x v; print *v._M_impl._M_start; print v._M_impl._M_finish - v._M_impl._M_start; print *v._M_impl._M_start@2
	return v.size() + names->size() + p->id;
}
extern "C" int run(int n)
{
	std::vector<int> v{1, 2, n};
	std::string s = "hello", longer = "a string that is too long to be stored inside";
	Names names{{1, "one"}, {2, longer}};
	std::vector<std::string> words{"alpha", "beta"};
	std::vector<bool> bits{true, false, true};
	std::vector<Item> items{{1, "first"}, {2, "second"}};
	std::unordered_map<int, double> hash{{7, 0.5}};
	std::set<int> set{3, 1, 2};
	std::list<int> list{4, 5};
	std::deque<char> deque{'a', 'b'};
	std::array<short, 3> array{1, 2, 3};
	std::pair<int, char> pair{1, 'p'};
	std::tuple<int, std::string, float> tuple{1, "t", 2.5f};
	std::optional<int> some = 5, none;
	std::variant<int, double> variant = 1.5;
	auto unique = std::make_unique<Item>(Item{3, "unique"});
	std::shared_ptr<int> shared = std::make_shared<int>(6), empty;
	std::weak_ptr<int> weak = shared;
	std::string_view view = "view";
	std::vector<int> nothing;
	std::map<std::string, std::vector<int>> nested{{"k", {1, 2}}};
	v.reserve(8);
	auto at = v.begin();
	int r = use(v, s, &names, std::move(unique));
	HERE; // STOP print v; print s; print longer; print names; print words; print words[1]; print bits; print items; print items[0]; print items[0].name; print hash; print set; print list; print deque; print array; print array[1]; print pair; print pair.first; print tuple; print some; print none; print variant; print unique; print shared; print *shared; print empty; print weak; print view; print nothing; print nested; print at; print *at; whatis v; whatis s; whatis names; whatis words; whatis tuple; whatis shared; whatis at; ptype names; whatis Names; ptype array; ptype pair; ptype Item; print sizeof(v); print sizeof(s); print/x v; print/x array; print v.size(); print *v.begin(); print names[1]; print s == "hello"; print &v; print *&s; print v.nosuch; print/c deque; print some.value(); print std::string::npos; print -5; print n
	return r + *at + array[0] + *weak.lock() + hash[7];
}
