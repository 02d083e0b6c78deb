// Words of a text: string views, optional results, inline namespaces as versions, and tables.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <optional>
#include <string>
#include <string_view>
#include <utility>
namespace text {
inline namespace v2 {
enum class Class { Word, Number, Other };
struct Word { std::string_view view; Class kind = Class::Other; std::optional<long> number; explicit operator bool() const { return !view.empty(); } };
extern const char *const names[3];
int taken = 100;
}
namespace v1 { struct Word { const char *begin, *end; }; int taken = 7; }
const char *const v2::names[] = {"word", "number", "other"};
class Scanner {
	std::string_view rest;
	const std::string_view all;
	static constexpr char separators[] = " ,;";
public:
	std::size_t line = 1;
	Scanner(std::string_view s) : rest(s), all(s) {}
	std::optional<Word> next();
	v1::Word old() const { return {rest.data(), rest.data() + rest.size()}; }
};
constexpr char Scanner::separators[];
__attribute__((noinline)) std::optional<Word> Scanner::next()
{
	std::size_t begin = rest.find_first_not_of(separators);
	if (begin == rest.npos)
		return std::nullopt;
	std::size_t end = std::min(rest.find_first_of(separators, begin), rest.size());
	Word w;
	w.view = rest.substr(begin, end - begin);
	rest.remove_prefix(end);
	w.kind = w.view[0] >= '0' && w.view[0] <= '9' ? Class::Number : Class::Word;
	if (w.kind == Class::Number) {
		w.number = 0;
		for (char c : w.view)
			*w.number = *w.number * 10 + (c - '0');
	}
	taken++;
	HERE; // STOP print w; print w.view; print w.kind; print w.kind == Class::Word; print w.number; print begin; print end; print end - begin; print rest; print all; print line; print taken; print v2::taken; print v1::taken; print text::taken; print text::v2::taken; print separators; print separators[1]; print names; print names[1]; print Class::Other; print (Class)1; print (Class)9; print/d w.kind; print &w.kind; print &taken; print this->line; print sizeof(w); print sizeof(Class); print sizeof separators; whatis w; whatis w.view; whatis w.kind; whatis w.number; whatis begin; whatis names; whatis names[0]; whatis separators; whatis taken; whatis line + taken; ptype w.kind; ptype Class; ptype v1::Word; print begin < end && end; print w.view._M_len; print *w.view._M_str@2; print/c w.view._M_str[0]; bt; up; down; finish
	return w;
}
}
static std::pair<int, long> count(text::Scanner &s, long (*weigh)(const text::Word &))
{
	int n = 0;
	long sum = 0;
	while (auto w = s.next()) {
		n += bool(*w);
		sum += weigh(*w);
	}
	HERE; // STOP print n; print sum; print s.line; print s.rest; print s.all; print weigh; print *weigh; print sum / n; print n > 2; print &s.line; print text::taken; whatis weigh; whatis *weigh; whatis s; whatis sum / n; whatis s.rest; ptype weigh; print/x sum; info args; bt; finish
	return {n, sum};
}
static long weigh(const text::Word &w) { return w.number.value_or(w.view.size()); }
extern "C" int run(int n)
{
	std::string source = "a few, words 12;and 7";
	text::Scanner scanner(source), other(std::string_view(source).substr(0, n));
	auto [words, sum] = count(scanner, weigh);
	std::optional<text::Word> word = other.next(), none = other.next();
	text::v1::Word old = text::Scanner("tail").old();
	std::optional<std::string_view> tail = std::string_view(old.begin, old.end - old.begin);
	std::u16string_view wide = u"weit";
	HERE; // STOP print source; print words; print sum; print word; print none; print old; print old.begin; print old.end - old.begin; print *old.begin@4; print tail; print wide; print text::taken; print text::v1::taken; print text::names; print text::v2::names[2]; print text::Class::Number; print (text::Class)0; print scanner.line; print other.rest; whatis source; whatis words; whatis word; whatis old; whatis old.begin; whatis tail; whatis wide; whatis text::taken; whatis text::names; ptype old; ptype text::v1::Word; ptype text::Class; print sizeof(old); print sizeof(word); print &old.end; print old.begin[0] == 't'; print/c *old.begin; print/x *old.begin; print/d old.begin[1]; print x/2; print sum % words; print words ? sum : 0; set var text::v2::taken = 3; print text::v2::taken; print text::v2::taken += 4; print old.begin = 0; print old; print weigh; print count; info line text::Scanner::next; print text::v3::taken; print text::v1::names; x/s text::names[0]; print *text::names[1]@3
	return words + int(sum) + word.has_value() + tail->size() + wide.size() + (old.begin != nullptr);
}
