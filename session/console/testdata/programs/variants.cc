// Shapes in a variant with a visitor, optional results, tuples and string views.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>

namespace shape {
struct Circle { double radius; };
struct Rect { int w, h; };
struct Named { std::string_view name; unsigned colour : 24, alpha : 8; };
using Any = std::variant<std::monostate, Circle, Rect, Named>;
enum class Problem : short { None, Empty = 5, Huge };
}
using namespace std::literals;
template <class... F> struct Overloaded : F... { using F::operator()...; };
template <class... F> Overloaded(F...) -> Overloaded<F...>;

__attribute__((noinline)) std::optional<double> area(const shape::Any &any, shape::Problem &problem)
{
	problem = shape::Problem::None;
	std::optional<double> result;
	std::size_t index = any.index();
	if (auto *c = std::get_if<shape::Circle>(&any))
		result = 3 * c->radius * c->radius;
	else if (auto *r = std::get_if<shape::Rect>(&any))
		result = r->w * r->h;
	else
		problem = shape::Problem::Empty;
	HERE; // STOP print any; print problem; print result; print index; print (int)problem; print problem == shape::Problem::None; print shape::Problem::Huge; print (shape::Problem)5; print (shape::Problem)7; print/d problem; print &problem; print *&problem; whatis any; whatis problem; whatis result; whatis &any; whatis index; whatis (int)problem + 1; ptype problem; ptype shape::Problem; ptype shape::Rect; ptype shape::Named; print sizeof(any); print sizeof(problem); print sizeof(shape::Any); whatis shape::Any; whatis shape::Rect; print nosuch::Rect; print shape::nosuch; bt; up; down; finish
	return result;
}

__attribute__((noinline)) std::tuple<int, std::string_view, bool> describe(std::string_view text, const std::array<shape::Any, 3> &all)
{
	auto [first, rest] = std::pair(text.substr(0, 4), text.substr(5));
	int count = 0;
	for (const auto &each : all)
		count += std::visit(Overloaded{[](std::monostate) { return 1; }, [](const shape::Circle &c) { return (int)c.radius * 10; }, [&](const shape::Rect &r) { return r.w + int(text.size()); }, [](const auto &) { return 1000; }}, each);
	HERE; // STOP print text; print first; print rest; print count; print all; print all[1]; print first.size(); print text[0]; print text.length(); print &count; print *&text; whatis text; whatis first; whatis rest; whatis all; whatis all[0]; whatis count; print sizeof(all); print sizeof(text); print count > 50; print count % 7; print text._M_len; print text._M_str; print *text._M_str@3; print first._M_str == text._M_str; print rest._M_str - text._M_str; ptype all[0]; info args; bt 1; finish
	return {count, rest, first[0] == 'g'};
}

extern "C" int run(int n)
{
	shape::Any nothing, circle = shape::Circle{1.5}, rect = shape::Rect{n, 4};
	std::array<shape::Any, 3> all{nothing, circle, shape::Named{"square", 0xff8000, 200}};
	shape::Problem problem;
	std::optional<double> a = area(rect, problem), b = area(nothing, problem);
	std::optional<std::string> text = "grey shape"s, missing;
	auto [count, rest, grey] = describe(*text, all);
	std::tuple<char, shape::Rect, std::optional<int>> mixed{'m', {1, 2}, 3};
	const auto &[letter, box, maybe] = mixed;
	HERE; // STOP print nothing; print circle; print rect; print all; print problem; print a; print b; print *a; print text; print missing; print count; print rest; print grey; print mixed; print letter; print box; print maybe; print box.w + box.h; print std::get<0>(mixed); print all[2]; print all.size(); print a.has_value(); whatis circle; whatis all; whatis a; whatis text; whatis count; whatis rest; whatis mixed; whatis letter; whatis box; whatis maybe; ptype circle; ptype box; ptype shape::Circle; print sizeof(mixed); print sizeof(text); print sizeof(circle); print &count; print &rect; print/x all; print/x count; print/d letter; print letter == 'm'; print grey && count; print !grey; print shape::Problem::Empty == problem; print shape::Circle::radius; print &shape::Rect::h; print (long)&((shape::Rect *)0)->h; print describe; whatis area; print area; ptype area; info line area; set var problem = shape::Problem::Huge; print problem; set var box.w = 50; print mixed; print count = -1; print *&rest
	return count + (a ? int(*a) : 0) + b.has_value() + box.w + letter + *maybe;
}
