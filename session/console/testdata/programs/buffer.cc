// A text buffer of its own: small strings, move and copy, iterators, literals and conversions.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <cstddef>
#include <cstring>
#include <initializer_list>
class Text {
	struct { char *data; std::size_t capacity; } heap = {};
	char local[16];
	std::size_t length = 0;
	bool small = true;
public:
	static std::size_t copies, moves;
	static constexpr std::size_t npos = -1;
	Text() : local{} {}
	Text(const char *s, std::size_t n) : Text() { append(s, n); }
	Text(const Text &o) : Text(o.begin(), o.length) { copies++; }
	Text(Text &&o) noexcept : Text() { moves++; heap = o.heap; std::memcpy(local, o.local, sizeof local); length = o.length; small = o.small; o.heap = {}; o.length = 0; o.small = true; }
	Text &operator=(const Text &) = delete;
	~Text() { if (!small) delete[] heap.data; }
	const char *begin() const { return small ? local : heap.data; }
	const char *end() const { return begin() + length; }
	char operator[](std::size_t i) const { return begin()[i]; }
	explicit operator bool() const { return length; }
	Text &append(const char *s, std::size_t n);
	std::size_t find(char c, std::size_t from = 0) const;
	struct Split { const Text &text; char by; int parts() const { int n = 1; for (char c : text) n += c == by; return n; } };
	Split split(char by) const { return {*this, by}; }
};
std::size_t Text::copies, Text::moves;
Text operator""_t(const char *s, std::size_t n) { return Text(s, n); }
__attribute__((noinline)) Text &Text::append(const char *s, std::size_t n)
{
	std::size_t total = length + n;
	char *to = small ? local : heap.data;
	if (small && total >= sizeof local) {
		char *more = new char[2 * total]();
		std::memcpy(more, local, length);
		heap.data = to = more;
		heap.capacity = 2 * total;
		small = false;
	}
	std::memcpy(to + length, s, n);
	length = total;
	HERE; // STOP print total; print length; print small; print n; print *s@4; print to; print *to@3; print this->length; print small ? local[0] : heap.data[0]; print npos; print Text::npos; print copies; print Text::moves; print &length; print sizeof(*this); print sizeof local; print sizeof(heap); whatis local; whatis heap; whatis heap.data; whatis this; whatis total; whatis to; whatis small; whatis length + 1; ptype heap; ptype this; ptype local; print total > 4 && small; print total - 20; print -total; print (int)total; print *this == 0; print to + 1; print to[0] == 'k'; print/x *to@2; x/3cb to; x/s to; bt 2; up; down; finish
	return *this;
}
std::size_t Text::find(char c, std::size_t from) const
{
	for (const char *p = begin() + from; p != end(); p++)
		if (*p == c)
			return p - begin();
	return npos;
}
__attribute__((noinline)) int measure(Text by_value, const Text &by_reference, Text &&moved, Text *pointer, std::initializer_list<int> weights)
{
	int sum = by_value.find('=') + by_reference.split(' ').parts();
	Text taken(static_cast<Text &&>(moved));
	for (int w : weights)
		sum += w * (taken ? 2 : 1);
	HERE; // STOP print sum; print by_value.length; print by_value.small; print by_value.local; print *by_value.local@3; print by_reference.small; print by_reference.heap.data; print *by_reference.heap.data@5; print by_reference.length; print moved.length; print moved.small; print taken.length; print taken.local; print pointer->length; print pointer->small; print pointer == &by_reference; print weights; print weights._M_len; print *weights._M_array@3; print weights._M_array[1]; print Text::copies; print Text::moves; print by_value.copies; whatis by_value; whatis by_reference; whatis moved; whatis taken; whatis pointer; whatis *pointer; whatis weights; whatis weights._M_array; whatis by_value.local; whatis &by_value; ptype Text::Split; ptype weights; print sizeof(by_value); print sizeof(weights); print &by_reference == pointer; print by_reference.heap.capacity; print by_reference[1]; print by_reference.find('x', 0); print by_reference.find; print by_reference.split; print pointer->begin; bt 1; finish
	return sum + pointer->find('z');
}
extern "C" int run(int n)
{
	Text key("key=", 4), line("a line that is long", 19), moved = "mv"_t;
	key.append("value", n);
	int r = measure(key, line, static_cast<Text &&>(moved), &line, {1, n, 30});
	const auto [text, by] = line.split('t');
	HERE; // STOP print r; print key.local; print key.length; print key.small; print line.length; print line.heap; print line.heap.data; print *line.heap.data@6; print moved.length; print Text::copies; print Text::moves; print &Text::copies; print Text::copies + Text::moves; print by; print text.length; print text.heap.data; print &text == &line; print *key.local@5; print key.local[2]; print &key.local[1]; print key.local + 4; print sizeof(key); whatis key; whatis line.heap; whatis text; whatis by; whatis key.local; whatis line.heap.data; ptype key; ptype line.heap; ptype text; print/x key.length; print/d key.local[0]; print/c key.length; print key.length == 7; print measure; whatis measure; print Text::find; whatis Text::find; print Text::append; info symbol measure; set var key.local[0] = 'K'; print key.local; set var key.length = 2; print key.length; print key.small = true; print line.heap.data[0] = 'A'; print *line.heap.data@6; print line.heap.capacity / 2; print npos; print Text::npos; print key.find; print key == line; print !key.small; print (bool)key.length; print r % 10
	return r + by;
}
