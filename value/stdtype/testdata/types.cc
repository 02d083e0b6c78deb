// A variable of each known type. gcc12.debug is the output of g++ 12:
//   g++ -std=c++17 -g -O1 -fPIC -fno-exceptions -fno-asynchronous-unwind-tables -shared
// with only the debugging information (objcopy --only-keep-debug), compressed by dwz and zlib.
#include <any>
#include <atomic>
#include <bitset>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stack>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
std::string text; std::string_view view; std::vector<int> vector; std::vector<bool> bits; std::deque<int> deque; std::list<int> list; std::forward_list<int> forward;
std::initializer_list<int> initial; std::bitset<70> set; std::map<int, std::map<int,int>> map; std::multiset<int> multi; std::unordered_map<int, int> hashed;
std::pair<int,int> pair; std::tuple<int,double> tuple{1,2}; std::optional<std::vector<int>> optional; std::variant<int,double> variant; std::atomic<int> atomic; std::stack<int> stack;
std::unique_ptr<int> unique; std::shared_ptr<int> shared; std::vector<int>::iterator it; std::map<int,int>::iterator at; std::vector<std::vector<std::vector<int>>> nested;
std::any any = 5; std::filesystem::path path; std::error_code code; std::error_condition condition;
