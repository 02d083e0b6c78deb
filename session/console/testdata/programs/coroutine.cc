#define HERE __asm__ volatile("nop" ::: "memory")
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>
template <typename T, unsigned N> class Ring {
	std::array<T, N> slots{};
	unsigned head = 0, used = 0;
public:
	using value_type = T;
	struct Position { unsigned index; } last{};
	void push(const T &v)
	{
		slots[(head + used++) % N] = v;
		last.index = used;
		HERE; // STOP print *this; print slots; print head; print used; print last; print v; bt 1; ptype this; whatis this; whatis slots; whatis v; print this->last.index; ptype Position
	}
	std::optional<T> pop()
	{
		if (!used)
			return {};
		T v = slots[head];
		head = (head + 1) % N;
		used--;
		return v;
	}
};
struct Event { int at; std::string what; std::vector<int> who; };
template <> struct Ring<bool, 8> { unsigned char packed = 0x5a; };
struct Loop { std::multimap<int, Event> events; Ring<int, 4> recent; Ring<bool, 8> flags; int now = 0; };
extern "C" int run(int n)
{
	Loop loop;
	std::optional<int> first;
	loop.events.insert({5, {5, "five", {1, 2}}});
	loop.events.insert({3, {3, "three", {}}});
	for (auto &[at, event] : loop.events) {
		loop.now = at;
		loop.recent.push(event.at * n);
		HERE; // STOP print loop.now; print loop.recent; print at; print event; print event.what; print event.who
	}
	first = loop.recent.pop();
	HERE; // STOP print loop; print loop.events; print loop.recent; print loop.flags; print first; print loop.recent.used; print loop.recent.last; ptype loop; whatis loop; ptype loop.recent; ptype loop.flags; whatis loop.recent; whatis loop.flags; ptype Ring<bool, 8>; ptype Ring<int, 4>; ptype Ring<int, 4u>; print sizeof(Ring<int, 4>); whatis first; print loop.recent.slots[0]; print sizeof(loop); ptype Event; ptype Loop
	return first.value_or(0);
}
