// A registry of plugins: virtual bases, default template arguments, and stored callbacks.
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>
#define HERE __asm__ volatile("nop" ::: "memory")

namespace plugin {
enum class Stage : std::uint8_t { Load, Ready = 4, Gone };
enum Flags { None, Fast = 1, Small = 2, Both = 3 };
template <class T = int, std::size_t N = 4, bool Checked = false> struct Slots {
	T items[N]{};
	std::size_t used = 0;
	static constexpr std::size_t capacity = N;
	T &operator[](std::size_t i) { return items[i]; }
	const T &at(std::size_t i) const { return items[i]; }
	Slots &operator+=(T item) { items[used++] = item; return *this; }
	explicit operator bool() const { return used != 0; }
};
struct Named {
	const char *name;
	explicit Named(const char *n) : name(n) {}
	virtual ~Named() = default;
	virtual const char *title() const { return name; }
	static int made;
};
int Named::made = 7;
struct Source : virtual Named {
	int opened = 1;
	Source() : Named("source") {}
	virtual int read(int n) = 0;
protected:
	mutable unsigned reads : 4, errors : 4;
};
class Sink : public virtual Named {
	long written = 0;
public:
	Sink() : Named("sink") {}
	virtual int write(int n) { return written += n; }
	friend struct Pipe;
};
struct Pipe final : Source, Sink {
	Slots<> slots;
	Slots<char, 2, true> letters;
	Stage stage = Stage::Ready;
	union { int number; float real; } extra{};
	int (&view)[4];
	Pipe *const self;
	int Pipe::*field = &Pipe::opened;
	explicit Pipe(int (&array)[4]) : Named("pipe"), view(array), self(this) { reads = 3, errors = 0; }
	int read(int n) override;
	const char *title() const override { return "a pipe"; }
	bool operator<(const Pipe &other) const { return opened < other.opened; }
};

__attribute__((noinline)) int Pipe::read(int n)
{
	opened += n;
	slots += n;
	letters += 'x';
	const auto &first = slots.at(0);
	HERE; // STOP print *this; print this; print opened; print this->opened; print name; print Named::name; print made; print Named::made; print plugin::Named::made; print plugin::Named::made; print slots; print slots.items; print slots.used; print letters; print letters.items; print stage; print/d stage; print (int)stage; print stage == Stage::Ready; print plugin::Stage::Gone; print Stage::Load; print (Stage)4; print (plugin::Stage)2; print (plugin::Flags)3; print (plugin::Flags)8; print plugin::Fast; print plugin::Fast | plugin::Small; print extra; print extra.number; print view; print view[1]; print &view; print sizeof(view); whatis view; whatis view[0]; print self; print *self == *this; print self == this; print first; print &first; whatis first; print reads; print errors; print/t reads; print written; print this->written; print slots.capacity; print Slots<>::capacity; print plugin::Slots<char, 2, true>::capacity; print sizeof(slots); print read; whatis this; whatis *this; ptype this; ptype Stage; ptype plugin::Flags; ptype slots; ptype letters; ptype Slots<>; ptype plugin::Named; ptype plugin::Sink; ptype Source; whatis slots; whatis letters; whatis stage; whatis plugin::Stage; whatis field; print field; ptype extra; bt; up; down; info frame; info source; info symbol this; info line; list; finish
	return opened;
}
}
template <class T, class... Rest> struct Chain : Chain<Rest...> { T head; Chain(T h, Rest... r) : Chain<Rest...>(r...), head(h) {} };
template <class T> struct Chain<T> { T head; Chain(T h) : head(h) {} };
template <class T, template <class...> class C = std::vector> C<T> twice(const C<T> &list)
{
	C<T> out(list);
	out.insert(out.end(), list.begin(), list.end());
	return out;
}
template <auto V> constexpr auto constant = V;

__attribute__((noinline)) int scale(int &&count, const char (&text)[6], std::deque<int>::iterator at)
{
	int sum = count + text[0] + *at;
	HERE; // STOP print count; print &count; print text; print text[1]; print &text; print sizeof(text); whatis text; whatis count; print sum; print *text@2; print (bool)sum; print -count; print text + 1; print *text; ptype count; ptype text; print at; print *at; whatis at; bt; info args; info args te; info locals; info source; info frame; up; down; frame; finish
	return sum;
}

extern "C" int run(int n)
{
	using namespace plugin;
	int numbers[4] = {1, 2, 3, n};
	auto pipe = std::make_unique<Pipe>(numbers);
	Source *source = pipe.get();
	Sink *sink = pipe.get();
	Named *named = sink;
	source->read(n);
	std::map<std::string, std::vector<int>> settings{{"depth", {3}}, {"list", {1, 2}}};
	std::multimap<int, const char *> byLevel{{2, "b"}, {1, "a"}, {2, "c"}};
	std::set<char> letters{'z', 'a'};
	std::deque<std::optional<int>> waiting{1, std::nullopt, 3};
	std::shared_ptr<Named> shared(new Named("shared"));
	std::weak_ptr<Named> weak = shared;
	Chain<int, char, double> chain(1, 'c', 2.5);
	auto doubled = twice(std::vector<short>{1, 2});
	int local = 10;
	auto adder = [&local, n](int a) mutable { return local += a + n; };
	adder(3);
	std::deque<int> marks{4, 5};
	int sum = scale(n + 2, "hello", marks.begin());
	std::pair<const int, std::pair<char, bool>> nested{1, {'b', true}};
	int Pipe::*member = &Pipe::opened;
	int (Pipe::*method)(int) = &Pipe::read;
	HERE; // STOP print pipe; print *pipe; print pipe->opened; print pipe->stage; print source; print source->opened; print *sink; print *named; print named->name; print *(Pipe *)sink; print *(plugin::Pipe *)sink; print dynamic_cast<plugin::Pipe *>(sink); print static_cast<Source *>(pipe.get()); print (Named *)sink; print sink == named; print settings.size(); print byLevel; print letters; print waiting; print waiting[1]; print shared; print *shared; print shared.use_count(); print weak; print chain; print chain.head; print doubled; print doubled[3]; print *doubled._M_impl._M_start@2; print adder; print adder.n; print local; print nested; print nested.second; print nested.second.first; print member; print method; print pipe.get()->*member; print numbers; print &numbers; print &source; whatis pipe; whatis source; whatis sink; whatis named; whatis settings; whatis byLevel; whatis waiting; whatis shared; whatis chain; whatis doubled; whatis nested; whatis member; whatis method; whatis numbers; whatis &numbers; whatis adder; ptype chain; ptype Chain<double>; ptype sink; ptype numbers; ptype member; ptype method; print twice<short>; print sizeof(Pipe); print sizeof(chain); print sum; print (plugin::Flags)0; print Fast; print Both; print/x numbers; print *pipe < *pipe; print pipe->slots[0]; print pipe->slots += 1; print !pipe->slots; info types Stage; info types Flags; info functions twice; info functions Pipe::read; info line plugin::Pipe::read; list plugin::Pipe::read; list Pipe::read; break Pipe::read; break plugin::Pipe::read; info breakpoints; tbreak scale; delete; print scale; set var local = 20; print local; print adder.local; set var pipe->stage = plugin::Stage::Gone; print pipe->stage; print pipe->slots.items[0] = 9; print pipe->slots; call pipe->slots.at(0); info scope run; info symbol run; info line run
	return sum + local + pipe.get()->*member + (int)settings.size();
}
